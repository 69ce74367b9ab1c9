#!/bin/bash
# Heads that are moved, and chats that go on from them, with each client: the API receives what was said until there, and
# nothing of what was said behind it. Nobody else's file is written to, whoever has it open.
. test/harness/lib.sh
. test/real/lib.sh

# What the API received last with this prompt: texts of both sides, without what the client says on its own account.
heard() {
	jq -rs --arg p "$1" '[.[] | select(.dir == "req") | .body.messages // empty | select(tostring | contains($p))] | last | .[]
		| select(.role != "system") | .content | if type == "string" then [{type: "text", text: .}] else . end | .[]
		| select(.type == "text") | .text | select(startswith("<") | not)' "$HOME/api.log" | tr '\n' '|'
}
node_of() { "$ARBOR" log "$1" --json | jq -r --arg t "$2" 'select(.kind == "message" and (.blocks | tostring | contains($t))) | .id' | head -n 1; }
file_of() { find "$HOME/.claude/projects" -name "$1.jsonl"; }
get_session() { call get "{\"session\":\"$1\"}"; get .claude_session_id; }

real_each() {
	session talk; chat talk 'SCRIPT:text(one)'; chat talk 'SCRIPT:text(two)'; chat talk 'SCRIPT:text(three)'
	first=$(get_session talk); cp "$(file_of "$first")" "$HOME/before"
	it "$version: goes on from where the head was moved to"
	arbor checkout talk "$(node_of "$first" 'args=one')"; code 0
	chat talk 'SCRIPT:text(other)'; agrees complete
	check test "$(heard 'SCRIPT:text(other)')" = 'SCRIPT:text(one)|Hello from the fake API. args=one|SCRIPT:text(other)|'
	check cmp -s "$(file_of "$first")" "$HOME/before"; second=$(get_session talk); check test "$second" != "$first"
	it "$version: and goes on there from then on, in the same tree"
	chat talk 'SCRIPT:text(more)'; agrees complete; check test "$(get_session talk)" = "$second"
	check test "$(heard 'SCRIPT:text(more)')" = 'SCRIPT:text(one)|Hello from the fake API. args=one|SCRIPT:text(other)|Hello from the fake API. args=other|SCRIPT:text(more)|'
	check test "$("$ARBOR" log "$first" --json | jq -r '.tree_id // empty')" = "$("$ARBOR" log "$second" --json | jq -r '.tree_id // empty')"
	it "$version: goes back to the other branch, from before a prompt"
	arbor checkout talk "$(node_of "$first" 'SCRIPT:text(three)')"; code 0
	chat talk 'SCRIPT:text(again)'; agrees complete
	check test "$(heard 'SCRIPT:text(again)')" = 'SCRIPT:text(one)|Hello from the fake API. args=one|SCRIPT:text(two)|Hello from the fake API. args=two|SCRIPT:text(again)|'
	it "$version: the client itself goes on where its own file says, and what it says comes back"
	arbor checkout "$first" "$(node_of "$first" 'args=one')" --in-place; code 0
	(cd "$HOME/work/talk" && "$client" -p 'SCRIPT:text(own)' --resume "$first" --output-format json >"$HOME/own" 2>&1 </dev/null) || { fail 'the client failed'; show "$HOME/own"; }
	check test "$(heard 'SCRIPT:text(own)')" = 'SCRIPT:text(one)|Hello from the fake API. args=one|SCRIPT:text(own)|'
	it "$version: forks what a client has open, and leaves its file alone"
	session busy; chat busy 'SCRIPT:text(quiet)'; start busy 'SCRIPT:slow'; wait_for '.type == "content_delta"'
	busy=$(get_session busy); arbor fork "$busy@$(node_of "$busy" 'args=quiet')" beside; code 0
	chat beside 'SCRIPT:text(beside)'; check test "$(heard 'SCRIPT:text(beside)')" = 'SCRIPT:text(quiet)|Hello from the fake API. args=quiet|SCRIPT:text(beside)|'
	! grep -q 'SCRIPT:text(beside)' "$(file_of "$busy")" || fail 'the live file was written to'
	call cancel '{"stream":"busy"}'
}
real_run
