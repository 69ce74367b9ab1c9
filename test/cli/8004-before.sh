#!/bin/bash
# Going back: to before a compaction, whichever copy of a message is named, and what is told when that cannot be.
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py ANTHROPIC_API_KEY=none
mkdir -p "$T/work"
cp -r demo/. "$T/.claude"
P=$T/.claude/projects/-home-dev-parser F=$P/8ec269a1-ca31-4f24-a5bc-0232f19c3c63.jsonl
arbor sync; code 0
# forked WORDS...: a fork into a folder that is there; what it says is in "$T/out".
forked() { arbor fork "$@" --cwd "$T/work" --json; code 0; }
get() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2], ""))' "$T/out" "$1"; }
# The texts that were said in the file of a fork.
said() { python3 - "$(get path)" <<'END'
import json, sys
for line in open(sys.argv[1], encoding='utf-8'):
    d = json.loads(line)
    c = (d.get('message') or {}).get('content')
    print(c if isinstance(c, str) else ' '.join(b.get('text', '') for b in c or []))
END
}

it "goes back to before a compaction by its turn"
forked bd9f9176; said >"$T/full"; check grep -q 'All 48 lexer tests pass' "$T/full"
forked a22f6a69; said >"$T/now"; same "$T/full" "$T/now"; check test -z "$(get prompt)"

it "does not do so in the client's own file, which the client would not read"
before=$(sha256sum <"$F")
arbor checkout 8ec269a1 a22f6a69 --in-place; code 2; err_has "'arbor fork' makes a file"
arbor checkout 8ec269a1 bd9f9176 --in-place; code 2; err_has "'arbor fork' makes a file"
check test "$before" = "$(sha256sum <"$F")"

it "means the original by an id that forks have, too, however often it is forked"
for _ in 1 2 3 4 5 6; do forked 0f439065; forked bd9f9176; said >"$T/now"; same "$T/full" "$T/now"; done

it "goes on from what was said when a file ends with a compaction"
python3 - "$F" "$T/.claude/projects/-home-dev-parser/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02.jsonl" <<'END'
import sys, uuid
lines = open(sys.argv[1], encoding='utf-8').read().split('\n')[:28]
ids = {}
text = '\n'.join(lines) + '\n'
import re
for u in sorted(set(re.findall(r'"uuid":"([0-9a-f-]{36})"', text))):
    text = text.replace(u, str(uuid.uuid5(uuid.NAMESPACE_OID, u)))
text = re.sub(r'"id":"msg_', '"id":"msg_other_', text).replace('8ec269a1-ca31-4f24-a5bc-0232f19c3c63', '0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02')
open(sys.argv[2], 'w', encoding='utf-8').write(text)
END
arbor sync; code 0
arbor log 0b7f3c1e; code 0; out_has 'Both are in'
arbor branches 0b7f3c1e; err_lacks 'nothing was said'
forked 0b7f3c1e; check test "$(said | tail -n 1)" = "$(printf 'Both are in %s%s.md.' TO DO)"

it "goes back in three commands that can be typed as they are shown, from any folder"
cat >"$T/client" <<'END'
#!/bin/sh
printf 'in %s:' "$PWD"; printf ' %s' "$@"; echo
END
chmod +x "$T/client"
# shown WORDS: what the command before says of going back, run with this program where one is.
shown() { sed 's/\x1b\[[0-9;]*m//g; s/\r//' "$T/out" | sed -n "s/^  arbor \(resume [0-9a-f]* *$*.*\)/\1/p" | tail -n 1; }
run_shown() { # shellcheck disable=SC2046 # several words
	(cd "$T/work" && ARBOR_CLAUDE=$T/client TERM=dumb "$BUILD/tool/pty" 80x24 "$ARBOR" $(shown "$@")) >"$T/now" 2>&1; mv "$T/now" "$T/out"; }
ARBOR_HOME=$T/fresh on_terminal search cents; out_has "'arbor sync' makes one"
ARBOR_HOME=$T/fresh screen=120x24 on_terminal sync; code 0; out_has 'arbor search WORDS'; ARBOR_HOME=$T/fresh screen=120x24 on_terminal sync; out_lacks 'arbor search WORDS'
on_terminal search role:tool 'rounds half cents' --color never; check test "$(shown --before)" = 'resume c57a5706 --before --cwd .'
run_shown --before; out_has 'Run the cart tests'; out_has "in $T/work:"
on_terminal tree 2396d03e --color never; check test "$(shown)" = 'resume 909bcac6 --cwd .'
run_shown; out_has 'Leave the cart for now'; out_has "in $T/work: --resume "
arbor tree 2396d03e; out_lacks 'arbor resume'

