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
forked 0b7f3c1e; check test "$(said | tail -n 1)" = "$(printf 'Both are in %s.md.' TO''DO)"

it "says which folder, file or client is not there, and leaves nothing behind"
arbor fork 909bcac6 --cwd /etc/passwd; code 1; err_has "there is no folder '/etc/passwd'"
count=$(find "$T/.claude" -name '*.jsonl' | wc -l)
ARBOR_CLAUDE=$T/nowhere on_terminal resume 909bcac6 --cwd "$T/work"; out_has "'arbor fork' writes the file without the client"
check test "$count" = "$(find "$T/.claude" -name '*.jsonl' | wc -l)"
arbor fork 909bcac6 'x$(id)' --cwd "$T/work"; code 0; err_has "arbor chat 'x\$(id)'"

it "writes no bytes that are no text"
printf '%s\n' '{"type":"user","uuid":"11111111-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03","cwd":"/x","timestamp":"2026-11-15T10:00:00.000Z","message":{"role":"user","content":"odd BYTES here"}}' \
	'{"type":"assistant","uuid":"11111111-0000-4000-8000-000000000002","parentUuid":"11111111-0000-4000-8000-000000000001","sessionId":"0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03","cwd":"/x","timestamp":"2026-11-15T10:00:01.000Z","message":{"id":"m1","type":"message","role":"assistant","model":"opus","content":[{"type":"text","text":"Fine."}]}}' |
	sed "s/BYTES/$(printf '\377\376\303(')/" >"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03.jsonl"
arbor sync; forked 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03; check test "$(said | tail -n 1)" = 'Fine.'
check iconv -f utf-8 -t utf-8 -o /dev/null "$(get path)"

it "does not call an empty folder a store that is missing"
mkdir -p "$T/empty"
ARBOR_HOME=$T/none arbor sync --source "$T/empty"; code 1; err_has 'nothing of Claude Code in it'; check test ! -e "$T/none"
the_end
