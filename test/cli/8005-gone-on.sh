#!/bin/bash
# A named session that somebody goes on with in the client: it is where that was left, for whoever reads and whoever goes on.
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py ANTHROPIC_API_KEY=none
W=$T/work ID=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01
P=$T/.claude/projects/${W//[^a-zA-Z0-9]/-}
mkdir -p "$W" "$P"
u() { printf '000000%02d-0000-4000-8000-000000000000' "$1"; }
# said N PARENT TYPE TEXT [TIME]: a line of the session in $S, hung on another (0 = none).
said() {
	local parent=null message="{\"role\":\"user\",\"content\":\"$4\"}"
	[ "$2" = 0 ] || parent="\"$(u "$2")\""
	[ "$3" = user ] || message="{\"id\":\"m$1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"opus\",\"content\":[{\"type\":\"text\",\"text\":\"$4\"}]}"
	printf '{"parentUuid":%s,"isSidechain":false,"type":"%s","uuid":"%s","timestamp":"%s","cwd":"%s","sessionId":"%s","version":"2.1.197","message":%s}\n' \
		"$parent" "$3" "$(u "$1")" "${5:-$(date -u +%FT%T.%3NZ)}" "$W" "$S" "$message" >>"$P/$S.jsonl"
}
get() { jq -r "$1" "$T/out"; }
texts() { arbor log "$1" --json; code 0; get 'select(.kind == "message") | .blocks[0].text' | tr '\n' '|'; }
call() { arbor call "claudecode.$1" "$2"; }
# What the client goes on from when it is started for the session now.
heard() { call chat "{\"session\":\"$1\",\"prompt\":\"say $2\"}"; code 0; call get "{\"session\":\"$1\"}"; S=$(get .claude_session_id); }

S=$ID; said 1 0 user 'first question' 2026-11-15T10:00:01.000Z; said 2 1 assistant 'first answer' 2026-11-15T10:00:02.000Z
said 3 2 user 'second question' 2026-11-15T10:00:03.000Z; said 4 3 assistant 'second answer' 2026-11-15T10:00:04.000Z
arbor sync; code 0
arbor fork "$(u 3)" lag --json; code 0; S=$(get .session); lag=$S
said 11 2 user 'asked in the client'; said 12 11 assistant 'answered in the client'
arbor sync; code 0

it "is where the client was left, for all that read it"
all='first question|first answer|asked in the client|answered in the client|'
check test "$(texts lag)" = "$all"
arbor diff "$ID" lag --json; code 0; check test "$(get 'select(.kind == "side" and .side == "b") | .messages')" = 2
arbor branches lag --json; code 0; check test "$(get 'select(.current) | [.messages, .names[0]] | join(" ")')" = '4 lag'
arbor tree "$ID" --json; code 0; check test "$(get 'select(.named) | [.text, .named[0]] | join(" ")')" = 'asked in the client lag'
arbor merge lag "$ID" --as prompt; code 0; out_has 'answered in the client'
call get_conversation '{"id":"lag"}'; check test "$(get 'select(.kind == "message") | .blocks[0].text' | tr '\n' '|')" = "$all"
call get '{"session":"lag"}'; head=$(get .head); call list '{}'; check test "$(get 'select(.name == "lag") | .head')" = "$head"
arbor log lag --json; check test "$(get 'select(.kind == "message") | .id' | tail -n 1)" = "$head"
it "is forked from there"
arbor fork lag beside --json; code 0; S=$(get .session); check test "$(texts "$S")" = "$all"
it "is changed without being moved back by that"
arbor model lag opus; code 0; check test "$(texts lag)" = "$all"
arbor rename lag late; code 0; arbor rename late lag; code 0; check test "$(texts lag)" = "$all"
it "is gone on with there, in the same file, with what the client wrote since the last sync"
S=$lag; said 13 12 user 'not synced yet'; said 14 13 assistant 'nor that'
heard lag here; check test "$S" = "$lag"
check test "$(texts lag)" = "${all}not synced yet|nor that|say here|here|"

it "follows the client over a compaction"
arbor fork "$ID" big --json; code 0; S=$(get .session)
printf '{"parentUuid":null,"logicalParentUuid":"%s","isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","uuid":"%s","timestamp":"%s","cwd":"%s","sessionId":"%s","version":"2.1.197","compactMetadata":{"trigger":"manual","preTokens":9}}\n' \
	"$(u 4)" "$(u 21)" "$(date -u +%FT%T.%3NZ)" "$W" "$S" >>"$P/$S.jsonl"
said 22 21 user 'a summary'; sed -i '$s/"message":/"isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":/' "$P/$S.jsonl"
said 23 22 user 'third question'; said 24 23 assistant 'third answer'
arbor sync; code 0; arbor fork big bigger --json; code 0; S=$(get .session); check grep -q 'third answer' "$P/$S.jsonl"

it "does not move a head that was put elsewhere"
arbor checkout lag "$(u 2)" --json; code 0; check test "$(texts lag)" = 'first question|first answer|'
S=$lag; said 31 14 user 'said behind its back'; said 32 31 assistant 'so it was'; arbor sync; code 0
check test "$(texts lag)" = 'first question|first answer|'
heard lag elsewhere; check test "$S" != "$lag"; check test "$(texts lag)" = 'first question|first answer|say elsewhere|elsewhere|'
it "does not follow what another name of the same conversation said"
arbor adopt one "$S" --working-dir "$W"; code 0; arbor adopt two "$S" --working-dir "$W"; code 0; arbor delete lag; code 0
heard one again; check test "$(texts two)" = 'first question|first answer|say elsewhere|elsewhere|'
it "stays where it was left when another name comes to its file"
arbor fork "$ID" alone --json; code 0; S=$(get .session); said 41 4 user 'and on'; said 42 41 assistant 'it went on'; arbor sync; code 0
arbor adopt second "$S" --working-dir "$W"; code 0
check test "$(texts alone)" = 'first question|first answer|second question|second answer|and on|it went on|'

it "goes on beside a client that has it open, from where that is"
arbor fork "$ID" open --json; code 0; S=$(get .session); opened=$S; said 51 4 user 'typed just now'; said 52 51 assistant 'answered just now'
mkdir -p "$T/.claude/sessions"; start=$(awk '{ print $22 }' "/proc/$$/stat")
printf '{"pid":%d,"sessionId":"%s","cwd":"%s","startedAt":1,"procStart":"%s","version":"2.1.197","kind":"interactive"}' $$ "$S" "$W" "$start" >"$T/.claude/sessions/$$.json"
cp "$P/$S.jsonl" "$T/before"; heard open beside; check test "$S" != "$opened"; same "$P/$opened.jsonl" "$T/before"
check test "$(texts open)" = 'first question|first answer|second question|second answer|typed just now|answered just now|say beside|beside|'
the_end
