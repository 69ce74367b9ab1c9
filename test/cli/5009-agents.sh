#!/bin/sh
# Sub-agents hang on the turn that started them, also those that other sub-agents started, whatever the client says of it:
# a file of facts, a result, or only the text of one.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
main=00000000-0000-4000-8000-000000000001
dir="$T/.claude/projects/p/$main"
mkdir -p "$dir/subagents"
id() { printf '00000000-0000-4000-8000-0000000000%s' "$1"; }
line() { # FILE NUMBER PARENT|- TYPE MESSAGE [MORE]
	if [ "$3" = - ]; then parent=null; else parent="\"$(id "$3")\""; fi
	case $1 in agent-*) file="$dir/subagents/$1.jsonl" aside=true ;; *) file="$dir.jsonl" aside=false ;; esac
	printf '{"type":"%s","uuid":"%s","parentUuid":%s,"isSidechain":%s,"timestamp":"2026-01-01T00:%s:00.000Z",%s"message":{"role":"%s",%s}}\n' \
		"$4" "$(id "$2")" "$parent" $aside "$2" "${6:-}" "$4" "$5" >>"$file"
}
ask() { # FILE NUMBER PARENT CALL TYPE PROMPT
	line "$1" "$2" "$3" assistant "\"id\":\"m$2\",\"model\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"$4\",\"name\":\"Agent\",\"input\":{\"subagent_type\":\"$5\",\"prompt\":\"$6\"}}]"
}
answer() { # FILE NUMBER PARENT CALL TEXT [MORE]
	line "$1" "$2" "$3" user "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"$4\",\"content\":\"$5\"}]" "${6:-}"
}
say() { line "$1" "$2" "$3" assistant "\"id\":\"m$2\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"said\"}]"; }
line main 10 - user '"content":"first prompt"'
ask main 11 10 toolu_a Explore 'look around'
line agent-a1 12 - user '"content":"look around"'
ask agent-a1 13 12 toolu_b Plan 'look deeper'
line agent-a2 14 - user '"content":"look deeper"'
say agent-a2 15 14
answer agent-a1 16 13 toolu_b 'found\nagentId: a2 (use SendMessage to go on)'
say agent-a1 17 16
answer main 18 11 toolu_a found
say main 19 18
printf '{"agentType":"Explore","toolUseId":"toolu_a"}' >"$dir/subagents/agent-a1.meta.json"
line main 20 19 user '"content":"rewound prompt"'
ask main 21 20 toolu_c general-purpose 'aside job'
line agent-a3 22 - user '"content":"aside job"'
line agent-a3 23 22 user '"content":"more of it"'
answer main 24 21 toolu_c finished '"toolUseResult":{"agentId":"a3"},'
line agent-a4 25 - user '"content":"Warmup"'
line main 30 19 user '"content":"second prompt"'
arbor sync; code 0

it "draws them below the turn that started them, with their type, and gives them no arrow"
arbor tree @ --agents; code 0
sed -n '3,$p' "$T/out" | sed -E 's/  [0-9a-f]{8}-[0-9a-f-]{27}  /  /' >"$T/drawn"
cat >"$T/wanted" <<'END'
● 1  first prompt  4 messages, 1 tool
├─○ a1 Explore  look around  4 messages, 1 tool
│ └─○ a2 Plan  look deeper  2 messages
├─● 2  rewound prompt  3 messages, 1 tool
│ └─○ a3 general-purpose  aside job  1 message
│   ○ 2  more of it  1 message
● 2  second prompt  1 message  ⇐ 00000000-0000-4000-8000-000000000001
END
same "$T/wanted" "$T/drawn"

it "leaves them out unless they are asked for"
arbor tree @; code 0
out_lacks '○'
out_lacks 'look around'

it "tells programs which call of which message started each"
arbor tree @ --agents --json; code 0
for one in 'a1","agent_type":"Explore","tool_id":"toolu_a' 'a2","agent_type":"Plan","tool_id":"toolu_b' 'a4","warmup":true'; do
	out_has "\"agent\":\"$one"
done
by=$(sed -n 's/.*"agent":"a2".*"started_by":"\([^"]*\)".*/\1/p' "$T/out")
arbor show "$by" --json; code 0
out_has '"tool_id":"toolu_b"'

it "lists a nested one with its call"
arbor agents @ --json; code 0
grep '"agent":"a2"' "$T/out" | grep -q '"type":"Plan","tool_id":"toolu_b"' || fail "its call is not known"

it "shows what one did, by the beginning of its id"
line agent-abcd0001 40 - user '"content":"odd job"'
say agent-abcd0001 41 40
arbor sync; code 0
arbor show abcd; code 0
out_has '  sub-agent abcd0001'
out_has 'odd job'
out_lacks 'first prompt'
arbor log @@abcd0001; code 0
out_has 'odd job'
arbor tree abcd0001; code 0
out_has '○ abcd0001  odd job'
arbor show abce; code 1

it "shows every turn by its id, and nothing else"
arbor tree @ --agents --json; code 0
sed -n 's/.*"kind":"turn","id":"\([^"]*\)".*"text":"\([^"]*\)".*/\1 \2/p' "$T/out" >"$T/turns"
check test "$(wc -l <"$T/turns")" -eq 9
while read -r turn text; do
	arbor show "$turn" --json; code 0
	check test "$(grep -c '"prompt":true' "$T/out")" -le 1
	out_has "\"text\":\"$text\""
done <"$T/turns"
arbor show "$(sed -n 's/ first prompt//p' "$T/turns")"; code 0
out_has found
out_has said
out_lacks 'second prompt'

it "draws one that was started by itself"
printf '{"agentType":"Explore","toolUseId":"toolu_b"}' >"$dir/subagents/agent-a1.meta.json"
arbor sync; code 0
arbor tree @ --agents; code 0
out_has '○ a1 Explore'
out_has '○ a2 Plan'
the_end
