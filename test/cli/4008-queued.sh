#!/bin/sh
# What was typed while a turn was running, and what was typed as a command: prompts like others, each once.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
ID=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e51
P=$T/claude/projects/-w
F=$P/$ID.jsonl
mkdir -p "$P"
lines() { [ "$(wc -l <"$T/out")" -eq "$1" ] || { fail "not $1 lines"; show "$T/out"; }; }

n=0
put() { # TYPE MEMBERS: a line of the conversation
	n=$((n + 1))
	printf '{"type":"%s","uuid":"00000000-0000-4000-8000-%012d","parentUuid":%s,"sessionId":"%s","cwd":"/w","timestamp":"2026-01-02T03:04:%02d.000Z",%s}\n' \
		"$1" "$n" "$([ $n -gt 1 ] && printf '"00000000-0000-4000-8000-%012d"' $((n - 1)) || echo null)" "$ID" "$n" "$2"
}
user() { put user "\"message\":{\"role\":\"user\",\"content\":\"$1\"}"; }
answer() { put assistant "\"message\":{\"id\":\"m$n\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
queue() { # OPERATION [CONTENT]
	printf '{"type":"queue-operation","operation":"%s","timestamp":"2026-01-02T03:05:00.000Z","sessionId":"%s"%s}\n' \
		"$1" "$ID" "${2:+,\"content\":\"$2\"}"
}
{
	user 'begin with the walrus'
	queue enqueue 'also count the narwhal'
	queue remove
	put user '"isMeta":true,"message":{"role":"user","content":[{"type":"text","text":"narwhal: a skill about the narwhal, narwhal by narwhal"}]}'
	answer 'counting'
	answer 'a narwhal, as far as one can see in all this'
	queue enqueue 'said again: the beluga'
	queue dequeue
	user 'said again: the beluga'
	queue enqueue 'no, leave out the dugong'
	queue popAll 'no, leave out the dugong'
	queue enqueue '<task-notification>\n<task-id>manatee</task-id>\n</task-notification>'
	queue dequeue
	put attachment '"attachment":{"type":"queued_command","prompt":"a porpoise in between","commandMode":"prompt"}'
	put attachment '"attachment":{"type":"queued_command","prompt":"<task-notification>\n<task-id>grampus</task-id>\n</task-notification>","commandMode":"task-notification"}'
	user '<command-name>/review</command-name>\n            <command-message>review</command-message>\n            <command-args>the vaquita</command-args>'
	user '<command-name>/clear</command-name>\n            <command-message>clear</command-message>\n            <command-args></command-args>'
	user '<bash-input>grep -r bowhead .</bash-input>'
	user '<bash-stdout>bowhead here</bash-stdout><bash-stderr></bash-stderr>'
	queue enqueue '/clear'
	queue dequeue
	user '<command-message>clear</command-message>\n<command-name>/clear</command-name>\n<command-args></command-args>'
	put user '"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a sirenian"},{"type":"text","text":"and mind the sirenian"},{"type":"text","text":"<system-reminder>no sirenian</system-reminder>"}]}'
	user '[Request interrupted by user]'
	put user '"message":{"role":"user","content":[{"type":"text","text":"<ide_opened_file>belukha.c</ide_opened_file>"},{"type":"text","text":"look at the belukha"}]}'
	queue enqueue 'an orca that nobody took'
} >"$F"
arbor sync --source "$T/claude"; code 0

it "finds prompts that stood in the queue, and what was typed as a command"
for word in walrus narwhal beluga dugong orca porpoise vaquita bowhead; do
	arbor search "$word" role:user --json; code 0; lines 1; out_has '"in":"prompt"'; out_has '"total":1'
done
arbor search review role:user; code 0; out_has '/review the vaquita'; out_lacks 'command-args'
arbor search bowhead role:user; out_has '!grep -r bowhead .'
arbor search grep in:prompt; code 0

it "finds what was typed while a tool ran, beside its result, and not what the client put there"
arbor search sirenian role:user --json; lines 1; out_has 'and mind the sirenian'; out_has '"in":"prompt"'
arbor search sirenian role:tool; lines 1
arbor search sirenian role:system; lines 1; out_has 'no sirenian'
arbor search belukha in:prompt; lines 1; out_has 'look at'
arbor search belukha role:system; lines 1; out_has 'belukha.c'

it "takes no notification for typed, queued or not, and no command without words"
arbor search 'manatee OR grampus' role:user; code 1
arbor search grampus role:system; code 0
arbor search clear role:user; code 1
arbor search 'here role:user'; code 1

it "says what became of them, in a search, in show and in log"
for of in 'narwhal sent' 'dugong taken-back' 'orca waiting' 'porpoise sent'; do
	arbor search "${of% *}" --json; out_has "\"queued\":\"${of#* }\""
done
arbor search 'beluga OR walrus' --json; out_lacks '"queued"'
for view in show log; do
	arbor $view $ID; code 0
	out_has 'also count the narwhal'; out_has 'no, leave out the dugong'; out_has 'an orca that nobody took'
	out_has 'a porpoise in between'; out_lacks manatee; out_lacks 'enqueue'
	check test "$(grep -c beluga "$T/out")" -eq 1
	out_has 'queued, sent into the turn'; out_has 'queued, taken back'; out_has 'queued, waiting'
	arbor $view $ID --json
	check test "$(grep -c '"queued":"taken-back"' "$T/out")" -eq 1
done

it "ranks what the client tells the model at length below what was asked and answered"
arbor search narwhal --json; lines 3
check test "$(sed 's/.*"in":"\([a-z]*\)".*/\1/' "$T/out" | tr '\n' ' ')" = 'prompt answer other '
arbor search narwhal role:system; lines 1
arbor search narwhal in:other; lines 1
arbor search narwhal --in other; lines 1

it "counts each once"
arbor list --json; out_has '"prompts":9'
arbor sql "SELECT prompt_count FROM sessions"; out_is 9
arbor sql "SELECT count(*) FROM messages WHERE role = 'user'"; out_is 9
arbor sql "SELECT count(*) FROM messages_meta WHERE role = 'user'"; out_is 9
arbor sql "SELECT count(*) FROM messages WHERE role = 'user' AND content LIKE '%narwhal%'"; out_is 1
arbor sql "SELECT role FROM messages WHERE messages MATCH 'grampus'"; out_is system
arbor stats --json; out_has '"prompts":9'

it "comes to the same however the file was cut into pieces"
arbor dump --logical; cp "$T/out" "$T/whole"
rm -r "$ARBOR_HOME"; mv "$F" "$T/all"; : >"$F"
while IFS= read -r line; do
	printf '%s\n' "$line" >>"$F"
	arbor sync --source "$T/claude"
done <"$T/all"
arbor dump --logical; same "$T/out" "$T/whole"
arbor list --json; out_has '"prompts":9'
arbor search beluga; lines 1
arbor rebuild; arbor search beluga; lines 1
arbor check; code 0

the_end