it "says the whole command when the folder is not here"
for words in 'resume 909bcac6' 'fork 7abd08b4 --before' "fork @ 'other way'" resume; do
	eval "arbor $words"; code 1; check grep -qF "to go on in the one you are in: arbor $words --cwd ." "$T/err"
done
arbor fork 7abd08b4 --before --store "$T/store/arbor.db"; code 1; err_has "arbor fork 7abd08b4 --before --cwd . --store $T/store/arbor.db"
arbor fork c57a5706 --cwd "$T/work" --store "$T/store/arbor.db"; code 0; err_has "--cwd $T/work --store $T/store/arbor.db"
arbor fork c57a5706 kept --cwd "$T/work" --store "$T/store/arbor.db"; code 0; err_has "arbor chat kept --store $T/store/arbor.db"
arbor fork @ other --model opus; code 1; err_has "--cwd names another; '.' is the one you are in"

it "says how to go back by one step, and not to before the prompt"
arbor fork 2d3965ff --before --cwd "$T/work"; code 0; err_has "nothing was said before its prompt: the client begins anew; to go on before that step alone: arbor fork 531599bd --cwd $T/work"
arbor fork 531599bd --cwd "$T/work"; code 0; err_has "it goes on behind that; to go on before that step: arbor fork 203b7858 --cwd $T/work; before its prompt: arbor fork 5970792d"
arbor fork 203b7858 --cwd "$T/work" --json; code 0; check test "$(jq 'has("prompt")' "$T/out")" = false

it "goes back to before what every hit of a search says"
arbor search -n 0 --json cents; grep -v '"kind":' "$T/out" | sed 's/.*"v":1,"id":"\([^"]*\)".*/\1/' >"$T/ids"; check test "$(wc -l <"$T/ids")" -gt 15
while read -r id; do arbor fork "$id" --before --cwd "$T/work" --json; code 0; out_has '"prompt":'; done <"$T/ids"

it "goes back in the conversation from what a sub-agent said, and says so"
for id in 75e4d70c d0f04fbb 8b5df8f5 8ba2c5be a3ec752e2389a1f20 b8982b80 542cd68f; do
	arbor fork "$id" --before --cwd "$T/work"; code 0; err_has "that is a sub-agent's; before the prompt in "; out_has 'prompt	'; out_lacks 'prompt	Search'; out_lacks 'prompt	List'
done
err_has 'a2a32e82 that led to it: nothing was said before that'; out_has 'prompt	Which of these dotfiles'
python3 - "$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e09.jsonl" <<'END'
import json, os, sys
id, path = '0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e09', sys.argv[1]
def write(path, lines, **more):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        prev = None
        for n, role, content in lines:
            u = '%08x-0000-4000-8000-00000000aaaa' % n
            m = {'role': role, 'content': content}
            if role == 'assistant': m |= {'id': 'm%x' % n, 'type': 'message', 'model': 'opus'}
            f.write(json.dumps({'parentUuid': prev, 'isSidechain': False, 'type': role, 'uuid': u, 'sessionId': id, 'cwd': '/x',
                'timestamp': '2026-11-15T10:00:%02d.000Z' % n, 'message': m} | more) + '\n')
            prev = u
text = lambda t: [{'type': 'text', 'text': t}]
asks = lambda t, p: [{'type': 'tool_use', 'id': 'toolu_' + t, 'name': 'Agent', 'input': {'prompt': p, 'subagent_type': 'x'}}]
done = lambda t, a: [{'type': 'tool_result', 'tool_use_id': 'toolu_' + t, 'content': text('agentId: %s (use it)' % a)}]
write(path, [(1, 'user', 'before all'), (2, 'assistant', text('Yes.')), (3, 'user', 'now look'),
             (4, 'assistant', asks('outer', 'look around')), (5, 'user', done('outer', 'aaaa000011112222a'))])
def agent(a, lines): write('%s/subagents/agent-%s.jsonl' % (path[:-6], a), lines, agentId=a, isSidechain=True)
agent('aaaa000011112222a', [(6, 'user', 'look around'), (7, 'assistant', asks('inner', 'deeper')), (8, 'user', done('inner', 'bbbb000011112222b'))])
agent('bbbb000011112222b', [(9, 'user', 'deeper'), (10, 'assistant', text('Deep down.'))])
agent('cccc000011112222c', [(11, 'user', 'nobody asked'), (12, 'assistant', text('All the same.'))])
END
arbor sync; code 0
for id in 00000007-0000-4000-8000-00000000aaaa 0000000a-0000-4000-8000-00000000aaaa; do forked "$id" --before; check test "$(get prompt)" = 'now look'; check test "$(said | tail -n 1)" = 'Yes.'; done
it "says it where nobody knows what started a sub-agent"
arbor fork 0000000c-0000-4000-8000-00000000aaaa --before --cwd "$T/work"; code 1; err_has 'what started it is not known'
eval "arbor $(sed -n "s/.*'arbor \(tree [^']*\)'.*/\1/p" "$T/err") --json"; code 0; out_has 'nobody asked'
it "says how to get out of a sub-agent when it goes on in it"
arbor fork dcf00110 --cwd "$T/work"; code 0; err_has 'to go on before it: arbor fork '; err_has ' --before --cwd '
it "marks what a sub-agent said among hits"
on_terminal search parseFloat --color never; check grep -q '^  [0-9a-f]*  answer   sub-agent  One place' "$T/out"; check grep -q '^  [0-9a-f]*  answer   …src' "$T/out"

