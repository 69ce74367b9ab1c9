#!/bin/sh
# recall-corpus.sh BUILD: recall and precision on the corpus of real conversations, at full count: 500
# words, 200 phrases, 100 identifiers (recall.sh). Some minutes; `make test-long` runs it.
#
#   BUILD         folder of the build, e.g. build/release
#   ARBOR_SHARED  where corpus/real-a.tar.zst is, default ../shared
#   SEED          what is drawn, default 1
#
# Ends as recall.sh does; with 0, and says so, when there is no corpus or no node.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=$(cd "${1:-build/release}" && pwd) || exit 2
corpus=${ARBOR_SHARED:-../shared}/corpus/real-a.tar.zst
if [ ! -f "$corpus" ] || ! command -v zstd >/dev/null || ! command -v node >/dev/null; then
	echo "recall: NOT CHECKED, the corpus, zstd or node is not here" >&2
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/arbor-recall-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/corpus" "$work/home"
zstd -q -d --long=27 -c "$corpus" | tar -x -C "$work/corpus" || exit 2
HOME=$work/home
ARBOR=$build/arbor
export HOME ARBOR
"$ARBOR" sync -q --source "$work/corpus" --store "$work/corpus.db" || exit 2
echo "recall and precision of $(cat "$work"/corpus/projects/*/*.jsonl | wc -l) lines"
TMPDIR=$work test/oracle/recall.sh "$work/corpus.db" "$work/corpus" "${SEED:-1}" 500
