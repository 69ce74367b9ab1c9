#!/bin/sh
# Sub-agents whose messages a conversation tells in its progress lines, and who said what: models and agents of single
# messages.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store" TZ=UTC
ID=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e61
P=$T/claude/projects/-w
mkdir -p "$P"
lines() { [ "$(wc -l <"$T/out")" -eq "$1" ] || { fail "not $1 lines"; show "$T/out"; }; }
front() { # TYPE NUMBER
	printf '{"type":"%s","uuid":"00000000-0000-4000-8000-%012d","parentUuid":null,"sessionId":"%s","cwd":"/w","timestamp":"2026-01-02T03:04:%02d.000Z",' "$1" "$2" "$ID" "$2"
}
answer() { # ID MODEL BLOCK: a message of a model
	printf '"message":{"id":"%s","role":"assistant","model":"%s","content":[%s],"usage":{"input_tokens":1,"output_tokens":2}}' "$1" "$2" "$3"
}
told() { # NUMBER AGENT MESSAGE
	front progress "$1"
	printf '"parentToolUseID":"toolu_1","data":{"type":"agent_progress","agentId":"%s","message":{"uuid":"00000000-0000-4000-8000-%012d","timestamp":"2026-01-02T03:04:%02d.000Z",%s}}}\n' "$2" $(($1 + 100)) "$1" "$3"
}
{
	front user 1; echo '"message":{"role":"user","content":"count the walrus"}}'
	front assistant 2; answer m2 claude-opus-4-8 '{"type":"tool_use","id":"toolu_1","name":"Task","input":{"subagent_type":"reviewer","prompt":"look at the walrus"}}'; echo '}'
	told 3 ab12cd '"type":"user","message":{"role":"user","content":[{"type":"text","text":"look at the walrus"}]}'
	told 4 ab12cd "\"type\":\"assistant\",$(answer m4 claude-haiku-4-5-20251001 '{"type":"text","text":"the walrus is grey"}')"
	told 7 ab12cd "\"type\":\"assistant\",$(answer m7 claude-haiku-4-5-20251001 '{"type":"tool_use","id":"toolu_7","name":"Read","input":{"file_path":"/w/tusk.c"}},{"type":"tool_use","id":"toolu_8","name":"Bash","input":{"command":"ls"}}')"
	told 8 ab12cd '"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_7","content":"    41→int tusk;\n    42→int length;"},{"type":"tool_result","tool_use_id":"toolu_8","is_error":true,"content":"no tusk there"}]}'
	front assistant 5; answer m5 claude-opus-4-8 '{"type":"text","text":"a grey walrus"}'; echo '}'
	front assistant 6; answer m6 claude-sonnet-4-5 '{"type":"text","text":"one walrus more"}'; echo '}'
} >"$P/$ID.jsonl"
arbor sync --source "$T/claude"; code 0

it "asks each message for its model, and not the conversation"
arbor search walrus -n 0; lines 6
arbor search walrus model:opus -n 0 --json; lines 2; out_lacks '"in":"prompt"'
arbor search walrus model:haiku; lines 1; out_has 'the walrus is grey'
arbor search walrus model:haiku model:sonnet; lines 2
arbor search walrus 'model:claude-*' ; code 1
arbor search walrus model:claude -n 0; lines 4
arbor search 'walrus -model:claude' -n 0 --json; lines 2; out_has '"in":"prompt"'
arbor search model:haiku; lines 3
arbor search walrus model:gpt; code 1

it "finds what sub-agents said that have no file of their own"
arbor search walrus agent:ab12cd -n 0 --json; lines 2; check test "$(grep -c '"agent":"ab12cd"' "$T/out")" -eq 2
arbor search walrus agent:ab1 -n 0; lines 2
arbor search walrus agent:b12; code 1
arbor search 'walrus -agent:ab12cd' -n 0 --json; lines 4; out_lacks '"agent"'

