#!/bin/bash
# Turns that wait for somebody's word, with each client: what is heard, kept and written is the same.
. test/harness/lib.sh
. test/real/lib.sh
touch_it=$(steps '[{"blocks":["Let me.",{"tool":"Bash","input":{"command":"touch made"}}]},{"blocks":["then: {{lastResult}}"]}]')
two_at_once=$(steps '[{"blocks":[{"tool":"Bash","input":{"command":"touch made"}},{"tool":"Write","input":{"file_path":"{{cwd}}/other.txt","content":"x"}}]},{"blocks":["then: {{lastResult}}"]}]')

# asked NAME SETTINGS PROMPT: a session whose tools have to ask, and its question.
asked() {
	session "$1" "$(jq -cn --argjson m "$2" '{allowed_tools: [], permission_mode: "default"} + $m')"
	start "$1" "$3"; wait_for '.type == "awaiting_approval"'
}
answer() { arbor answer "$("$ARBOR" approvals -0 2>/dev/null | tr '\0' '\n' | head -n 1)" "$@"; code 0; }

real_each() {
	it "$version: what is allowed"
	asked allow '{}' "$touch_it"; answer allow; follow; agrees complete; check test -e "$HOME/work/allow/made"
	it "$version: what is put in its place; the conversation keeps what the model wanted"
	asked edit '{}' "$touch_it"; answer allow --input '{"command":"touch other"}'; follow; agrees complete
	check test -e "$HOME/work/edit/other"; check test ! -e "$HOME/work/edit/made"
	check test "$(events 'select(.type == "tool_use_end") | .data.input.command')" = 'touch made'
	it "$version: what is denied"
	asked deny '{}' "$touch_it"; answer deny -m 'not today'; follow; agrees complete
	check test "$(events 'select(.type == "tool_result") | [.data.is_error, .data.output] | map(tostring) | join(" ")')" = 'true not today'
	it "$version: what is denied, and the turn with it"
	asked stop '{}' "$touch_it"; answer deny --interrupt; follow; agrees cancelled
	check test ! -e "$HOME/work/stop/made"
	it "$version: two questions at once, answered differently"
	asked two '{}' "$two_at_once"; answer allow
	for ((n = 0; n < 200; n++)); do [ -z "$("$ARBOR" approvals -0 2>/dev/null | tr '\0' '\n')" ] || break; sleep 0.05; done
	answer deny -m no; follow; agrees complete
	it "$version: a question that waits for long, with nothing else said meanwhile"
	asked long '{}' "$touch_it"; sleep 12; answer allow; follow; agrees complete; check test -e "$HOME/work/long/made"
	it "$version: an agent that wants to say that it need not ask, as itself and as if it were nobody"
	for as in '' 'env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID'; do
		asked "own${#as}" '{"allowed_tools":["Bash"]}' "$(steps "$(jq -cn --arg c "ARBOR_HOME=$ARBOR_HOME $as $ARBOR rule Write allow --session own${#as}" \
			'[{blocks: [{tool: "Bash", input: {command: $c}}]}, {blocks: [{tool: "Write", input: {file_path: "{{cwd}}/other.txt", content: "x"}}]}, {blocks: ["then: {{lastResult}}"]}]')")"
		answer deny -m no; follow; agrees complete; check test ! -e "$HOME/work/own${#as}/other.txt"
		check grep -qF 'an agent cannot answer its own questions' "$HOME/events"
	done
	it "$version: a question to a person"
	asked ask '{}' 'SCRIPT:ask'; answer allow --answers '{"Which colour?":"Blue"}'; follow; agrees complete
	check test -n "$(events 'select(.type == "tool_result") | .data.output' | grep Blue)"
	it "$version: a plan"
	asked plan '{"permission_mode":"plan"}' 'SCRIPT:plan'; answer allow; follow; agrees "$(state_of plan)"
	it "$version: an interrupted question"
	asked gone '{}' "$touch_it"; call interrupt '{"stream":"gone"}'; code 0; follow; agrees cancelled
	check test ! -e "$HOME/work/gone/made"
	it "$version: a cancelled one"
	asked end '{}' "$touch_it"; call cancel '{"stream":"end"}'; code 0; follow; agrees cancelled
	check test ! -e "$HOME/work/end/made"
}
real_run
