#!/bin/bash
# Agents: sessions made, prompts given, followed, interrupted, queued, cancelled; with a client that does what its
# prompt says (test/harness/claude.py).
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py
export SECRET_THING=secret-of-the-test ANTHROPIC_API_KEY=key-of-the-test
mkdir -p "$T/work" "$T/other"; db=$ARBOR_HOME/arbor.db
call() { arbor call "claudecode.$1" "$2" --json; }
sql() { sqlite3 -cmd '.timeout 10000' "$db" "$1"; }
get() { jq -r "$1" "$T/out"; }
state() { "$ARBOR" call claudecode.streams "{\"session\":\"$1\",\"limit\":1}" --json | jq -r .state; }
# Waits until a session's last stream is in a state, at most some seconds.
until_state() { for ((n = 0; n < 400; n++)); do [ "$(state "$1")" = "$2" ] && return; sleep 0.05; done; fail "$1 is $(state "$1"), wanted $2"; }
# Waits until the client has said that it has the prompt.
until_taken() {
	for ((n = 0; n < 400; n++)); do
		"$ARBOR" call claudecode.tail "{\"stream\":\"$1\",\"replay\":true}" --json 2>/dev/null | grep -q '"type":"user_message"' && return
		sleep 0.05
	done
	fail "$1 has not begun"
}

it "makes a session, shows it, lists it, and gives it another name"
call create "{\"name\":\"a\",\"working_dir\":\"$T/work\",\"model\":\"opus\",\"allowed_tools\":[\"Read\",\"Bash(ls:*)\"],\"mcp_config\":{\"mcpServers\":{\"x\":{\"env\":{\"K\":\"mcp-key\"}}}}}"; code 0
check test "$(get '[.name, .model, .working_dir, .allowed_tools[1]] | join(" ")')" = "a opus $T/work Bash(ls:*)"
call create '{"name":"a"}'; code 10; err_has "called 'a' already"
call create '{"name":"b","working_dir":"/no/such/folder"}'; code 1; err_has 'there is no folder'
call create '{"name":"bad name"}'; code 2
call create "{\"name\":\"b\",\"working_dir\":\"$T/other\"}"; code 0
call list '{}'; check test "$(get .name | tr '\n' ' ')" = 'a b '
call rename '{"session":"b","name":"c"}'; code 0; call get '{"session":"c"}'; check test "$(get .working_dir)" = "$T/other"
call get '{"session":"b"}'; code 1; err_has "no session is called 'b'"

it "gives a prompt to an agent and every event to who asked"
call chat '{"session":"a","prompt":"say Hello you"}'; code 0
check test "$(get 'select(.type == "content_delta") | .data.text' | tr -d '\n')" = 'Hello you'
check test "$(get .type | head -n 1)" = start; check test "$(get .type | tail -n 1)" = complete
check test "$(get 'select(.type == "complete") | .data.total_cost_usd')" = 0.25
check test "$(get .seq | awk '$1 != NR { bad = 1 } END { print bad + 0 }')" = 0
head=$(get 'select(.type == "complete") | .data.new_head') claude=$(get 'select(.type == "complete") | .data.claude_session_id')
call get '{"session":"a"}'; check test "$(get '[.head, .claude_session_id] | join(" ")')" = "$head $claude"

it "puts neither prompt nor keys among the words of the client, nor our environment into its own"
call chat '{"session":"a","prompt":"say hidden-words"}'; code 0
jq -r '.argv | join(" ")' "$T/work/seen.json" >"$T/argv"; jq -r '.env | keys | join(" ")' "$T/work/seen.json" >"$T/env"
check grep -q -- "--resume $claude" "$T/argv"; check grep -q -- '--model opus' "$T/argv"; check grep -qF -- '--allowedTools Read,Bash(ls:*)' "$T/argv"
! grep -E 'hidden-words|mcp-key|key-of-the-test' "$T/argv" || fail 'the list of processes shows it'
check grep -q ANTHROPIC_API_KEY "$T/env"; ! grep -q SECRET_THING "$T/env" || fail 'it got our environment'

