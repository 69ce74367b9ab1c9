#!/bin/bash
# Forks that come in together with what they were forked from take as little room as forks that come later, and
# nothing else of a sync shows that they are brought in behind the others.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
S=$T/.claude P=$S/projects/-w D=$T/.local/share/arbor/arbor.db
mkdir -p "$P" "$T/forks"

awk -v forks=5 -v messages=400 -v out="$T/forks" -f bench/forks.awk
original=$(cd "$T/forks" && wc -c ./*.jsonl | sort -rn | awk 'NR == 2 { print $2 }')
packed() { sqlite3 "$1" 'SELECT sum(length(bytes)) FROM block_data'; }
cp "$T/forks/$original" "$P/"
arbor sync; code 0
alone=$(packed "$D")
cp -n "$T/forks"/*.jsonl "$P/"
arbor sync; code 0
"$ARBOR" dump --logical >"$T/want"
later=$(packed "$D")

it "packs forks against what comes in with them"
rm -f "$D"*; arbor sync; code 0
check test "$(packed "$D")" -lt $((alone * 2))
check test "$(packed "$D")" -lt $((later * 11 / 10))
# Rows that were written and given up leave a page or two.
check test "$(sqlite3 "$D" 'PRAGMA freelist_count')" -lt 8
"$ARBOR" dump --logical >"$T/got"; check cmp "$T/want" "$T/got"
arbor check; code 0

it "counts each file once, and tells of each once"
rm -f "$D"*; arbor sync --json; code 0; out_has '"files":6,"unchanged":0,"new_sessions":6,"updated_sessions":0'
rm -f "$D"*; arbor sync -v; code 0
for f in "$T/forks"/*.jsonl; do check test "$(cat "$T/out" "$T/err" | grep -c "${f##*/}")" -eq 1; done
arbor sync --json; code 0; out_has '"files":6,"unchanged":6,"new_sessions":0,"updated_sessions":0'

it "tells of what it cannot read once, and brings in the rest"
ln -s nowhere "$P/link.jsonl"; ln -s "$T/forks" "$P/folder"
rm -f "$D"*; arbor sync -v; code 0
check test "$(cat "$T/out" "$T/err" | grep -c link.jsonl)" -eq 1
arbor sources; code 0; check test "$(wc -l <"$T/out")" -eq 6
rm "$P/link.jsonl" "$P/folder"

it "leaves what was not brought in to the next sync, and then has all of it"
rm -f "$D"*
for ms in 2 5 10 20 40 80; do
	(timeout -s KILL "0.$(printf %03d "$ms")" "$ARBOR" sync) >/dev/null 2>&1
done
arbor sync; code 0
"$ARBOR" dump --logical >"$T/got"; check cmp "$T/want" "$T/got"
arbor check; code 0
the_end
