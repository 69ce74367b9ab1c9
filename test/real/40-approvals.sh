#!/bin/bash
# Tools that have to be allowed, questions to a person and plans, with each client: answered in every way, withdrawn,
# lost. After each, what was heard, the stream, the tree and the files say the same.
. test/harness/lib.sh
. test/real/lib.sh

touch_it=$(steps '[{"blocks":[{"tool":"Bash","input":{"command":"touch made"}}]},{"blocks":["then: {{lastResult}}"]}]')
both=$(steps '[{"blocks":[{"tool":"Bash","input":{"command":"touch made"}},{"tool":"Bash","input":{"command":"touch other"}}]},{"blocks":["then: {{lastResult}}"]}]')
ask_it=$(steps '[{"blocks":[{"tool":"AskUserQuestion","input":{"questions":[{"question":"Which one?","header":"Which","multiSelect":false,"options":[{"label":"The first","description":"old"},{"label":"The second","description":"new"}]}]}}]},{"blocks":["then: {{lastResult}}"]}]')
plan_it=$(steps '[{"blocks":[{"tool":"ExitPlanMode","input":{"plan":"# First this"}}]},{"blocks":["then: {{lastResult}}"]}]')
asking='{"permission_mode":"default","allowed_tools":[]}'
ids() { "$ARBOR" approvals --json 2>/dev/null | jq -r .id; }
answer() { "$ARBOR" answer "$(ids)" "$@" >"$T/answered" 2>&1 || { fail "answer $*"; show "$T/answered"; }; }
said() { events 'select(.type == "result") | .data.result' | tail -n 1; }
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
	it "$version: what is allowed runs, however long that took"
	asked "$touch_it"; sleep 5; ! made made || fail 'it ran'; answer allow; follow; agrees complete; check made made
	it "$version: what was put in its place runs"
	asked "$touch_it"; answer allow --input '{"command":"touch other"}'; follow; agrees complete
	check made other; ! made made || fail 'both ran'
	it "$version: what is denied does not run, and the model hears why"
	asked "$touch_it"; answer deny -m 'not today'; follow; agrees complete
	check test "$(said)" = 'then: not today'; ! made made || fail 'it ran'
	it "$version: a denial can end the turn"
	asked "$touch_it"; answer deny --interrupt; follow; agrees cancelled; ! made made || fail 'it ran'
	it "$version: of two at once each has its own answer"
	asked "$both" # a client may ask the second when it has the answer to the first
	for _ in 1 2; do
		for ((n = 0; n < 400; n++)); do id=$(ids | head -n 1); [ -n "$id" ] && break; sleep 0.05; done
		what=allow; ! "$ARBOR" approvals "$id" --json | grep -q 'touch other' || what=deny
		"$ARBOR" answer "$id" $what >/dev/null || fail "$what"
		for ((n = 0; n < 400; n++)); do [ "$(ids | head -n 1)" = "$id" ] || break; sleep 0.05; done
	done
	follow; agrees complete; check made made; ! made other || fail 'what was denied ran'
	it "$version: a person chooses, and a plan is approved"
	asked "$ask_it"; answer allow --answers '{"Which one?":"The first"}'; follow; agrees complete
	case $(said) in *'The first'*) ;; *) fail "it heard: $(said)" ;; esac
	call set_mode '{"session":"asks","mode":"plan"}'; code 0
	asked "$plan_it"; answer allow; follow; agrees complete
	call set_mode '{"session":"asks","mode":"default"}'; code 0
	it "$version: an interrupt withdraws the question"
	asked "$touch_it"; call interrupt '{"stream":"asks"}'; code 0; follow; agrees cancelled
	check test "$(events 'select(.type == "approval_resolved") | .data.void')" = withdrawn; ! made made || fail 'it ran'
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
	call chat "$(jq -cn --arg p 'SCRIPT:text(tried)' '{session: "asks", prompt: $p, ephemeral: true}')"; code 0
	check test "$(get .type | tail -n 1)" = complete; check test "$(lines)" = "$before"
	"$ARBOR" sync --quiet; check test "$("$ARBOR" search tried -n 5 --json 2>/dev/null | wc -l)" = 0
	it "$version: where questions are not ours nobody is asked, and nothing runs"
	name=alone; session alone '{"permission_mode":"default","allowed_tools":[],"loopback":"off"}'
	chat alone "$touch_it"; agrees complete; ! made made || fail 'it ran'
}
real_run
