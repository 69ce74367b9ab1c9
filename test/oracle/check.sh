#!/bin/sh
# check.sh FIXTURES [CORPUS]: whether the oracles agree with the client's files and with what is checked in.
#
# FIXTURES holds claude-2.1.197/ and claude-versions/, CORPUS is a ~/.claude made from the real conversations.
# No Arbor is needed: this guards the judges, not the judged.
#
# Ends with 0 when everything agrees, 1 when something differs, 77 when there is no node or no FIXTURES.
set -u
here=$(dirname "$0")
if [ $# -lt 1 ]; then
	echo "usage: check.sh FIXTURES [CORPUS]" >&2
	exit 2
fi
captures=$1/claude-2.1.197
if ! command -v node >/dev/null || [ ! -d "$captures" ]; then
	echo "oracle: NOT CHECKED, there is no node or no $captures" >&2
	exit 77
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/arbor-oracle-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
differs() {
	echo "oracle: $1" >&2
	failed=1
}

node "$here/answers.mjs" "$captures" >"$work/answers" &&
	cmp -s "$work/answers" "$here/answers.tsv" || differs "answers.tsv is not what answers.mjs says"

for way in reference-context tree-context; do
	node "$here/$way.mjs" "$captures" >"$work/computed" &&
		node "$here/context.mjs" "$captures" "$work/computed" || differs "$way.mjs differs from what was sent"
done

node "$here/golden.mjs" --check "$1" "$here/golden" || differs "golden descriptions differ"

if [ $# -lt 2 ]; then
	echo "oracle: corpus NOT CHECKED, none was given" >&2
	exit $failed
fi
node "$here/branches.mjs" "$2" >"$work/branches" &&
	cmp -s "$work/branches" "$here/branches-corpus.tsv" || differs "branches-corpus.tsv is not what branches.mjs says"
node "$here/usage.mjs" "$2" >"$work/usage" &&
	cmp -s "$work/usage" "$here/usage-corpus.tsv" || differs "usage-corpus.tsv is not what usage.mjs says"
exit $failed
