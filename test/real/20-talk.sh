#!/bin/bash
# Several prompts in one session, with each client: resumed, compacted, cut short, put into a running turn, interrupted
# and cancelled.
. test/harness/lib.sh
. test/real/lib.sh

slow() { steps "[{\"blocks\":[{\"tool\":\"Bash\",\"input\":{\"command\":\"timeout $1 tail -f /dev/null; true\",\"description\":\"x\"}}]},{\"blocks\":[\"Slept.\"]}]"; }

real_each() {
	it "$version: a session goes on where it was, and the model is told all of it"
	session talk; chat talk 'SCRIPT:tool-bash'; agrees complete; first=$head
	chat talk 'SCRIPT:text(again)'; agrees complete
	check test "$head" != "$first"
	check test "$(jq -s '[.[] | select(.dir == "req") | .body.messages // [] | tostring | select(contains("text(again)"))] | last | contains("hello-from-bash")' "$HOME/api.log")" = true

	it "$version: it is the same conversation while others mirror it, too"
	"$ARBOR" sync --watch --json >"$HOME/watched" 2>&1 & watch=$!
	for ((n = 0; n < 400; n++)); do grep -q summary "$HOME/watched" && break; sleep 0.05; done
	chat talk 'SCRIPT:agent-two'; agrees complete
	chat talk 'SCRIPT:multi-tool'; agrees complete
	kill "$watch"; wait "$watch" 2>/dev/null

	it "$version: a conversation is compacted, and goes on"
	chat talk '/compact'; agrees complete
	check test -n "$(events 'select(.data.event_type? == "system/compact_boundary") | .seq')"
	chat talk 'SCRIPT:text(then)'; agrees complete

	it "$version: a turn that may not go on is said to have failed, and why"
	session short
	call chat '{"session":"short","prompt":"SCRIPT:tool-fail","max_turns":2}'; code 0; mv "$T/out" "$HOME/events"; stream=short; agrees failed
	check test -n "$(events 'select(.type == "result" and .data.subtype == "error_max_turns") | .seq')"
	check test -n "$(events 'select(.type == "error") | .data.message' | grep -i 'turns')"
	chat short 'SCRIPT:text(on)'; agrees complete

	it "$version: what is not to be mirrored is not, though an agent runs there"
	session private
	ARBOR_SYNC_EXCLUDE=$HOME/work/private chat private 'SCRIPT:text(private)'
	"$ARBOR" dump --logical | grep -q work-private && fail 'it was mirrored'
	chat private 'SCRIPT:text(no-more)'; agrees complete

	it "$version: what is only tried is heard and kept, and no node comes of it"
	session try; chat try 'SCRIPT:tool-bash'; agrees complete; before=$head
	told() { "$ARBOR" dump --logical | grep -E '^(session|line|message|turn|tree|head|usage|agent) '; }
	told >"$HOME/before"
	printf '#!/bin/sh\n"%s" "$@" | tee "%s"\n' "$client" "$HOME/printed" >"$HOME/tee"; chmod +x "$HOME/tee"
	ARBOR_CLAUDE=$HOME/tee call chat '{"session":"try","prompt":"SCRIPT:multi-tool","ephemeral":true}'; code 0
	check test "$(get .type | tail -n 1)" = complete; check test -n "$(get 'select(.type == "tool_result") | .seq')"
	"$ARBOR" sync --quiet; told >"$HOME/after"; same "$HOME/before" "$HOME/after"
	"$ARBOR" export "$("$ARBOR" call claudecode.streams '{"session":"try","limit":1}' --json | jq -r .output)" >"$HOME/kept"
	check test -s "$HOME/kept"; same "$HOME/printed" "$HOME/kept"
	call get '{"session":"try"}'; check test "$(get .head)" = "$before"
	chat try 'SCRIPT:text(again)'
	check test "$(jq -s '[.[] | select(.dir == "req") | .body.messages // [] | tostring] | last | contains("multi-tool")' "$HOME/api.log")" = false

	it "$version: what is said during a turn is taken into it"
	session queue; start queue "$(slow 2)"; wait_for '.type == "tool_use_end"'
	call queue '{"stream":"queue","prompt":"SCRIPT:text(queued)"}'; code 0; check test "$(get .done)" = true
	follow; agrees complete
	check test -n "$(events 'select(.type == "user_message" and .data.text == "SCRIPT:text(queued)") | .seq')"
	check test "$(jq -s '[.[] | select(.dir == "req")] | last | .body.messages[-1] | tostring | contains("text(queued)")' "$HOME/api.log")" = true

	it "$version: a turn is interrupted while the model speaks"
	session speak; start speak 'SCRIPT:slow'; wait_for '.type == "content_delta"'
	call interrupt '{"stream":"speak"}'; code 0; follow; agrees cancelled
	check test "$(events 'select(.type == "content_delta") | .data.text' | wc -c)" -lt 1800
	chat speak 'SCRIPT:text(after)'; agrees complete

	it "$version: a turn is interrupted while a tool runs"
	session tool; start tool "$(slow 87.$$)"; wait_for '.type == "tool_use_end"'; sleep 0.5
	call interrupt '{"stream":"tool"}'; code 0; follow; agrees cancelled; gone "timeout 87.$$"
	chat tool 'SCRIPT:text(after)'; agrees complete

	it "$version: an agent is cancelled with all it has started"
	session cancel; start cancel "$(slow 88.$$)"; wait_for '.type == "tool_use_end"'
	for ((n = 0; n < 200; n++)); do runs "timeout 88.$$" && break; sleep 0.05; done
	call cancel '{"stream":"cancel"}'; code 0; follow; agrees cancelled; gone "timeout 88.$$"
	chat cancel 'SCRIPT:text(after)'; agrees complete

	it "$version: whose client is killed has failed, and goes on"
	session kill; start kill 'SCRIPT:slow'; wait_for '.type == "content_delta"'
	kill -9 "$(client_of kill)"; follow; agrees failed
	check test -n "$(events 'select(.type == "error") | .data.message' | grep -i kill)"
	chat kill 'SCRIPT:text(after)'; agrees complete

	it "$version: whose driver is killed was interrupted, and goes on"
	session drive; start drive 'SCRIPT:slow'; wait_for '.type == "content_delta"'
	pid=$(client_of drive)
	kill -9 "$(sqlite3 "$ARBOR_HOME/arbor.db" 'SELECT lease_pid FROM run WHERE ended_at IS NULL')"
	for ((n = 0; n < 200; n++)); do [ "$(state_of drive)" = interrupted ] && break; sleep 0.05; done
	check test "$(state_of drive)" = interrupted
	for ((n = 0; n < 200; n++)); do [ -e "/proc/$pid" ] || break; sleep 0.05; done; check test ! -e "/proc/$pid"
	chat drive 'SCRIPT:text(after)'; agrees complete
}
real_run
