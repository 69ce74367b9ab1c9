#!/bin/bash
# May this tool run? Asked, shown, answered once, by people, programs and rules.
. test/harness/lib.sh
export ARBOR_HOME=$T/store USER=ada
db=$ARBOR_HOME/arbor.db

get() { jq -r "$1" "$T/out"; }
until_sql() { for _ in $(seq 400); do [ "$(sqlite3 "$db" "$1" 2>/dev/null)" = "$2" ] && return; sleep 0.025; done; fail "never: $1"; }
pending() { until_sql "SELECT count(*) FROM approval WHERE state = 'pending'" "$1"; }
# ask N TOOL INPUT [OPTION...]: in the background; its answer goes to $T/answer.N, its process is $asker.
ask() {
	local n=$1 tool=$2 input=$3; shift 3
	"$ARBOR" call loopback.permit "$tool" --input "$input" "$@" >"$T/answer.$n" 2>"$T/asked.$n" & asker=$!
}
bash_input() { jq -cn --arg c "$1" '{command: $c}'; }
answer_of() { jq -c .answer "$T/answer.$1"; }

it "has nothing to ask at first, and makes nothing by looking"
arbor sync -q --source demo --project /home/dev/webshop; code 0 # in which nothing was forked
arbor approvals; code 1; err_has 'nothing waits for an approval'
arbor rules; code 1; err_has 'no rules'
check test "$(sqlite3 "$db" 'PRAGMA user_version')" = 1

it "asks, waits, and hands over what a person says"
ask 1 Bash "$(bash_input 'touch a')" --cwd /work --tool_use_id toolu_1; pending 1
arbor approvals --json; code 0; id=$(get .id)
check test "$(get '[.state, .tool, .what, .cwd, .tool_use_id] | join("|")')" = 'pending|Bash|touch a|/work|toolu_1'
arbor approvals answer "${id:0:8}" allow; code 0
wait $asker; check test $? = 0
check test "$(answer_of 1)" = '{"behavior":"allow","updatedInput":{"command":"touch a"}}'
arbor approvals "$id" --json; check test "$(get '[.state, .decision, .by, .by_name] | join("|")')" = 'delivered|allow|person|ada'

it "tells who comes second who was first, and changes nothing"
arbor answer "$id" deny; code 10; err_has 'has been answered: allow, by person ada'
check test "$(sqlite3 "$db" "SELECT decision FROM approval")" = allow

it "denies with a reason, and ends the turn if it is to"
ask 2 Bash "$(bash_input 'rm x')"; pending 1
arbor answer "$(sqlite3 "$db" "SELECT substr(hex(approval_id), 1, 8) FROM approval WHERE state = 'pending'")" deny -m 'not "x"' --interrupt; code 0
wait $asker
check test "$(answer_of 2)" = '{"behavior":"deny","message":"not \"x\"","interrupt":true}'

last() { sqlite3 "$db" "SELECT lower(substr(hex(approval_id), 1, 8)) FROM approval WHERE state = 'pending' ORDER BY id DESC LIMIT 1"; }

it "runs what was changed instead, and keeps both"
ask 3 Bash "$(bash_input 'rm -rf /')"; pending 1; id=$(last)
arbor answer "$id" deny --input '{}'; code 2; err_has 'only who allows'
arbor answer "$id" allow --input '[1]'; code 2
jq -n '{command: "rm -rf build"}' | "$ARBOR" answer "$id" allow --input - >"$T/out" 2>"$T/err"; rc=$?; code 0 # on several lines
wait $asker; check test "$(answer_of 3)" = '{"behavior":"allow","updatedInput":{"command":"rm -rf build"}}'; check test "$(wc -l <"$T/answer.3")" = 1
arbor approvals "$id" --json; check test "$(get '[.input.command, .edited_input.command] | join("|")')" = 'rm -rf /|rm -rf build'

it "lets a person answer what they are asked, and nothing else"
ask 4 AskUserQuestion '{"questions":[{"question":"Which?"}]}'; pending 1; id=$(last)
arbor answer "$id" allow; code 2; err_has 'say what with --answers'
arbor answer "$id" allow --answers '{"Which?":"B"}'; code 0
wait $asker; check test "$(answer_of 4)" = '{"behavior":"allow","updatedInput":{"questions":[{"question":"Which?"}],"answers":{"Which?":"B"}}}'
arbor rule AskUserQuestion allow; code 2; err_has 'no rule can answer'

it "makes a rule of 'always', which answers what waits and what comes"
session=11111111-2222-4333-8444-555555555555
ask 5 Bash "$(bash_input 'make test')" --claude_session $session
ask 6 Bash "$(bash_input 'make test')" --claude_session $session; second=$asker
pending 2
arbor answer "$(last)" allow --always --json; code 0
check test "$(get .also_answered)" = 1
wait $second; wait
check test "$(answer_of 5)$(answer_of 6)" = "$(answer_of 5)$(answer_of 5)"
arbor call loopback.permit Bash --input "$(bash_input 'make test')" --claude_session $session; code 0
check test "$(get '[.decision, .by] | join(" ")')" = 'allow rule'
arbor rules; code 0; out_has 'Bash(make test)'; out_has $session
ask 7 Bash "$(bash_input 'make test')"; pending 1 # another session
arbor answer "$(last)" allow --always; code 2; err_has 'which session asks is not known'
arbor answer "$(last)" allow; wait