it "shows the beginning of a long prompt, and has the client come without a pager"
L=$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0a.jsonl
printf '{"type":"user","uuid":"2222%04d-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0a","cwd":"%s","timestamp":"2026-11-15T10:00:01.000Z","promptSource":"typed","message":{"role":"user","content":"%s"}}\n' \
	1 "$T/work" "$(printf 'row %d and what it says\\n' $(seq 200))" >"$L"
printf '{"type":"assistant","uuid":"22220002-0000-4000-8000-000000000001","parentUuid":"22220001-0000-4000-8000-000000000001","sessionId":"0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0a","cwd":"%s","timestamp":"2026-11-15T10:00:02.000Z","message":{"id":"mL","type":"message","role":"assistant","model":"opus","content":[{"type":"text","text":"Long."}]}}\n' "$T/work" >>"$L"
ARBOR_PAGER='sed s/^/paged/' ARBOR_CLAUDE=$T/client on_terminal resume 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0a --before --color never; code 0
out_has 'row 8 and'; out_lacks 'row 9 and'; out_lacks paged; out_has "in $T/work:"
arbor show "$(sed -n 's/.*the rest: arbor show \([0-9a-f]*\).*/\1/p' "$T/out")"; code 0; out_has 'row 200 and'

it "says which folder, file or client is not there, and leaves nothing behind"
arbor fork 909bcac6 --cwd /etc/passwd; code 1; err_has "there is no folder '/etc/passwd'"
count=$(find "$T/.claude" -name '*.jsonl' | wc -l)
ARBOR_CLAUDE=$T/nowhere on_terminal resume 909bcac6 --cwd "$T/work"; check grep -q "resume: .*nowhere.*; 'arbor fork' writes the file without the client" "$T/out"
check test "$count" = "$(find "$T/.claude" -name '*.jsonl' | wc -l)"
# shellcheck disable=SC2016 # nobody expands it
arbor fork 909bcac6 'x$(id)' --cwd "$T/work"; code 0; err_has "arbor chat 'x\$(id)'"

it "says of what is no conversation what it is"
arbor note 909bcac6 'look here' --json; code 0; arbor fork "$(get id)"; code 2; err_has 'is a note or bookmark and no conversation'
arbor resume 0cf0e972; code 2; err_has "is a line of what was typed"; arbor fork 6fb2e523; code 2; err_has "is a file"

it "writes no bytes that are no text"
printf '%s\n' '{"type":"user","uuid":"11111111-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03","cwd":"/x","timestamp":"2026-11-15T10:00:00.000Z","message":{"role":"user","content":"odd BYTES here"}}' \
	'{"type":"assistant","uuid":"11111111-0000-4000-8000-000000000002","parentUuid":"11111111-0000-4000-8000-000000000001","sessionId":"0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03","cwd":"/x","timestamp":"2026-11-15T10:00:01.000Z","message":{"id":"m1","type":"message","role":"assistant","model":"opus","content":[{"type":"text","text":"Fine."}]}}' |
	sed "s/BYTES/$(printf '\377\376\303(')/" >"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03.jsonl"
arbor sync; forked 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03; check test "$(said | tail -n 1)" = 'Fine.'
check iconv -f utf-8 -t utf-8 -o /dev/null "$(get path)"

it "does not call purged what only went with a fork, and the conversation it was made of has"
arbor fork 51286134 passing --cwd "$T/work"; code 0; arbor purge passing --yes; code 0
err_has 'no sync brings them back; the client'; err_has "own file is still there, and left alone: $T/.claude/projects/"
for verb in resume fork; do arbor $verb passing --json; check test $rc != 0; err_has 'was purged on'; done
arbor checkout e5d8736a 9b1fd801 --in-place; code 2; err_lacks 'was purged'; arbor show 9b1fd801; code 0

it "does not call an empty folder a store that is missing"
mkdir -p "$T/empty"
ARBOR_HOME=$T/none arbor sync --source "$T/empty"; code 1; err_has 'nothing of Claude Code in it'; check test ! -e "$T/none"
the_end
