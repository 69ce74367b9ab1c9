#!/bin/bash
# What a session can have changed, and what is left of it, with each client: another model, a rule, an answer that came
# too late, a try; after each, what was heard, the stream, the tree and the files say the same.
. test/harness/lib.sh
. test/real/lib.sh

touch_it=$(steps '[{"blocks":[{"tool":"Bash","input":{"command":"touch made"}}]},{"blocks":["then: {{lastResult}}"]}]')
asking='{"permission_mode":"default","allowed_tools":[]}'
ids() { "$ARBOR" approvals --json 2>/dev/null | jq -r .id; }
answer() { "$ARBOR" answer "$(ids)" "$@" >"$T/answered" 2>&1 || { fail "answer $*"; show "$T/answered"; }; }
made() { [ -e "$HOME/work/$name/$1" ]; }
lines() { find "$HOME/.claude/projects" -name '*.jsonl' -exec cat {} + | wc -l; }
# asked PROMPT: until it waits for an answer.
asked() {
	rm -f "$HOME/work/$name/made" "$HOME/work/$name/other"
	start "$name" "$1"; wait_for '.type == "awaiting_approval"'
	check test "$(state_of "$name")" = awaiting_permission; ! made made || fail 'it ran before anybody allowed it'
}

real_each() {
	name=asks
	session asks "$asking"
	it "$version: a killed driver leaves it void, and the conversation goes on"
	asked "$touch_it"
	kill -9 "$(sqlite3 "$ARBOR_HOME/arbor.db" 'SELECT lease_pid FROM run WHERE ended_at IS NULL')"
	for ((n = 0; n < 200; n++)); do [ "$(state_of asks)" = interrupted ] && break; sleep 0.05; done
	check test "$(state_of asks)" = interrupted
	check test "$("$ARBOR" approvals --all -n 1 --json | jq -r .void_reason)" = lost
	call continue "$(jq -cn --arg p "$touch_it" '{stream: "asks", prompt: $p}')" & following=$!
	for ((n = 0; n < 400; n++)); do [ -n "$(ids)" ] && break; sleep 0.05; done
	answer allow; wait $following; stream=asks; follow; agrees complete; check made made
	it "$version: another model answers while it works"
	asked "$touch_it"; call set_model '{"session":"asks","model":"claude-haiku-4-5"}'; code 0; answer allow; follow; agrees complete
	# The older one takes it with its next turn.
	[ "$version" = claude-2.1.197 ] || check test "$(jq -rs '[.[] | select(.dir == "req") | .body.model // empty] | last' "$HOME/api.log")" = claude-haiku-4-5
	it "$version: nobody is asked where a rule answers"
	arbor rule 'Bash(touch made)' allow --session asks; rm -f "$HOME/work/asks/made"
	chat asks "$touch_it"; agrees complete; check made made
	check test "$(events 'select(.type == "approval_resolved") | .data.by')" = rule
	it "$version: nothing is left of what is only tried"
	before=$(lines)
	call chat "$(jq -cn --arg p 'SCRIPT:text(frobnitz)' '{session: "asks", prompt: $p, ephemeral: true}')"; code 0
	check test "$(get .type | tail -n 1)" = complete; check test "$(lines)" = "$before"
	"$ARBOR" sync --quiet; check test "$("$ARBOR" search frobnitz -n 5 --json 2>/dev/null | wc -l)" = 0
	it "$version: where questions are not ours nobody is asked, and nothing runs"
	name=alone; session alone '{"permission_mode":"default","allowed_tools":[],"loopback":"off"}'
	chat alone "$touch_it"; agrees complete; ! made made || fail 'it ran'
}
real_run