it "makes no rule of 'always' that would mean more than was asked, unless a pattern says so"
for asks in 'mcp__db__query {"sql":"SELECT 1"}' 'WebFetch {"url":"https://example.com/x"}' 'Bash {"command":"ls","dangerouslyDisableSandbox":true}'; do
	ask 7 "${asks%% *}" "${asks#* }" --claude_session $session; pending 1
	arbor answer "$(last)" allow --always; code 2; err_has 'no rule for exactly this'
	arbor answer "$(last)" allow; code 0; wait
done
ask 7 mcp__db__query '{"sql":"DROP TABLE users"}' --claude_session $session; pending 1
arbor answer "$(last)" deny --always --pattern '*' --json; code 0; arbor rules; out_has mcp__db__query; wait
ask 7 ExitPlanMode '{"plan":"all"}' --claude_session $session; pending 1
for pattern in '' --pattern=*; do
	# shellcheck disable=SC2086 # one word or none
	arbor answer "$(last)" allow --always $pattern; code 2; err_has 'cannot be answered always'
done
arbor answer "$(last)" allow; code 0; wait

it "denies what a rule denies, whatever another allows"
arbor rule 'Bash(git *)' allow; code 0
arbor rule 'Bash(git push *)' deny -m 'ask Ada'; code 0; id=$(sed -n 's/^id.//p' "$T/out")
arbor call loopback.permit Bash --input "$(bash_input 'git push origin')"; check test "$(jq -c .answer "$T/out")" = '{"behavior":"deny","message":"ask Ada"}'
arbor call loopback.permit Bash --input "$(bash_input 'git status')"; check test "$(get .decision)" = allow
arbor rule --delete "$id"; code 0
arbor call loopback.permit Bash --input "$(bash_input 'git push origin')"; check test "$(get .decision)" = allow
ask 8 Bash "$(bash_input 'git status; rm -rf ~')"; pending 1
arbor rule 'Bash(git status*)' ask; code 0
arbor answer "$(last)" deny; wait
for rule in '' 'Bash(' 'Ba sh' 'mcp__x__y(a)' 'WebFetch(x)'; do arbor rule "$rule" deny; code 2; done
arbor rule Bash; code 2; err_has 'what is answered?'
arbor rule Bash maybe; code 2

it "lets nobody put in the place of a command what a rule denies; who wants it takes the rule away"
arbor rule 'Bash(rm *)' deny --json; code 0; rule=$(get .id)
ask 8 Bash "$(bash_input 'ls build')"; pending 1; id=$(last)
arbor answer "$id" allow --input '{"command":"sudo rm -rf build"}'; code 7; err_has "a rule denies that: Bash(rm *); 'arbor rule --delete ${rule:0:8}' takes it away"
pending 1; arbor rule --delete "${rule:0:8}"; code 0
arbor answer "$id" allow --input '{"command":"sudo rm -rf build"}'; code 0; wait

it "denies what nobody answers in time, if that is wanted"
arbor call loopback.permit Bash --input "$(bash_input 'sleep 1')" --expires 1; code 0
check test "$(get '[.decision, .by, .answer.message] | join("|")')" = 'deny|expiry|nobody answered in time'
ARBOR_APPROVALS_EXPIRE=1 arbor call loopback.permit Bash --input "$(bash_input 'sleep 2')"; check test "$(get .by)" = expiry

it "withdraws a question when its call is cancelled, and closes one whose asker was killed"
ask 9 Bash "$(bash_input one)"; pending 1; id=$(last); kill -TERM $asker; wait $asker 2>/dev/null
check test "$(sqlite3 "$db" "SELECT void_reason FROM approval ORDER BY id DESC LIMIT 1")" = withdrawn
arbor answer "$id" allow; code 10; err_has 'is void: who asked does not want to know'
ask 10 Bash "$(bash_input two)"; pending 1; id=$(last); kill -KILL $asker; wait $asker 2>/dev/null
arbor answer "$id" allow; code 10; err_has 'is void: who asked is gone'
arbor approvals; code 1

it "waits for questions, and for answers"
arbor call loopback.wait --timeout 0; code 0; check test "$(get '[.timed_out, (.approvals | length)] | map(tostring) | join(" ")')" = 'true 0'
"$ARBOR" call loopback.wait --timeout 60 >"$T/waited" & waiter=$!
ask 11 Bash "$(bash_input three)"
wait $waiter; check test "$(jq -r '[.timed_out, .approvals[0].what] | map(tostring) | join(" ")' "$T/waited")" = 'false three'
id=$(last)
"$ARBOR" call loopback.wait "$id" --timeout 60 >"$T/waited" & waiter=$!
arbor answer "$id" deny; code 0
wait $waiter; check test "$(jq -r '.approvals[0].decision' "$T/waited")" = deny
wait

