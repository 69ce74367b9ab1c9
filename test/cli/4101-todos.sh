#!/usr/bin/env bash
# What agents meant to do, from tasks and from todos of older clients.
. test/harness/lib.sh
export ARBOR_HOME=$T/store
S=$T/claude
cp -r demo "$S"
new=4e4f12db-6fa6-4fb1-9e6e-e6382d34866a old=a2a32e82-b2f3-402c-b55f-c2e87a273270
tasks=$S/tasks/$new todos=$S/todos/$old-agent-$old.json
touch -d 2026-11-10T10:00:00Z "$tasks"/*.json
touch -d 2026-11-02T21:40:00Z "$todos"
row() { printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$@"; }
arbor sync --source "$S"; code 0

it "lists what is open, what is in progress first, the last touched session first"
arbor todos; code 0
row $new 2 pending '' '' 'Migrate the orders table' >"$T/want"
row $old 3 in_progress low '' 'Mention install.sh in the README' >>"$T/want"
row $old 1 pending high '' 'Ask before removing screenrc and xinitrc' >>"$T/want"
same "$T/want" "$T/out"
err_has '2 more are done or gone; --all lists them'

it "does not wait for what is done"
arbor todos --json 4e4f; out_has '"blocked_by":["1"]'; out_lacks waits_for
on_terminal todos; out_lacks 'waits for'
sed -i 's/completed/pending/' "$tasks/1.json"; touch -d 2026-11-10T10:00:00Z "$tasks"/*.json; arbor sync --source "$S"
arbor todos --json 4e4f; out_has '"waits_for":["1"]'
on_terminal todos; out_has 'waits for 1'
cp demo/tasks/$new/1.json "$tasks/1.json"; touch -d 2026-11-10T10:00:00Z "$tasks"/*.json; arbor sync --source "$S"

it "lists what is done behind it, when asked"
arbor todos --all; code 0
check test "$(cut -f 2,3 "$T/out" | tr '\t\n' ': ')" = '2:pending 1:completed 3:in_progress 1:pending 2:completed '
check test ! -s "$T/err"

it "gives every field to programs"
arbor todos --json --all 4e4f; code 0
sed -n 2p "$T/out" >"$T/line"
printf '%s\n' '{"v":1,"session":"'$new'","handle":"'"$(grep -o 'storage@1.0.0::todo:[-0-9a-f]*' "$T/line")"'","id":"1","status":"completed","subject":"Read prices as cents in the importer","description":"src/api/import.ts:41: use cents() instead of parseFloat","active_form":"Changing the importer","blocks":["2"],"title":"Break the move to integer cents into tasks","project":"/home/dev/webshop","updated":"2026-11-10T10:00:00.000Z","root":"claude","path":"tasks/'$new'/1.json"}' >"$T/want"
same "$T/want" "$T/line"

it "lists those of a session or of a project"
for session in $old a2a3 A2A32E82B2F3; do
	arbor todos "$session"; code 0
	check test "$(cut -f 1 "$T/out" | sort -u)" = $old
done
for project in webshop /home/dev/webshop /home/dev/webshop/; do
	arbor todos --project $project; code 0
	check test "$(cut -f 1 "$T/out")" = $new
done
arbor todos --project /home; check test "$(wc -l <"$T/out")" -eq 3
arbor todos --project webs; code 1; err_has 'no session of this project'
arbor todos nonsense; code 2; err_has "'nonsense' is no session"
arbor todos abc; code 2
arbor todos @; code 1; check test ! -s "$T/out"

it "groups them by session for a person"
screen=80x20 on_terminal todos --all --color never; code 0
cat >"$T/want" <<'END'
4e4f12db  Break the move to integer cents into tasks  webshop
  [ ] 2  Migrate the orders table
  [x] 1  Read prices as cents in the importer

a2a32e82  Which of these dotfiles are still used by anything?  dotfiles
  [>] 3  Mention install.sh in the README  low
  [ ] 1  Ask before removing screenrc and xinitrc  high
  [x] 2  Compare the files with install.sh  medium
END
tr -d '\r' <"$T/out" >"$T/plain"; same "$T/want" "$T/plain"

it "sorts by number, and knows lists of sub-agents and of sessions it does not have"
for n in 9 10; do printf '{"id":"%s","subject":"number %s","status":"pending"}' $n $n >"$tasks/$n.json"; done
printf '[{"content":"deep work","status":"pending"}]' >"$S/todos/99999999-0000-4000-8000-000000000001-agent-a3ec752e2389a1f20.json"
arbor sync --source "$S"; arbor todos 4e4f; code 0
check test "$(cut -f 2 "$T/out" | tr '\n' ' ')" = '2 9 10 '
arbor todos --json 99999999; code 0
out_has '"agent":"a3ec752e2389a1f20"'; out_has '"subject":"deep work"'; out_lacks '"title"'

it "says that a file is gone, and no longer counts it as open"
rm "$tasks/9.json"; arbor sync --source "$S"
arbor todos 4e4f; check test "$(cut -f 2 "$T/out" | tr '\n' ' ')" = '2 10 '
arbor todos 4e4f --all --json; grep '"id":"9"' "$T/out" >"$T/line"; check grep -q '"vanished_at":"20' "$T/line"
on_terminal todos 4e4f --all --color never; out_has 'number 9  gone'

it "warns of files it cannot understand, and lists the others"
printf '{"id":"11","subj' >"$tasks/11.json"
printf '"a text"' >"$tasks/12.json"
printf '{"id":13,"subject":["x"],"status":7}' >"$tasks/13.json"
printf '{"id":"14","subject":"a\\u001b[31m\\nb","status":"pending","blockedBy":["14"]}' >"$tasks/14.json"
: >"$tasks/15.json"
arbor sync --source "$S"; arbor todos 4e4f; code 0
err_has 'tasks/4e4f12db-6fa6-4fb1-9e6e-e6382d34866a/11.json'; err_has '12.json: neither a task nor a list'
check test "$(cut -f 2,3 "$T/out" | tr '\t\n' ': ')" = '2:pending 10:pending 14:pending 13:unknown '
out_has 'a␛[31m␊b'

it "says so when nothing is open"
rm -r "$S/tasks" "$S/todos"; arbor sync --source "$S"
arbor todos; code 1; check test ! -s "$T/out"; err_has 'nothing is open'; err_lacks warning

# Lines of a transcript: a call of a tool by its id, its result, and either inside a progress line of a sub-agent.
id=77777777-0000-4000-8000-0000000000
call() { # SECOND ID TOOL INPUT [REST]
	printf '{"type":"assistant","uuid":"%sc","sessionId":"s","cwd":"/w/told","timestamp":"2026-11-01T00:00:%s.000Z","message":{"id":"m%s","role":"assistant","content":[{"type":"tool_use","id":"%s","name":"%s","input":%s}]}%s}\n' \
		"$2" "$1" "$2" "$2" "$3" "$4" "$5"
}
made() { # SECOND ID TASK
	printf '{"type":"user","uuid":"%sr","sessionId":"s","cwd":"/w/told","timestamp":"2026-11-01T00:00:%s.500Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"Task #%s created successfully: x"}]},"toolUseResult":{"task":{"id":"%s","subject":"x"}}}\n' \
		"$2" "$1" "$2" "$3" "$3"
}
inside() { # SECOND ID TOOL INPUT
	printf '{"type":"progress","uuid":"%sp","parentUuid":null,"isSidechain":false,"sessionId":"s","cwd":"/w/told","timestamp":"2026-11-01T00:00:%s.000Z","toolUseID":"agent_msg_x","parentToolUseID":"task","data":{"type":"agent_progress","agentId":"a1b2c3d","message":{"type":"assistant","uuid":"%sq","timestamp":"2026-11-01T00:00:%s.000Z","message":{"id":"n%s","role":"assistant","content":[{"type":"tool_use","id":"%s","name":"%s","input":%s}]}}}}\n' \
		"$2" "$1" "$2" "$1" "$2" "$2" "$3" "$4"
}
mkdir -p "$T/told/projects/-w"

it "takes the last list of a transcript where the client has kept none"
{
	call 01 l1 TodoWrite '{"todos":[{"content":"first","status":"pending"}]}'
	call 02 l2 TodoWrite '{"todos":[{"content":"first","status":"completed"},{"content":"second","status":"in_progress","activeForm":"doing"},{"content":"third","status":"pending"}]}'
	inside 03 l3 TodoWrite '{"todos":[{"content":"of a sub-agent","status":"pending"}]}'
	call 04 l4 TodoWrite '{"todos":[{"content":"of another","status":"pending"}]}' ',"isSidechain":true'
} >"$T/told/projects/-w/${id}01.jsonl"
export ARBOR_HOME=$T/told.db
arbor sync --source "$T/told"; arbor todos; code 0
row ${id}01 '' in_progress '' '' second >"$T/want"; row ${id}01 '' pending '' '' third >>"$T/want"; same "$T/want" "$T/out"
err_has '1 more is done'
arbor todos --json 77777777; out_has '"active_form":"doing"'; out_has '"path":"projects/-w/'; out_has '"updated":"2026-11-01T00:00:02'
arbor resolve "$(grep -o '"handle":"[^"]*"' "$T/out" | head -1 | cut -d '"' -f 4)"; code 0; out_has TodoWrite
arbor todos --project told -a; check test "$(wc -l <"$T/out")" -eq 3
arbor context /w/told; out_has '- 2026-11-01 second [77777777], in_progress'; out_lacks 'of a sub-agent'

it "does again what was done to tasks one by one, by sub-agents too"
{
	call 11 t1 TaskCreate '{"subject":"seventh","description":"at length"}'
	made 11 t1 7
	call 12 t2 TaskCreate '{"subject":"without result"}'
	call 13 t3 TaskCreate '{"subject":"dropped"}'
	made 13 t3 9
	call 14 t4 TaskCreate '{"subject":"tenth"}'
	made 14 t4 10
	call 15 t5 TaskUpdate '{"taskId":"7","status":"in_progress"}'
	inside 16 t6 TaskUpdate '{"taskId":"8","status":"completed"}'
	call 17 t7 TaskUpdate '{"taskId":"9","status":"deleted"}'
	call 18 t8 TaskUpdate '{"taskId":"10","subject":"tenth, renamed","addBlockedBy":["7"]}'
	call 19 t9 TaskUpdate '{"taskId":"99","status":"completed"}'
} >"$T/told/projects/-w/${id}02.jsonl"
arbor sync --source "$T/told"; arbor todos ${id}02 --all; code 0
row ${id}02 7 in_progress '' '' seventh >"$T/want"; row ${id}02 10 pending '' 7 'tenth, renamed' >>"$T/want"
row ${id}02 8 completed '' '' 'without result' >>"$T/want"; same "$T/want" "$T/out"
arbor todos ${id}02 --json; out_has '"description":"at length"'

it "believes the files where there are any"
mkdir -p "$T/told/todos" && printf '[]' >"$T/told/todos/${id}01-agent-${id}01.json"
arbor sync --source "$T/told"; arbor todos ${id}01; code 1; err_has 'nothing is open'
the_end
