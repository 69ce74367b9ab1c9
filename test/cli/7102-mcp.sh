#!/bin/bash
# The permission tool of clients that Arbor did not start: it asks, waits as long as they do, and cannot answer.
. test/harness/lib.sh
export ARBOR_HOME=$T/store USER=ada
db=$ARBOR_HOME/arbor.db
session=33333333-2222-4333-8444-555555555555

get() { jq -r "$1" "$T/out"; }
until_sql() { for _ in $(seq 400); do [ "$(sqlite3 "$db" "$1" 2>/dev/null)" = "$2" ] && return; sleep 0.025; done; fail "never: $1"; }
pending() { until_sql "SELECT count(*) FROM approval WHERE state = 'pending'" "$1"; }
one() { sqlite3 "$db" "SELECT lower(substr(hex(approval_id), 1, 8)) FROM approval WHERE state = 'pending' AND input LIKE '%$1%'"; }
# A server of our own: what is sent goes to its input, hear reads a line of its output into $T/out.
begin() { # OPTION...
	mkdir -p "$T/work"; rm -f "$T/in" "$T/from"; mkfifo "$T/in" "$T/from"
	(cd "$T/work" && exec env CLAUDE_CODE_SESSION_ID=$session "$ARBOR" mcp --approve "$@" <"$T/in" >"$T/from" 2>"$T/err") & server=$!
	exec 7>"$T/in" 8<"$T/from"
}
send() { printf '%s\n' "$1" >&7; }
hear() { IFS= read -r -t 30 line <&8 || fail 'no answer'; printf '%s\n' "$line" >"$T/out"; }
end() { exec 7>&-; wait $server; rc=$?; exec 8<&-; }
permit() { send "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"tools/call\",\"params\":{\"name\":\"permit\",\"arguments\":{\"tool_name\":\"Bash\",\"input\":{\"command\":\"$2\"},\"tool_use_id\":\"toolu_$1\"},\"_meta\":{\"progressToken\":$1}}}"; }

it "shakes hands, and offers one tool"
begin
send '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'; hear
check test "$(get '[.id, .result.protocolVersion, .result.serverInfo.name] | map(tostring) | join(" ")')" = '0 2025-06-18 arbor'
send '{"jsonrpc":"2.0","method":"notifications/initialized"}'
send '{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"1999-01-01"}}'; hear; check test "$(get .result.protocolVersion)" = 2025-11-25
send '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'; hear; check test "$(get '[.result.tools[].name] | join(" ")')" = permit
send '{"jsonrpc":"2.0","id":2,"method":"ping"}'; hear; check test "$(jq -c .result "$T/out")" = '{}'

it "asks, and answers with one text that is the answer"
permit 3 'touch a'; pending 1
arbor approvals --json; check test "$(get '[.what, .claude_session, .cwd, .tool_use_id] | join("|")')" = "touch a|$session|$T/work|toolu_3"
arbor answer "$(one touch)" allow; code 0; hear
check test "$(get '[.id, (.result.content | length), .result.content[0].type, (.result | has("isError"))] | map(tostring) | join(" ")')" = '3 1 text false'
check test "$(get '.result.content[0].text')" = '{"behavior":"allow","updatedInput":{"command":"touch a"}}'

it "asks several at once, and each gets its own answer"
permit 4 'one'; permit 5 'two'; permit 6 'three'; pending 3
arbor answer "$(one two)" deny -m no; hear; check test "$(get '[.id, .result.content[0].text] | map(tostring) | join(" ")')" = '5 {"behavior":"deny","message":"no"}'
arbor answer "$(one three)" allow; hear; check test "$(get .id)" = 6
arbor answer "$(one one)" allow; hear; check test "$(get .id)" = 4

it "lets rules answer"
arbor rule 'Bash(git *)' allow; permit 7 'git log'; hear
check test "$(get '[.id, (.result.content[0].text | fromjson | .behavior)] | map(tostring) | join(" ")')" = '7 allow'

it "withdraws what the client cancels, and says nothing more of it"
permit 8 'eight'; pending 1
send '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8,"reason":"the user did"}}'
until_sql "SELECT void_reason FROM approval ORDER BY id DESC LIMIT 1" withdrawn
send '{"jsonrpc":"2.0","id":9,"method":"ping"}'; hear; check test "$(get .id)" = 9

it "has no way to answer, whatever it is sent"
permit 10 'ten'; pending 1; id=$(one ten)
for m in loopback.respond loopback.rule_add respond tools/respond hub.call arbor.node_get; do
	send "{\"jsonrpc\":\"2.0\",\"id\":11,\"method\":\"$m\",\"params\":{\"approval\":\"$id\",\"decision\":\"allow\",\"rule\":\"Bash\"}}"; hear
	check test "$(get .error.code)" = -32601
done
for tool in respond loopback.respond rule_add ''; do
	send "{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"tools/call\",\"params\":{\"name\":\"$tool\",\"arguments\":{\"approval\":\"$id\",\"decision\":\"allow\"}}}"; hear
	check test "$(get .error.code)" = -32602
done
for args in '{}' '{"tool_name":"Bash"}' '{"tool_name":"Bash","input":"ls"}' '{"tool_name":1,"input":{}}' '[]' 'null'; do
	send "{\"jsonrpc\":\"2.0\",\"id\":13,\"method\":\"tools/call\",\"params\":{\"name\":\"permit\",\"arguments\":$args}}"; hear
	check test "$(get .error.code)" = -32602
done
send "{\"jsonrpc\":\"2.0\",\"id\":14,\"method\":\"tools/call\",\"params\":{\"name\":\"permit\",\"arguments\":{\"tool_name\":\"\",\"input\":{}}}}"; hear
check test "$(get .result.isError)" = true
send 'no JSON'; hear; check test "$(get .error.code)" = -32700
check test "$(sqlite3 "$db" "SELECT count(*) FROM approval WHERE state = 'pending'")" = 1

it "ends with its client, and withdraws what was asked"
end; code 0
check test "$(sqlite3 "$db" "SELECT void_reason FROM approval ORDER BY id DESC LIMIT 1")" = withdrawn

it "waits through whatever happens to the store meanwhile, and is gone when it is killed"
begin; permit 20 'twenty'; pending 1
arbor sync -q --source demo; code 0; arbor check; code 0
arbor answer "$(one twenty)" allow; hear; check test "$(get .id)" = 20
permit 21 'more'; pending 1; kill -9 $server; wait $server 2>/dev/null; exec 7>&- 8<&-
arbor approvals; code 1
check test "$(sqlite3 "$db" "SELECT void_reason FROM approval ORDER BY id DESC LIMIT 1")" = lost

it "asks in the name of a session, and tells its stream"
"$BUILD/tool/plant" "$db" slow 1 3000 & writer=$!
until_sql "SELECT count(*) FROM session WHERE name = 'slow'" 1
begin --session slow; permit 30 'thirty'; pending 1
arbor call claudecode.poll slow; check test "$(get '.events[-1].type')" = awaiting_approval
arbor answer "$(one thirty)" deny; hear; end; wait $writer
begin --session nobody; permit 31 'x'; hear; check test "$(get .result.isError)" = true; end

it "wants to be told what it is for"
arbor mcp; code 2; err_has --approve
the_end
