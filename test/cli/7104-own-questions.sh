#!/bin/bash
# An agent neither answers itself nor says that it need not ask, whatever it does about its variables; and who may start
# agents may not let them run unasked.
# shellcheck disable=SC2016 # scripts are written, not expanded
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py
mkdir -p "$T/work"; db=$ARBOR_HOME/arbor.db
sql() { sqlite3 -cmd ".timeout 9000" "$db" "$1"; }
get() { jq -r "$1" "$T/out"; }
# What the agent runs, a script each; the id of its question is $1 there.
script() { printf '#!/bin/sh\nexport ARBOR_HOME=%s\nid=$(%s approvals -0 | tr "\\0" "\\n" | head -n 1)\n%s\n' "$ARBOR_HOME" "$ARBOR" "${1//arbor /$ARBOR }" >"$T/script"; chmod +x "$T/script"; }
# tries SCRIPT: by the agent of 'a', while its question waits. What it printed is in $T/out.
tries() {
	script "$1"; arbor chat a "meanwhile $T/script"; code 0
	check test "$(sql "SELECT state || ' ' || ifnull(decision, 'undecided') FROM approval ORDER BY id DESC LIMIT 1")" = 'void undecided'
}
free='env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID'
no='an agent cannot answer its own questions'
arbor new a --working-dir "$T/work"; arbor new b --working-dir "$T/work"

it "lets no agent answer itself, with its variables or without"
tries 'arbor answer $id allow'; out_has "$no"; out_has 'code 7'
tries "$free arbor answer \$id allow"; out_has "$no"
tries "$free setsid arbor answer \$id allow"; out_has "$no"
tries "($free setsid sh -c 'sleep 0.3; arbor answer \$0 allow >$T/late 2>&1' \$id &); while ! [ -s $T/late ]; do sleep 0.05; done"
check grep -q "$no" "$T/late"
tries "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"loopback.respond\",\"params\":{\"approval\":\"'\$id'\",\"decision\":\"allow\"}}' | $free arbor rpc --stdio --scopes approve"
out_has "$no"

it "lets no agent make a rule for itself, nor take one away"
arbor rule 'Bash(rm *)' deny --session a --json; code 0; rule=$(get .id)
tries 'arbor rule Bash allow --session a'; out_has "$no"
tries "$free arbor rule Bash allow --session a"; out_has "$no"
tries "$free arbor rule Bash allow"; out_has 'only for a session that has a name'
tries "$free arbor rule --delete $rule"; out_has "$no"
check test "$(sql 'SELECT count(*), sum(deleted_at IS NULL) FROM approval_rule')" = '1|1'

it "lets no agent give itself more freedom, and less whenever it likes"
for mode in acceptEdits auto bypassPermissions; do
	tries "$free arbor mode a $mode"; out_has "$no"
done
tries "$free arbor mode a plan"; out_has 'code 0'; tries "$free arbor mode a default"; out_has "$no"
check test "$("$ARBOR" call claudecode.get a | jq -r .permission_mode)" = plan
arbor mode a default; code 0

it "lets an agent answer another one, as a program and not as a person"
arbor chat b 'tool touch x' >"$T/b" 2>&1 & other=$!
for ((n = 0; n < 400; n++)); do [ "$(sql "SELECT count(*) FROM approval WHERE state = 'pending'")" = 1 ] && break; sleep 0.05; done
tries "$free arbor answer \$id allow --json"; out_has '"by":"program"'; wait $other

it "wants the scope of answers for what lets tools run unasked"
rpc() { printf '{"jsonrpc":"2.0","id":1,"method":"claudecode.%s","params":%s}\n' "$1" "$2" | "$ARBOR" rpc --stdio --scopes "$3" >"$T/out" 2>"$T/err"; }
for more in '"permission_mode":"bypassPermissions"' '"permission_mode":"acceptEdits"' '"permission_mode":"auto"' '"allowed_tools":["Bash"]' '"mcp_config":{"mcpServers":{}}'; do
	rpc create "{\"name\":\"c\",\"working_dir\":\"$T/work\",$more}" drive; out_has "needs the scope 'approve', too"
done
rpc create "{\"name\":\"c\",\"working_dir\":\"$T/work\",\"permission_mode\":\"plan\",\"disallowed_tools\":[\"Bash\"]}" drive; out_has '"result"'
for mode in default acceptEdits bypassPermissions; do rpc set_mode "{\"session\":\"c\",\"mode\":\"$mode\"}" drive; out_has "needs the scope 'approve', too"; done
for method in chat chat_async; do rpc $method '{"session":"c","prompt":"say x","allowed_tools":["Bash"]}' drive; out_has "needs the scope 'approve', too"; done
rpc set_mode '{"session":"c","mode":"acceptEdits"}' drive,approve; out_has '"result"'
rpc set_mode '{"session":"c","mode":"plan"}' drive; out_has '"result"'
the_end