it "finds what their tools gave back, and what failed"
arbor search tusk in:output --json; lines 2; check test "$(grep -c '"agent":"ab12cd"' "$T/out")" -eq 2
arbor search is:error is:subagent; lines 1; out_has 'no tusk there'
arbor search 'tusk -is:error' role:tool agent:ab12cd; lines 1
arbor search '"tusk int length"'; lines 1; out_has 'int tusk; int length;'
arbor search 42; code 1

it "finds it once where they have a file of their own, and there"
mkdir -p "$P/$ID/subagents"
sub() { # NUMBER MESSAGE: as told, in a file
	printf '{"type":"%s","uuid":"00000000-0000-4000-8000-%012d","parentUuid":null,"sessionId":"%s","isSidechain":true,"agentId":"ab12cd","cwd":"/w","timestamp":"2026-01-02T03:04:%02d.000Z",%s}\n' "$2" $(($1 + 100)) "$ID" "$1" "$3"
}
{
	sub 3 user '"message":{"role":"user","content":[{"type":"text","text":"look at the walrus"}]}'
	sub 8 user '"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_7","content":"    41→int tusk;\n    42→int length;"},{"type":"tool_result","tool_use_id":"toolu_8","is_error":true,"content":"no tusk there"}]}'
} >"$P/$ID/subagents/agent-ab12cd.jsonl"
arbor sync --source "$T/claude"; code 0
arbor search tusk in:output --json; lines 2; check test "$(grep -c 'subagents/agent-ab12cd.jsonl' "$T/out")" -eq 2
arbor search is:error is:subagent; lines 1

it "counts them by the type that the call asked for"
arbor usage agent; check test "$(cut -f 1,3 "$T/out" | tr '\t\n' ': ')" = 'main:3 reviewer:2 '
arbor usage agent --each; out_has ab12cd; out_has reviewer; out_lacks unknown

it "links a conversation to sub-agents that it tells of, and results of theirs to their calls"
arbor related "$ID" --type agent; code 0; lines 1; out_has 'spawned	agent			ab12cd'
arbor sql "SELECT source_id, target_id FROM links WHERE relationship = 'spawned'"; lines 1; out_has "$ID	ab12cd"
arbor search is:error tool:Bash --json; code 0; lines 1; out_has 'no tusk there'
arbor search is:error tool:Read; code 1

it "tells of files that they made and changed: in words alone, as the client writes it"
ID=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e62
call() { # NUMBER TOOL INPUT
	told "$1" cd34ef "\"type\":\"assistant\",$(answer "n$1" claude-haiku-4-5-20251001 "{\"type\":\"tool_use\",\"id\":\"toolu_f$1\",\"name\":\"$2\",\"input\":$3}")"
}
done_so() { # NUMBER TEXT [MORE]: of the call before
	told "$1" cd34ef "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_f$(($1 - 1))\",\"content\":\"$2\"$3}]}"
}
{
	front user 21; echo '"message":{"role":"user","content":"make a narwhal"}}'
	front assistant 22; answer n22 claude-opus-4-8 '{"type":"tool_use","id":"toolu_21","name":"Task","input":{"subagent_type":"maker","prompt":"make it"}}'; echo ',"parentUuid":"00000000-0000-4000-8000-000000000021"}'
	call 23 Write '{"file_path":"/w/horn.c","content":"int horn;\n"}'; done_so 24 'File created successfully at: /w/horn.c'
	call 25 Edit '{"file_path":"/w/horn.c","old_string":"int","new_string":"long"}'; done_so 26 'The file /w/horn.c has been updated successfully.'
	call 27 Edit '{"file_path":"/w/tail.c","old_string":"a","new_string":"b"}'; done_so 28 'The file /w/tail.c has been updated. Here is the result'
	call 29 Edit '{"file_path":"/w/failed.c","old_string":"a","new_string":"b"}'; done_so 30 'The file /w/failed.c has been updated' ',"is_error":true'
	call 31 Write '{"file_path":"/w/new state.c","content":"x\n"}'; done_so 32 'File created successfully at: /w/new state.c (file state is current in your context)'
	call 33 Bash '{"command":"make"}'; done_so 34 'The file a.o has been updated'
	front user 35; echo '"parentUuid":"00000000-0000-4000-8000-000000000022","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_21","content":"made"}]},"toolUseResult":{"agentId":"cd34ef","status":"completed"}}'
} >"$P/$ID.jsonl"
arbor sync --source "$T/claude"; code 0
arbor sql "SELECT file_path, change, tool, agent FROM file_modifications WHERE session_id = '$ID'"; code 0
printf '%s\t%s\t%s\tcd34ef\n' /w/horn.c create Write /w/horn.c edit Edit /w/tail.c edit Edit '/w/new state.c' create Write | cmp -s - "$T/out" ||
	{ fail "other changes"; show "$T/out"; }
