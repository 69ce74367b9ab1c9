#!/bin/sh
# Trees of files that are out of order or hold circles: nothing is lost, and the earliest is the beginning. And of what
# there is nothing but progress lines.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
mkdir -p "$T/claude/projects/-p"
id() { printf '%08d-0000-4000-8000-000000000000' "$1"; }
say() { # FILE NUMBER PARENT|- ROLE SECOND
	if [ "$3" = - ]; then parent=null; else parent="\"$(id "$3")\""; fi
	printf '{"type":"%s","uuid":"%s","parentUuid":%s,"timestamp":"2026-01-01T00:%02d:00.000Z","sessionId":"%s",' \
		"$4" "$(id "$2")" "$parent" "$5" "$(id "$1")"
	if [ "$4" = user ]; then
		printf '"message":{"role":"user","content":"prompt %s"}}\n' "$2"
	else
		printf '"message":{"id":"msg_%s","role":"assistant","model":"m","content":[{"type":"text","text":"answer"}]}}\n' "$2"
	fi
}
file() { echo "$T/claude/projects/-p/$(id "$1").jsonl"; }
tree() { # FILE
	arbor sync -q --source "$T/claude" --store "$T/s.db"; code 0
	arbor tree "$(id "$1")" --messages --agents --json --store "$T/s.db"; code 0
}
count() { grep -c "\"kind\":\"$1\"" "$T/out"; }
follows() { # NUMBER PREV|-
	if [ "$2" = - ]; then
		! grep "\"kind\":\"message\".*\"uuid\":\"$(id "$1")\"" "$T/out" | grep -q '"prev"' || fail "message $1 follows something"
	else
		grep "\"kind\":\"message\".*\"uuid\":\"$(id "$1")\"" "$T/out" | grep -q "\"prev\":\"$(id "$2")\"" || fail "$1 does not follow $2"
	fi
}

it "draws all turns of a file whose first line is last and has lost its parent"
{ say 1 13 12 user 30; say 1 14 13 assistant 31; say 1 12 11 assistant 20; say 1 11 99 user 10; } >"$(file 1)"
tree 1
check test "$(count turn)" -eq 2
check test "$(count message)" -eq 4
follows 11 -; follows 12 11; follows 13 12; follows 14 13

it "lets the earliest of a circle follow nothing, wherever it stands"
{ say 2 23 22 user 30; say 2 21 24 user 10; say 2 24 23 assistant 40; say 2 22 21 assistant 20; } >"$(file 2)"
tree 2
check test "$(count turn)" -eq 2
follows 21 -; follows 22 21; follows 23 22; follows 24 23

it "draws a line that stands twice, has no parent, or is its own"
{ say 3 31 98 user 10; say 3 31 98 user 10; say 3 32 31 assistant 20; say 3 33 33 user 30; } >"$(file 3)"
tree 3
check test "$(count turn)" -eq 2
check test "$(count message)" -eq 3
out_lacks "\"uuid\":\"$(id 31)\",\"to\":\"$(id 31)\""

it "begins a turn with the task of a sub-agent that only progress lines tell of, and knows its call"
{
	say 4 41 - user 10
	printf '{"type":"progress","uuid":"%s","parentUuid":"%s","parentToolUseID":"toolu_41","timestamp":"2026-01-01T00:11:00.000Z",' \
		"$(id 42)" "$(id 41)"
	printf '"data":{"type":"agent_progress","agentId":"a1","message":{"type":"user","uuid":"%s","message":{"role":"user",' "$(id 43)"
	printf '"content":[{"type":"text","text":"look around"}]}}}}\n'
} >"$(file 4)"
tree 4
check test "$(count turn)" -eq 2
grep "\"kind\":\"turn\".*\"uuid\":\"$(id 43)\"" "$T/out" | grep -q '"origin":"human"' || fail "the task begins no turn"
arbor agents "$(id 4)" --json --store "$T/s.db"; code 0
out_has '"tool_id":"toolu_41"'
the_end