it "hands keys and system prompts to the client alone, and leaves no file of them"
cat >"$T/reads" <<END
#!/bin/bash
while [ \$# != 0 ]; do case \$1 in --mcp-config) cat "\$2" >mcp ;; --system-prompt-file) cat "\$2" >system; ls -l /proc/self/fd >fds ;; esac; shift; done
sleep 1000
END
chmod +x "$T/reads"; mkdir "$T/keys"
call create "{\"name\":\"keys\",\"working_dir\":\"$T/keys\",\"system_prompt\":\"be secret\",\"mcp_config\":{\"mcpServers\":{\"x\":{\"env\":{\"K\":\"mcp-key\"}}}}}"; code 0
ARBOR_CLAUDE=$T/reads call chat_async '{"session":"keys","prompt":"x"}'; code 0
for ((n = 0; n < 400; n++)); do [ -s "$T/keys/fds" ] && [ -s "$T/keys/mcp" ] && break; sleep 0.05; done
check test "$(cat "$T/keys/system")" = 'be secret'; check grep -q mcp-key "$T/keys/mcp"; ! grep memfd "$T/keys/fds" || fail 'its own children get it, too'
kill -9 "$(sql 'SELECT lease_pid FROM run WHERE ended_at IS NULL')"; until_state keys interrupted
! grep -rlE 'mcp-key|be secret' "$T" --exclude-dir=store --exclude-dir=keys --exclude=out || fail 'a file with keys is left'
call delete '{"session":"keys"}'; code 0

it "lets one prompt have fewer turns and more tools, and no other"
call chat '{"session":"a","prompt":"say brief","max_turns":3,"allowed_tools":["Bash(make *)","WebFetch"]}'; code 0
jq -r '.argv | join(" ")' "$T/work/seen.json" >"$T/argv"
check grep -qF -- '--allowedTools Read,Bash(ls:*),Bash(make *),WebFetch' "$T/argv"; check grep -qF -- '--max-turns 3' "$T/argv"
call chat '{"session":"a","prompt":"say long"}'; jq -r '.argv | join(" ")' "$T/work/seen.json" >"$T/argv"
check grep -qE -- '--allowedTools Read,Bash\(ls:\*\) ' "$T/argv"; ! grep -q -- --max-turns "$T/argv" || fail 'the session keeps it'
call chat '{"session":"a","prompt":"say x","max_turns":0}'; code 2

it "starts an agent that goes on without who asked"
call chat_async '{"session":"a","prompt":"wait for it"}'; code 0; check test "$(get '[.state, .again] | map(tostring) | join(" ")')" = 'running false'
stream=$(get .stream)
until_taken a
call chat '{"session":"a","prompt":"say too soon"}'; code 6; err_has 'is at work'
call delete '{"session":"a"}'; code 6
call queue "{\"stream\":\"$stream\",\"prompt\":\" \"}"; code 2
call queue "{\"stream\":\"$stream\",\"prompt\":\"and that\"}"; code 0; check test "$(get .done)" = true
call tail "{\"stream\":\"$stream\"}"; code 0
check test "$(get 'select(.type == "content_delta") | .data.text' | tr -d '\n')" = 'and: and that'
check test "$(state a)" = complete

it "interrupts a turn, and ends an agent with all it has started"
call chat_async '{"session":"a","prompt":"wait for it"}'; until_taken a
call interrupt '{"stream":"a"}'; code 0; until_state a cancelled
call interrupt '{"stream":"a"}'; code 10; err_has 'nothing is running any more'
call chat_async '{"session":"c","prompt":"leave some"}'; until_taken c
call cancel '{"stream":"c"}'; code 0; check test "$(state c)" = cancelled
pid=$(jq .pid "$T/other/seen.json"); check test ! -e "/proc/$pid"

it "runs a prompt with the same client id once"
call chat_async '{"session":"a","prompt":"say one","client_id":"m-1"}'; first=$(get .stream)
until_state a complete
call chat_async '{"session":"a","prompt":"say one","client_id":"m-1"}'; code 0
check test "$(get '[.stream, .again] | map(tostring) | join(" ")')" = "$first true"
call chat '{"session":"a","prompt":"say one","client_id":"m-1"}'; code 0; check test "$(get .type | tail -n 1)" = complete
check test "$(sql "SELECT count(*) FROM run WHERE client_msg_id = 'm-1'")" = 1

it "tries something without the session going on from it"
call get '{"session":"a"}'; before=$(get '[.head, .claude_session_id] | join(" ")')
printf '#!/bin/sh\n"%s" "$@" | tee "%s"\n' "$ARBOR_CLAUDE" "$T/printed" >"$T/tee"; chmod +x "$T/tee"
ARBOR_CLAUDE=$T/tee call chat '{"session":"a","prompt":"flood 3000","ephemeral":true}'; code 0; check test "$(get .type | tail -n 1)" = complete
check grep -q no-session-persistence "$T/work/seen.json"
call get '{"session":"a"}'; check test "$(get '[.head, .claude_session_id] | join(" ")')" = "$before"

it "keeps what its client printed, byte by byte, of which no node comes"
call streams '{"session":"a","limit":1}'; source=$(get .output) run=$(get .run)
"$ARBOR" export "$source" >"$T/kept"; check test -s "$T/kept"; same "$T/printed" "$T/kept"
arbor export ".output:stdout/$run.jsonl"; code 0; same "$T/printed" "$T/out"
arbor sources --json; check test "$(get "select(.id == \"$source\") | [.kind, .complete, .lines, .bytes] | map(tostring) | join(\" \")")" = "output true $(wc -l <"$T/printed") $(wc -c <"$T/printed")"
nodes() { "$ARBOR" dump --logical | grep -cE '^(session|line|message|turn|tree) '; }
mkdir "$T/empty"; had=$(nodes); "$ARBOR" sync --quiet --source "$T/empty" --label empty; "$ARBOR" rebuild --quiet >/dev/null; check test "$(nodes)" = "$had"
arbor check --quiet; code 0
arbor dump --logical; out_lacks stdout/; arbor dump --logical=facts; out_has "source local .output stdout/$run.jsonl"
call streams '{"session":"a","limit":2}'; check test "$(get 'has("output")' | tr '\n' ' ')" = 'true false '

it "puts the words of an old stream together when another agent is started"
old=$(sql "SELECT t.id FROM stream t JOIN session s ON s.id = t.session WHERE s.name = 'a' ORDER BY t.id LIMIT 1")
sql "UPDATE stream SET ended_at = ended_at - 31 * 86400000 WHERE id = $old"
call chat '{"session":"a","prompt":"say not yet old"}'; code 0
for ((n = 0; n < 400; n++)); do [ -z "$(sql "SELECT 1 FROM stream WHERE id = $old AND compacted_at IS NULL")" ] && break; sleep 0.05; done
check test "$(sql "SELECT count(*) FROM event WHERE stream = $old AND type = 'content_delta'")" = 1
check test "$(sql 'SELECT count(*) FROM stream WHERE compacted_at IS NOT NULL')" = 1

it "says why an agent failed"
call chat '{"session":"a","prompt":"stderr it broke"}'; code 0
check test "$(get 'select(.type == "error") | .data.message')" = 'claude ended with code 1 before it was done: it broke'
check test "$(get 'select(.data.event_type? == "stderr") | .data.text')" = 'it broke'
check test "$(state a)" = failed
ARBOR_CLAUDE=/no/such/claude arbor call claudecode.chat '{"session":"a","prompt":"x"}' --json; code 0
check test "$(get 'select(.type == "error") | .data.message')" = '/no/such/claude: No such file or directory'

it "says why nobody drives an agent, to who asked and in its stream"
long=$(printf '%5000s' '' | tr ' ' x)
for what in chat chat_async; do
	ARBOR_SYNC_EXCLUDE=$long call $what '{"session":"a","prompt":"say x"}'; code 12; err_has 'ended at once: a pattern '; err_has 'too long'
	check test "$(state a)" = failed
done
call streams '{"session":"a","limit":1}'; check grep -q 'too long' <(get .error)
ARBOR_SYNC_EXCLUDE=$long call continue '{"stream":"a"}'; code 12; err_has 'too long'; check test "$(state a)" = failed
call continue '{"stream":"a","prompt":"say y"}'; code 0; check test "$(get .type | tail -n 1)" = complete

it "says that it was interrupted when its driver is killed, and starts the next"
call chat_async '{"session":"c","prompt":"leave some"}'; until_taken c
client=$(jq .pid "$T/other/seen.json")
kill -9 "$(sql 'SELECT lease_pid FROM run WHERE ended_at IS NULL')"
until_state c interrupted
for ((n = 0; n < 200; n++)); do [ -e "/proc/$client" ] || break; sleep 0.05; done
check test ! -e "/proc/$client"
call chat '{"session":"c","prompt":"say again"}'; code 0; check test "$(get .type | tail -n 1)" = complete

it "goes on with what was interrupted, in the same conversation"
call chat_async '{"session":"c","prompt":"leave some"}'; first=$(get .stream); until_taken c
call continue '{"stream":"c"}'; code 6; err_has 'it goes on'
kill -9 "$(sql 'SELECT lease_pid FROM run WHERE ended_at IS NULL')"; until_state c interrupted
call get '{"session":"c"}'; claude=$(get .claude_session_id)
call continue '{"stream":"c","prompt":"say more"}'; code 0
check test "$(get 'select(.type == "start") | .data.continues')" = "$first"; check test "$(get .type | tail -n 1)" = complete
jq -r '.argv | join(" ")' "$T/other/seen.json" >"$T/argv"; check grep -q -- "--resume $claude" "$T/argv"
call continue '{"stream":"c"}'; code 10; err_has 'it is complete'
call streams '{"session":"c","limit":1}'; check test "$(get .continues)" = "$first"
call continue "{\"stream\":\"$first\"}"; code 10; err_has 'since'
call chat '{"session":"c","prompt":"exit 3"}'; call continue '{"stream":"c"}'; code 0
check grep -qF 'Continue from where you left off' "$T/other/told.jsonl"

it "changes model and mode of a session, at rest and at work"
call set_model '{"session":"c","model":"sonnet"}'; code 0; check test "$(get .model)" = sonnet
call set_mode '{"session":"c","mode":"plan"}'; code 0; check test "$(get .permission_mode)" = plan
call set_mode '{"session":"c","mode":"sleepy"}'; code 2
call chat_async '{"session":"c","prompt":"wait for it"}'; until_taken c
check grep -q -- '--model sonnet --permission-mode plan' <(jq -r '.argv | join(" ")' "$T/other/seen.json")
call set_model '{"session":"c","model":"opus"}'; code 0
call set_mode '{"session":"c","mode":"bypassPermissions"}'; code 10; err_has 'was not started with it'
call set_mode '{"session":"c","mode":"acceptEdits"}'; code 0
call get '{"session":"c"}'; check test "$(get '[.model, .permission_mode] | join(" ")')" = 'opus acceptEdits'
check test "$(jq -r 'select(.type == "control_request") | .request | [.subtype, .model // .mode] | join(" ")' "$T/other/told.jsonl" | tail -n 3 | tr '\n' ,)" = 'set_model opus,set_permission_mode bypassPermissions,set_permission_mode acceptEdits,'
call cancel '{"stream":"c"}'; until_state c cancelled

it "sends files along: texts, pictures and PDFs, and says which it cannot"
printf 'some text\n' >"$T/note.txt"; printf '\x89PNG\r\n\x1a\nrest' >"$T/a.png"; printf '%%PDF-1.4' >"$T/a.pdf"; printf '\xff\xfe\x00' >"$T/odd"; printf 'GIF8 is no picture' >"$T/gif.txt"; printf 'GIF89a' >"$T/a.gif"
head -c 6000000 /dev/zero >"$T/big"
call chat "{\"session\":\"c\",\"prompt\":\"say seen\",\"attach\":[\"$T/note.txt\",\"$T/a.png\",\"$T/a.pdf\"]}"; code 0
sent=$(jq -c 'select(.type == "user") | .message.content' "$T/other/told.jsonl" | tail -n 1)
check test "$(jq -r 'map(.type) | join(" ")' <<<"$sent")" = 'text image document text'
check test "$(jq -r '.[0].text' <<<"$sent")" = "$T/note.txt:"$'\n\n''some text'
check test "$(jq -r '.[1].source | [.media_type, .data] | join(" ")' <<<"$sent")" = 'image/png iVBORw0KGgpyZXN0'
check test "$(jq -r '.[3].text' <<<"$sent")" = 'say seen'
call chat "{\"session\":\"c\",\"prompt\":\"say seen\",\"attach\":[\"$T/gif.txt\",\"$T/a.gif\"]}"; code 0
check test "$(jq -c 'select(.type == "user") | .message.content | map(.type)' "$T/other/told.jsonl" | tail -n 1)" = '["text","image","text"]'
call chat "{\"session\":\"c\",\"prompt\":\"x\",\"attach\":[\"$T/odd\"]}"; code 2; err_has 'neither text nor an image'
call chat "{\"session\":\"c\",\"prompt\":\"x\",\"attach\":[\"$T/big\"]}"; code 2; err_has 'at most 5 MB'
call chat "{\"session\":\"c\",\"prompt\":\"x\",\"attach\":[\"$T/none\"]}"; code 1; err_has 'there is no file'

it "says what a run cost by the list of prices, beside what the client says"
call chat '{"session":"c","prompt":"cost claude-opus-4-5"}'; code 0
check test "$(get 'select(.type == "complete") | .data.priced_cost_usd')" = 0.006
call chat '{"session":"c","prompt":"cost nobodys-model"}'
check test "$(get 'select(.type == "complete") | .data | [has("priced_cost_usd"), .total_cost_usd] | map(tostring) | join(" ")')" = 'false 0.25'

it "goes on with a mirrored conversation under a name"
"$ARBOR" sync --source demo >/dev/null 2>&1 || fail 'no demo'
call adopt "{\"name\":\"shop\",\"conversation\":\"@\",\"working_dir\":\"$T/other\"}"; code 0; claude=$(get .claude_session_id)
call chat '{"session":"shop","prompt":"say hello"}'; code 0
jq -r '.argv | join(" ")' "$T/other/seen.json" >"$T/argv"; check grep -q -- "--resume $claude" "$T/argv"
call adopt '{"name":"shop","conversation":"@"}'; check test $rc != 0

it "lets one name at a time go on with a conversation, and only from where that name was"
call chat '{"session":"shop","prompt":"say here"}'; code 0; call get '{"session":"shop"}'; claude=$(get .claude_session_id)
for name in left right; do call adopt "{\"name\":\"$name\",\"conversation\":\"$claude\",\"working_dir\":\"$T/other\"}"; code 0; done
call chat_async '{"session":"left","prompt":"leave some"}'; code 0; until_taken left
call chat '{"session":"right","prompt":"say too soon"}'; code 6; err_has "'left' is at work on the same conversation"
kill -9 "$(sql 'SELECT lease_pid FROM run WHERE ended_at IS NULL')"; until_state left interrupted
ARBOR_CLAUDE=/no/such/claude call chat '{"session":"left","prompt":"say x"}'; check test "$(state left)" = failed
call chat '{"session":"left","prompt":"say elsewhere"}'; code 0; check test "$(get .type | tail -n 1)" = complete
it "goes on in a file of its own when somebody else has gone on with its conversation since"
before=$(find "$T/.claude" -name "$claude.jsonl" -exec cat {} + | wc -l)
call chat '{"session":"right","prompt":"say beside"}'; code 0; check test "$(get .type | tail -n 1)" = complete
call get '{"session":"right"}'; right=$(get .claude_session_id); check test "$right" != "$claude"
check test "$(find "$T/.claude" -name "$claude.jsonl" -exec cat {} + | wc -l)" = "$before"
arbor log "$right" --json; said() { get 'select(.kind == "message") | .blocks[0].text'; }
check test "$(said | tail -n 1)" = beside; check grep -qx here <(said); ! said | grep -qx elsewhere || fail 'it heard what the other said'
call chat '{"session":"left","prompt":"say again"}'; check test "$(get .type | tail -n 1)" = complete

it "lets a session go"
call delete '{"session":"a"}'; code 0; call get '{"session":"a"}'; code 1
call streams '{}'; check test "$(get 'select(.name == "a") | .id' | wc -l)" -ge 5

it "ends an agent whose store was removed: nobody would ever hear of it"
call chat_async '{"session":"left","prompt":"wait for ever"}'; until_taken left
pid=$(jq .pid "$T/other/seen.json"); check test -e "/proc/$pid"
rm -rf "$ARBOR_HOME"
for ((n = 0; n < 400; n++)); do [ -e "/proc/$pid" ] || break; sleep 0.05; done
check test ! -e "/proc/$pid"
the_end
