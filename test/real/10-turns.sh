#!/bin/bash
# One turn of every kind, with each client: what is heard, kept and written is the same.
. test/harness/lib.sh
. test/real/lib.sh

# turn STATE SCRIPT: what it means is in fake_anthropic.mjs.
turn() {
	local name=${2//[^a-z0-9]/-}
	it "$version: $2 ends as $1, and all agree"
	session "$name"
	chat "$name" "SCRIPT:$2"
	agrees "$1"
}
has() { check test -n "$(events "select($1) | .seq" | head -n 1)"; }

real_each() {
	turn complete 'text(1)'
	# The first run of a session: the client's total is of the same.
	check test "$(events 'select(.type == "complete") | .data | (.priced_cost_usd - .total_cost_usd) | fabs < 1e-8')" = true
	turn complete thinking; has '.type == "thinking_end" and (.data.signature | length) > 0'
	turn complete redacted
	turn complete unicode; turn complete long
	turn complete tool-bash; has '.type == "tool_result" and .data.is_error == false'
	turn complete multi-tool; check test "$(events 'select(.type == "tool_result") | .seq' | wc -l)" = 3
	turn complete tool-fail; check test "$(events 'select(.type == "tool_result" and .data.is_error) | .seq' | wc -l)" = 4
	turn complete write-edit; check grep -q 'line two' "$HOME/work/write-edit/made.txt"
	turn complete 'bigout(9000)'; turn complete tasks; turn complete 'read(seed.txt)'; turn complete bg-bash
	turn complete agent; has '.type == "tool_use_end" and (.data.agent | length) > 0'
	turn complete agent-two; check test "$(events '.data.agent // empty' | sort -u | wc -l)" = 2
	turn complete agent-bg; check test "$(events 'select(.type == "result") | .seq' | wc -l)" = 2
	turn complete maxtokens
	turn failed refusal
	for error in 529 500 429; do turn complete err-$error; has '.data.event_type? == "system/api_retry"'; done
	turn failed err-400; has '.type == "error" and (.data.message | contains("fake invalid request"))'
	turn failed err-401; turn failed err-toolong
	turn failed err-529-forever; has '.type == "error" and (.data.message | contains("529"))'
	turn complete err-mid; has '.data.partial == true'
	turn complete drop
	it "$version: an answer that breaks off behind a whole block is gone on with, or said to be an error"
	session err-mid2; chat err-mid2 'SCRIPT:err-mid2'; agrees "$(state_of err-mid2)"; has '.data.partial == true'
}
real_run
