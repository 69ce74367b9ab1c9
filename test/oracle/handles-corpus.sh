#!/bin/sh
# handles-corpus.sh BUILD: every node of the corpus of real conversations has a handle that resolves to it, and
# to what 'arbor show' gives (test/cli/handles.c). Some 100,000 of them, half a minute; `make test-long` runs it.
#
#   BUILD         folder of the build, e.g. build/release
#   ARBOR_SHARED  where corpus/real-a.tar.zst is, default ../shared
#
# Ends with 0, and says so, when there is no corpus.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=$(cd "${1:-build/release}" && pwd) || exit 2
corpus=${ARBOR_SHARED:-../shared}/corpus/real-a.tar.zst
if [ ! -f "$corpus" ] || ! command -v zstd >/dev/null; then
	echo "handles: NOT CHECKED, the corpus or zstd is not here" >&2
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/arbor-handles-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/corpus" "$work/home"
zstd -q -d --long=27 -c "$corpus" | tar -x -C "$work/corpus" || exit 2
HOME=$work/home
export HOME
"$build/arbor" sync -q --source "$work/corpus" --store "$work/corpus.db" || exit 2
echo "handles of $(cat "$work"/corpus/projects/*/*.jsonl | wc -l) lines"
"$build/tool/handles" "$work/corpus.db"
