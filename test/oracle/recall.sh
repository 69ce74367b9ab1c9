#!/bin/sh
# recall.sh STORE FOLDER [SEED [COUNT]]: whether a search finds every line that holds a word, an
# identifier, a phrase, and none that does not.
#
# STORE is a store into which FOLDER, a ~/.claude, has been synced. COUNT words (500 unless given),
# and with them identifiers and phrases, are drawn from FOLDER's transcripts and asked for one by
# one, and the answers compared with an oracle that shares no code with Arbor (extract.mjs, words.mjs,
# recall.mjs say what counts).
#
#   ARBOR   the program, default build/release/arbor; it is asked
#           arbor search --store STORE --json --limit 0 QUERY
#
# Ends with 0 when all was found and nothing else, 1 when a line was missed or given wrongly, 2 when
# it could not be asked, 77 when there is no node.
set -u
here=$(dirname "$0")
program=${ARBOR:-$here/../../build/release/arbor}
if [ $# -lt 2 ]; then
	echo "usage: recall.sh STORE FOLDER [SEED [COUNT]]" >&2
	exit 2
fi
store=$1 folder=$2
if ! command -v node >/dev/null; then
	echo "recall: NOT CHECKED, there is no node here (Debian: nodejs)" >&2
	exit 77
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/arbor-recall-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/found"

node "$here/extract.mjs" draw "$folder" "${3:-1}" "${4:-500}" >"$work/queries" || exit 2
n=0
while IFS='	' read -r _ query; do
	n=$((n + 1))
	"$program" search --store "$store" --json --limit 0 "$query" >"$work/found/$n" 2>"$work/err" </dev/null
	code=$?
	# 1 is "nothing found".
	if [ $code -gt 1 ]; then
		echo "recall: search for '$query' ended with code $code:" >&2
		cat "$work/err" >&2
		exit 2
	fi
done <"$work/queries"
node "$here/recall.mjs" "$folder" "$work/queries" "$work/found"