arbor sql "SELECT target_id FROM links WHERE relationship = 'touches_file' AND source_id = '$ID' ORDER BY 1"
out_is "$(printf '/w/horn.c\n/w/new state.c\n/w/tail.c')"
arbor related horn.c; code 0; out_has "touches_file	session"; out_has $ID
arbor files $ID --json; code 0; lines 3; check test "$(grep -c '"created":true' "$T/out")" -eq 2
arbor files $ID; lines 3; out_lacks /w/failed.c
arbor files $ID horn.c --at $ID; code 0; out_is 'long horn;'
arbor files $ID --diff; code 3; out_has '+long horn;'; err_has '/w/tail.c: what stood in it before is not known'; err_lacks horn.c

it "shows what one did that stands in the conversation's file, by any name that means it"
told 36 cd3400 '"type":"user","message":{"role":"user","content":"look for another narwhal"}' >>"$P/$ID.jsonl"
told 37 cd3400 "\"type\":\"assistant\",$(answer n37 claude-haiku-4-5-20251001 '{"type":"text","text":"there is none"}')" >>"$P/$ID.jsonl"
arbor sync --source "$T/claude"; code 0
for name in cd3400 $ID@cd3400 "claudecode@1.0.0::agent:cd3400:$ID"; do
	arbor show "$name"; code 0; out_has 'sub-agent cd3400'; out_has '0 prompts, 2 messages, 0 tools'
	out_has 'look for another narwhal'; out_has 'there is none'; out_lacks 'make a narwhal'; out_lacks horn.c
	arbor log "$name"; code 0; out_has 'look for another narwhal'; out_has 'there is none'; out_lacks horn.c
done
arbor show cd3400 --json; lines 3; out_has '"prompt":false'; out_lacks '"prompt":true'
arbor show cd34ef; code 0; out_has '0 prompts, 12 messages, 6 tools'; out_has 'File created successfully at: /w/horn.c'; out_lacks 'another narwhal'
arbor show cd34; code 2; err_has "$ID@cd34ef"; err_has "$ID@cd3400"
arbor tree cd3400; code 0; out_has 'look for another narwhal'
arbor resolve cd3400; code 0; out_has "$ID"; out_has 'look for another narwhal'
"$ARBOR" agents $ID -0 | xargs -0 "$ARBOR" show >"$T/out"; out_has 'there is none'; out_has horn.c
arbor show "claudecode@1.0.0::agent:cd35:$ID"; code 1
# shellcheck disable=SC2086 # words
for verb in 'purge --dry-run' fork; do arbor $verb cd3400; code 2; err_has 'stands in the file of its conversation'; done
arbor sync --source demo --store "$T/demo.db"
arbor show --store "$T/demo.db" b8982b80; code 0; out_has 'sub-agent b8982b80'; out_has '0 prompts, 4 messages, 1 tool'; out_has 'screenrc and xinitrc are not'; out_lacks 'Which of these'

the_end
