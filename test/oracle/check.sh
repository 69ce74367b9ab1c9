#!/bin/sh
# check.sh [FIXTURES [CORPUS]]: whether the oracles agree with the client's files and with what is checked in.
#
# FIXTURES holds claude-2.1.197/ and claude-versions/, CORPUS is a ~/.claude made from the real conversations.
# No Arbor is needed: this guards the judges, not the judged. Without FIXTURES only the recorded resumes are checked.
#
# Ends with 0 when everything agrees, 1 when something differs, 77 when there is no node.
set -u
here=$(dirname "$0")
if ! command -v node >/dev/null; then
	echo "oracle: NOT CHECKED, there is no node here (Debian: nodejs)" >&2
	exit 77
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/arbor-oracle-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
differs() {
	echo "oracle: $1" >&2
	failed=1
}

node "$here/resumes.mjs" unpack "$work/resumes" &&
	node "$here/reference-context.mjs" "$work/resumes" "$work/resumes/answers.tsv" >"$work/computed" &&
	node "$here/context.mjs" "$work/resumes" "$work/computed" "$work/resumes/answers.tsv" ||
	differs "reference-context.mjs differs from what was sent after a resume"

captures=${1:-none}/claude-2.1.197
if [ ! -d "$captures" ]; then
	echo "oracle: captures NOT CHECKED, there is no $captures" >&2
	exit $failed
fi
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
