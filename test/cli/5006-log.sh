#!/bin/sh
# One way through a conversation: what was typed in the middle of a turn is on it, what was rewound is not.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
mkdir -p "$T/.claude/projects/p"
cat >"$T/.claude/projects/p/00000000-0000-4000-8000-000000000001.jsonl" <<'END'
{"type":"user","uuid":"00000000-0000-4000-8000-0000000000a1","parentUuid":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first prompt"}}
{"type":"attachment","uuid":"00000000-0000-4000-8000-0000000000a2","parentUuid":"00000000-0000-4000-8000-0000000000a1","timestamp":"2026-01-01T00:00:02.000Z","attachment":{"type":"skill_listing","content":"x"}}
{"type":"assistant","uuid":"00000000-0000-4000-8000-0000000000a3","parentUuid":"00000000-0000-4000-8000-0000000000a2","timestamp":"2026-01-01T00:00:03.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"toolu_one","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","uuid":"00000000-0000-4000-8000-0000000000a4","parentUuid":"00000000-0000-4000-8000-0000000000a3","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_one","content":"listed"}]}}
{"type":"attachment","uuid":"00000000-0000-4000-8000-0000000000a5","parentUuid":"00000000-0000-4000-8000-0000000000a4","timestamp":"2026-01-01T00:00:05.000Z","attachment":{"type":"queued_command","prompt":"typed meanwhile","commandMode":"prompt"}}
{"type":"assistant","uuid":"00000000-0000-4000-8000-0000000000a6","parentUuid":"00000000-0000-4000-8000-0000000000a5","timestamp":"2026-01-01T00:00:06.000Z","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"rewound answer"}]}}
{"type":"user","uuid":"00000000-0000-4000-8000-0000000000b1","parentUuid":"00000000-0000-4000-8000-0000000000a4","timestamp":"2026-01-01T00:00:07.000Z","message":{"role":"user","content":"other prompt"}}
{"type":"assistant","uuid":"00000000-0000-4000-8000-0000000000b2","parentUuid":"00000000-0000-4000-8000-0000000000b1","timestamp":"2026-01-01T00:00:08.000Z","message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"other answer"}]}}
END
arbor sync; code 0

it "follows the way the conversation is on"
arbor log @; code 0
for text in 'first prompt' '[skill_listing]' listed 'other prompt' 'other answer'; do out_has "$text"; done
out_lacks 'rewound answer'
out_lacks 'typed meanwhile'

it "follows another way to a message that is named"
arbor log @@00000000-0000-4000-8000-0000000000a6; code 0
out_has 'typed meanwhile'
out_has 'rewound answer'
out_lacks 'other prompt'

it "says what led to an answer, and with --through the answer, too"
arbor log @@00000000-0000-4000-8000-0000000000b2 --as-sent --json; code 0
out_has '"text":"other prompt"'
out_lacks 'other answer'
arbor log @@00000000-0000-4000-8000-0000000000b2 --as-sent --through --json; code 0
out_has 'other answer'

it "draws both"
arbor tree @; code 0
out_is 'first prompt
  00000000-0000-4000-8000-000000000001  2026-01-01T00:00:08.000Z
● 1  ce9f97bd-3201-5554-acea-1d6e2fd39a7f  first prompt  4 messages, 1 tool
● 2  acc3a219-bb26-55b7-8347-ca203e7ffc17  other prompt  2 messages  ⇐ 00000000-0000-4000-8000-000000000001'

it "says how each message begins, when they are asked for"
arbor tree @ -m; code 0
for text in 'user .*  first prompt' 'client .*  \[skill_listing\]' 'assistant .*  Bash ls' 'results .*  listed' \
	'user .*  typed meanwhile' 'assistant .*  rewound answer' 'assistant .*  other answer'; do
	check grep -q "^    $text\$" "$T/out"
done
arbor tree @ -m --json; out_has '"kind":"message"'; out_has '"text":"rewound answer"}'
on_terminal tree @ -m --color never; check test "$(wc -L <"$T/out")" -le 120

it "counts messages as list does"
cp -R demo "$T/demo"
arbor sync --source "$T/demo"; code 0
arbor list -n 0; cut -f 1,4 "$T/out" | grep -v '^b899e3df' >"$T/listed" # of which the tree has a fork, too
while read -r id messages; do
	said=$("$ARBOR" tree "$id" </dev/null | sed -n 's/.* \([0-9]*\) messages\{0,1\}.*/\1/p' | awk '{ n += $1 } END { print n }')
	[ "$said" -eq "$messages" ] || fail "$id: $said in the tree, $messages in the list"
done <"$T/listed"
check test "$(wc -l <"$T/listed")" -eq 15

it "finds a call by its id"
arbor show toolu_one; code 0
out_has Bash
arbor show toolu_two; code 1; err_has "no call of a tool has the id 'toolu_two'; give the whole id"
arbor show @@toolu_two; code 1; err_has 'no call of a tool in this session'
arbor show nonsense; code 2; err_has "'nonsense' is no id"
the_end
