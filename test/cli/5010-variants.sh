#!/bin/sh
# One uuid with different contents: every content is shown, has an id of its own and is found by it, whichever came first; the
# uuid itself means the one that the client knows.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
mkdir -p "$T/.claude/projects/p"
id() { printf '00000000-0000-4000-8000-0000000000%s' "$1"; }
file() { echo "$T/.claude/projects/p/$(id "0$1").jsonl"; }
prompt() { # NUMBER PARENT SECOND TEXT
	printf '{"type":"user","uuid":"%s","parentUuid":%s,"timestamp":"2026-01-01T00:00:%s.000Z","message":{"role":"user","content":"%s"}}\n' \
		"$(id "$1")" "$2" "$3" "$4"
}
answer() { # NUMBER PARENT SECOND TEXT
	printf '{"type":"assistant","uuid":"%s","parentUuid":"%s","timestamp":"2026-01-01T00:00:%s.000Z",' "$(id "$1")" "$(id "$2")" "$3"
	printf '"message":{"id":"m%s","role":"assistant","content":[{"type":"text","text":"%s"}]}}\n' "$1" "$4"
}
# As docs/DATA.md says, by another program.
half=4efd4f34-6fe9-521a-b380-132c6320d7d6
{
	prompt a1 null 01 'first prompt'
	answer a2 a1 02 'half an answ'
	answer a2 a1 03 'the whole answer'
	prompt a3 "\"$(id a2)\"" 04 'second prompt'
} >"$(file 1)"
arbor sync; code 0

it "shows every content, each with its id"
arbor show @; code 0
out_has 'half an answ'
out_has 'the whole answer'
out_has "variant  $half"
check test "$(grep -c variant "$T/out")" -eq 2
whole=$(awk '/variant/ { id = $NF } /the whole answer/ { print id }' "$T/out")

it "finds each by the beginning of its id"
arbor show 4efd4f34; code 0
out_has 'half an answ'
out_lacks whole
arbor show "$whole"; code 0
out_has whole
arbor show 4efd4f35; code 1

it "means by the uuid, and follows, what the client knows"
for what in "$(id a2)" "@@$(id a2)"; do
	arbor show "$what"; code 0
	out_has whole
done
arbor log @; code 0
out_has whole
out_lacks half
arbor log $half; code 0
out_has whole
out_lacks 'second prompt'

it "opens what a search has found"
arbor search '"half an answ"' --json; code 0
out_has "\"id\":\"$half\""

it "knows the same contents in whatever order files come"
answer a2 a1 02 'half an answ' >"$(file 2)"
arbor sync; code 0
mv "$(file 1)" "$T/one"
arbor sync --store "$T/other.db"; code 0
arbor show "$(id 02)" --store "$T/other.db"; code 0
out_lacks variant
cp "$T/one" "$(file 1)"
arbor sync --store "$T/other.db"; code 0
for store in "$T/store/arbor.db" "$T/other.db"; do
	arbor show "$(id 02)" --store "$store"; code 0
	out_has "variant  $half"
	arbor show $half --store "$store"; code 0
done

it "needs no such id any more when the others are gone"
{ prompt a1 null 01 'first prompt'; answer a2 a1 02 'half an answ'; } >"$(file 1)"
arbor sync; code 0
arbor show @; code 0
out_lacks variant
arbor show $half; code 1
the_end
