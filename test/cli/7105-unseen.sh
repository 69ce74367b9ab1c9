#!/bin/bash
# What agents are told is in no list of processes, and in no log.
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py
mkdir -p "$T/work"; db=$ARBOR_HOME/arbor.db
secret=walrus-$$ log=$T/log.txt
# until_event TYPE N: what is at work has N events of a type.
until_event() {
	for ((n = 0; n < 400; n++)); do
		[ "$(sqlite3 -cmd '.timeout 9000' "$db" "SELECT count(*) FROM event WHERE type = '$1' AND stream IN (SELECT id FROM stream WHERE ended_at IS NULL)")" -ge "$2" ] && return
		sleep 0.05
	done
	fail "never $2 of $1"
}
# unseen PID: it runs, and what it was called with does not have the secret; nor has anybody else.
unseen() {
	check grep -qz "$ARBOR" "/proc/$1/cmdline"
	! grep -lF "$secret" /proc/[0-9]*/cmdline 2>/dev/null || { fail 'the list of processes shows it'; tr '\0' ' ' <"/proc/$1/cmdline"; }
}
unlogged() { check test -e "$log"; ! grep -F "$secret" "$log" || fail 'the log has it'; rm -f "$log"; }

it "keeps what a session is made with out of the log"
arbor new a --working-dir "$T/work" --system-prompt "be brief $secret" --mcp-config "{\"mcpServers\":{\"x\":{\"env\":{\"K\":\"$secret\"}}}}" --log "$log"; code 0
check test "$("$ARBOR" call claudecode.get a | jq -r '[.system_prompt, .mcp_config.mcpServers.x.env.K] | join("|")')" = "be brief $secret|$secret"
unlogged
printf 'from outside' | "$ARBOR" new b --working-dir "$T/work" --system-prompt - >"$T/out"
printf '{"mcpServers":{"y":{}}}' | "$ARBOR" new c --working-dir "$T/work" --mcp-config - >"$T/out"
check test "$("$ARBOR" call claudecode.get c | jq -c .mcp_config)" = '{"mcpServers":{"y":{}}}'

it "shows a prompt neither while it is followed nor afterwards, and yet the client hears it"
"$ARBOR" chat a "wait $secret" --log "$log" >"$T/said" 2>&1 & pid=$!
until_event user_message 1; unseen $pid
arbor queue a "more $secret" --log "$log"; code 0; wait $pid
unlogged; check grep -q "wait $secret" "$T/work/told.jsonl"; check grep -q "more $secret" "$T/said"
printf 'say %s' "$secret" | "$ARBOR" chat a - --log "$log" >"$T/said"; unlogged; check grep -q "$secret" "$T/said"

it "nor by any other way of giving it"
by() {
	"$ARBOR" "$@" --log "$log" >"$T/said" 2>&1 & pid=$!
	until_event user_message 1; unseen $pid
	arbor stop a; code 0; wait $pid; unlogged
}
by chat a "--prompt=leave $secret"
by call claudecode.chat a --prompt "leave $secret"
by call claudecode.chat "{\"session\":\"a\",\"prompt\":\"leave $secret\"}"

it "nor when it is gone on with, or followed again"
"$ARBOR" continue a "wait $secret" --log "$log" >"$T/said" 2>&1 & pid=$!
until_event user_message 1; unseen $pid
"$ARBOR" attach a --log "$T/other.txt" >"$T/followed" 2>&1 & other=$!
arbor queue a "more $secret"; wait $pid $other; unlogged
check grep -q "$secret" "$T/followed"; ! grep -F "$secret" "$T/other.txt" || fail 'the log has it'

it "nor what a tool wants, when it is answered"
"$ARBOR" chat a "tool echo $secret" >"$T/said" 2>&1 & pid=$!
until_event awaiting_approval 1; unseen $pid
arbor answer "$("$ARBOR" approvals -0 | tr '\0' '\n')" allow --log "$log"; code 0; wait $pid; unlogged

it "keeps a log of what changes the store all the same"
arbor sync -q --source demo --log "$log"; code 0; check grep -q ' result {' "$log"
the_end
