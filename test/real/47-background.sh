#!/bin/bash
# Commands that go on behind a turn, with each client: who follows may ask, and whoever wants to can break in.
. test/harness/lib.sh
. test/real/lib.sh
background() { printf '{"tool":"Bash","input":{"command":"%s","description":"b","run_in_background":true}}' "$1"; }
touch_it='{"tool":"Bash","input":{"command":"touch made","description":"t"}}'
ends=$(steps "[{\"blocks\":[$(background 'sleep 2')]},{\"blocks\":[\"Started.\"]},{\"blocks\":[$touch_it]},{\"blocks\":[\"Touched.\"]}]")
within=$(steps "[{\"blocks\":[$(background 'sleep 1')]},{\"blocks\":[\"Started.\"],\"delayMs\":3000},{\"blocks\":[$touch_it]},{\"blocks\":[\"Touched.\"]}]")
never() { steps "[{\"blocks\":[$(background "sleep $1")]},{\"blocks\":[\"Started.\"]}]"; }
waits() { wait_for '.data.event_type? == "waiting"'; }
slow='{"allowed_tools":["Bash(sleep *)"],"permission_mode":"default"}'
answer() { arbor answer "$("$ARBOR" approvals -0 2>/dev/null | tr '\0' '\n' | head -n 1)" "$@"; code 0; }

real_each() {
	it "$version: a turn that follows a command in the background asks"
	session ends "$slow"; start ends "$ends"; wait_for '.type == "awaiting_approval"'; answer allow; follow; agrees complete
	check test -e "$HOME/work/ends/made"
	it "$version: also when that ended during the turn before"
	session within "$slow"; start within "$within"; wait_for '.type == "awaiting_approval"'; answer allow; follow; agrees complete
	check test -e "$HOME/work/within/made"
	it "$version: what never ends can be told more, and is ended by an interrupt"
	session never "$slow"; start never "$(never 42451)"; waits
	call queue '{"stream":"never","prompt":"SCRIPT:text(1)"}'; code 0; check test "$(get .done)" = true
	wait_for '.type == "content_delta" and (.data.text | test("Hello"))'
	call interrupt '{"stream":"never"}'; code 0; follow; agrees cancelled; gone 'sleep 42451'
	it "$version: and by a stop"
	session stop "$slow"; start stop "$(never 42452)"; waits
	call cancel '{"stream":"stop"}'; code 0; follow; agrees cancelled; gone 'sleep 42452'
	it "$version: and when nothing was heard for too long"
	session quiet "$slow"; ARBOR_AGENT_SILENCE=5 start quiet "$(never 42453)"; follow; agrees failed; gone 'sleep 42453'
}
real_run