it "lets a program answer only for sessions that have a name here, and make no rules beyond them"
"$BUILD/tool/plant" "$db" || fail 'no session'
ask 12 Bash "$(bash_input four)"; until_sql "SELECT count(*) FROM approval WHERE state = 'pending'" 2; id=$(last)
CLAUDECODE=1 arbor answer "$id" allow; code 7; err_has 'only for a session that has a name'
CLAUDECODE=1 arbor rule Bash allow; code 7
CLAUDECODE=1 arbor answer a5ced000 allow --always=everywhere; code 7
CLAUDECODE=1 arbor answer a5ced000 allow --always; code 0
arbor approvals a5ced000 --json; check test "$(get .by)" = program
printf '{"jsonrpc":"2.0","id":1,"method":"loopback.respond","params":{"approval":"%s","decision":"allow"}}\n' "$id" >"$T/request"
"$ARBOR" rpc --stdio <"$T/request" >"$T/out"; out_has "needs the scope 'approve'"
"$ARBOR" rpc --stdio --scopes approve <"$T/request" >"$T/out"; out_has 'only for a session that has a name'
arbor answer "$id" deny; code 0; wait

it "lets no agent answer itself"
session=22222222-2222-4333-8444-555555555555
sqlite3 "$db" "UPDATE session SET claude_session_id = x'22222222222243338444555555555555'"
ask 13 Bash "$(bash_input five)" --claude_session $session; pending 1; id=$(last)
CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=$session arbor answer "$id" allow; code 7; err_has 'cannot answer its own'
CLAUDECODE=1 arbor answer "$id" allow; code 0; wait $asker
arbor approvals "$id" --json; check test "$(get '[.name, .by] | join(" ")')" = 'fix-tests program'

it "tells the run's stream, where there is one"
"$BUILD/tool/plant" "$db" slow 1 3000 & writer=$!
until_sql "SELECT count(*) FROM session WHERE name = 'slow'" 1
ask 14 Bash "$(bash_input six)" --session slow; pending 1
arbor call claudecode.poll slow; check test "$(get '[.state, .events[-1].type, .events[-1].data.input.command] | join(" ")')" = 'awaiting_permission awaiting_approval six'
arbor answer "$(last)" allow; wait $asker
arbor call claudecode.poll slow; check test "$(get '[.state, .events[-1].type, .events[-1].data.approved] | map(tostring) | join(" ")')" = 'running approval_resolved true'
arbor call loopback.permit Bash --input "$(bash_input 'git log')" --session slow; code 0
arbor call claudecode.poll slow; check test "$(get '[.events[-2:][] | .type] | join(" ")')" = 'awaiting_approval approval_resolved'
check test "$(get '.events[-1].data.by')" = rule
wait $writer

it "shows what would run, whole where it is asked for, on 80 columns"
screen=80x24
ask 15 Write "$(jq -cn '{file_path: "/work/a.c", content: ([range(40) | "line \(.)"] | join("\n"))}')" --cwd /work
ask 16 Bash "$(bash_input "$(printf 'echo 1\n%.0s' $(seq 30))")"; pending 2
on_terminal approvals --no-pager --color never; code 0
out_has '/work/a.c'; out_has 'and 24 more lines, shown with its id'
awk 'length($0) > 81 { exit 1 }' "$T/out" || fail 'a line is too wide'
on_terminal approvals --no-pager "$(last)"; check test "$(grep -c 'echo 1' "$T/out")" = 30
on_terminal approvals --no-pager "$(sqlite3 "$db" "SELECT lower(substr(hex(approval_id), 1, 8)) FROM approval WHERE tool_name = 'Write'")"
out_has 'line 39'; out_has 'content:'

it "filters what could act on the terminal out of what it shows"
ask 17 Bash "$(jq -cn '{command: "echo \u001b[2J\u202e x\u0007", description: "\u001b]0;t\u0007"}')"; pending 3; id=$(last)
for args in '' "$id"; do
	# shellcheck disable=SC2086 # one word or none
	on_terminal approvals $args --no-pager --color never; out_has '␛[2J<U+202E>'
	check test "$(LC_ALL=C tr -d '\n\r\040-\176\200-\377' <"$T/out" | wc -c)" = 0
done
for _ in 1 2 3; do arbor answer "$(last)" deny; done; wait

it "resolves and renders handles of questions"
arbor approvals a5ced000 --json; handle=$(get .handle)
arbor resolve "$handle" --json; code 0; check test "$(get .data.what)" = 'npm test -- prices'
arbor render "$handle"; code 0; out_has 'allow by program ada'
arbor resolve "loopback@1.0.0::approval:a5ced000-0000-4000-8000-000000000001:Read"; code 9; err_has "is about 'Bash'"

it "says how a client is told to ask"
arbor call loopback.configure; code 0
check test "$(get .permission_prompt_tool)" = mcp__arbor__permit
check test "$(get '.mcp_config.mcpServers.arbor.args | join(" ")')" = 'mcp --approve'
the_end
