#!/bin/bash
# Lines that stand in several files have their words in the index once, and are found in each of them all the same:
# with every condition, whichever file came first, and when the one that had the words goes.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
S=$T/.claude P=$S/projects/-w D=$T/.local/share/arbor/arbor.db
mkdir -p "$P"
A=aaaaaaaa-0000-4000-8000-000000000000 B=bbbbbbbb-0000-4000-8000-000000000000 C=cccccccc-0000-4000-8000-000000000000

# line SESSION N PARENT FOLDER TEXT: uuids are made of N.
line() { printf '{"parentUuid":%s,"sessionId":"%s","type":"user","uuid":"%08d-1111-4111-8111-111111111111","timestamp":"2026-01-02T03:%02d:00.000Z","cwd":"/w/%s","gitBranch":"main","message":{"role":"user","content":"%s"}}\n' "$3" "$1" "$2" "$2" "$4" "$5"; }
beginning() { # SESSION FOLDER
	line "$1" 1 null "$2" 'the quokka counts its leaves'
	line "$1" 2 '"00000001-1111-4111-8111-111111111111"' "$2" 'and the wombat digs under a fence'
}
beginning "$A" shop >"$P/$A.jsonl"
{ beginning "$B" bakery && line "$B" 3 '"00000002-1111-4111-8111-111111111111"' bakery 'a bilby in the other way'; } >"$T/b.jsonl"
{ beginning "$C" farm && line "$C" 4 '"00000002-1111-4111-8111-111111111111"' farm 'a potoroo in the third'; } >"$T/c.jsonl"

indexed() { sqlite3 "$D" 'SELECT count(*) FROM search_docsize'; }
sessions() { sed -n 's/.*"session":"\([^"]*\)".*/\1/p' "$T/out" | sort | tr '\n' ' '; } # of the JSON printed
everywhere() { # which of the files have the first line
	for s in "$@"; do
		arbor search quokka "session:$s" --json; code 0; check test "$(sessions)" = "$s "
		arbor search 'NEAR(quokka leaves)' "session:$s" --json; code 0; check test "$(sessions)" = "$s "
		arbor search "quok* -bilby session:$s" --json; code 0; check test "$(sessions)" = "$s "
	done
	arbor search quokka --json; code 0; check test "$(grep -vc '"withdrawn":true' "$T/out")" -eq 1
	arbor search quokka after:2026-01-01 --json; check test "$(grep -vc '"withdrawn":true' "$T/out")" -eq 1
	arbor sql "SELECT session_id FROM messages WHERE messages MATCH 'quokka' ORDER BY 1"; code 0
	check test "$(grep -c 0000-4000 "$T/out")" -eq $#
	arbor check; code 0
}
# A store that sees it all at once says the same.
same_as_new() {
	"$ARBOR" dump --logical | grep -v ^withdrawn >"$T/this"
	"$ARBOR" sync -q --store "$T/new.db"
	"$ARBOR" dump --logical --store "$T/new.db" | grep -v ^withdrawn >"$T/that"
	rm -f "$T"/new.db*
	check cmp "$T/this" "$T/that"
}

it "keeps the words of a line once, whatever has it"
arbor sync; code 0; check test "$(indexed)" -eq 2
cp "$T/b.jsonl" "$P/$B.jsonl"; arbor sync; code 0; check test "$(indexed)" -eq 3
cp "$T/c.jsonl" "$P/$C.jsonl"; arbor sync; code 0; check test "$(indexed)" -eq 4
everywhere "$A" "$B" "$C"
same_as_new

it "does not write the words of copies where the original is known, so no room is left behind"
check test "$(sqlite3 "$D" 'SELECT count(*) FROM copied WHERE original > 0')" -eq 2
check test "$(sqlite3 "$D" 'PRAGMA freelist_count')" -eq 0

it "finds copies by what is asked of their own file"
for s in "$A shop" "$B bakery" "$C farm"; do
	arbor search wombat --project "/w/${s#* }" --json; code 0; check test "$(sessions)" = "${s% *} "
done
arbor search wombat --project /w/nowhere; code 1

it "finds the copies when the file that had the words says something else"
line "$A" 9 null shop 'nothing of it is left' >"$P/$A.jsonl"
arbor sync; code 0
everywhere "$B" "$C"
check test "$(indexed)" -eq 7 # two that are withdrawn have words of their own
arbor search quokka is:withdrawn --json; code 0; check test "$(sessions)" = "$A "
same_as_new

it "takes the words back when it has them again"
{ cat "$P/$A.jsonl" && beginning "$A" shop; } >"$T/a.jsonl"; cp "$T/a.jsonl" "$P/$A.jsonl"
arbor sync; code 0
everywhere "$A" "$B" "$C"
arbor search quokka after:2026-01-01 -n 1; err_has '1 of 2 hits' # one is withdrawn
check test "$(indexed)" -eq 7
same_as_new

it "has them all the same when they come at once, and after a rebuild"
arbor rebuild -q; code 0; check test "$(indexed)" -eq 5
everywhere "$A" "$B" "$C"
same_as_new

it "leaves nothing of what is purged, in none of them"
id=$("$ARBOR" search quokka --json | sed -n 's/.*"message":"\([^"]*\)".*/\1/p' | head -n 1)
arbor purge "$id" --yes; code 0
for s in "$A" "$B" "$C"; do arbor search quokka "session:$s"; code 1; done
! grep -aq quokka "$D" "$D"-* || fail "a file of the store has it"
for s in "$A" "$B" "$C"; do arbor search wombat "session:$s"; code 0; done
arbor check; code 0
the_end
