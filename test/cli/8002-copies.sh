#!/bin/bash
# Forks repeat all that was said before. They are kept byte for byte and take next to no room; and nothing that happens
# to the conversation they were made of changes them.
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py ANTHROPIC_API_KEY=none
W=$T/work ID=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02
P=$T/.claude/projects/${W//[^a-zA-Z0-9]/-}
F=$P/$ID.jsonl
mkdir -p "$W" "$P"
u() { printf '%08d-0000-4000-8000-000000000000' "$1"; }
python3 - "$F" "$W" "$ID" <<'END'
import hashlib, json, sys
path, cwd, session = sys.argv[1:]
name = lambda n: '%08d-0000-4000-8000-000000000000' % n
with open(path, 'w') as out:
    for n in range(1, 401):
        said = ' '.join(hashlib.md5(b'%d %d' % (n, k)).hexdigest() for k in range(20))
        message = ({'role': 'user', 'content': 'say %d ' % n + said} if n % 2 else
                   {'id': 'm%d' % n, 'type': 'message', 'role': 'assistant', 'model': 'opus', 'content': [{'type': 'text', 'text': said}]})
        line = {'parentUuid': name(n - 1) if n > 1 else None, 'isSidechain': False, 'type': 'user' if n % 2 else 'assistant',
                'uuid': name(n), 'timestamp': '2026-11-15T10:%02d:%02d.000Z' % (n // 60, n % 60), 'cwd': cwd,
                'sessionId': session, 'version': '2.1.197', 'message': message}
        out.write(json.dumps(line, separators=(',', ':')) + '\n')
END
arbor sync; code 0
kept() { python3 -c "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT sum(length(bytes)) FROM block_data').fetchone()[0])" "$T/store/arbor.db"; }
# as_kept FILE: the archive has it as it is.
as_kept() { arbor export --format=raw "${1#"$T/.claude/"}"; code 0; same "$1" "$T/out"; }

it "keeps forks byte for byte, in next to no room"
before=$(kept); files=()
for n in 400 300 200 100; do
	arbor fork "$ID@$(u $n)" --json; code 0; files+=("$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["path"])' "$T/out")")
done
check test $(($(kept) - before)) -lt $((before / 3))
for f in "${files[@]}"; do as_kept "$f"; done
arbor check; code 0

it "goes on keeping what is added to them"
tail -n 1 "${files[0]}" | sed "s/\"uuid\":\"$(u 400)\"/\"uuid\":\"$(u 901)\"/; s/\"parentUuid\":\"[^\"]*\"/\"parentUuid\":\"$(u 400)\"/" >"$T/more"
cat "$T/more" >>"${files[0]}"; arbor sync; code 0; as_kept "${files[0]}"; as_kept "$F"

it "leaves them as they are when the conversation is purged"
arbor purge "$ID" --yes; code 0
for f in "${files[@]}"; do as_kept "$f"; done
arbor check; code 0
arbor search 'say 99' --json; code 0; out_has "$(u 99)"

it "takes a message out of all of them"
arbor purge "$(u 99)" --yes; code 0
for f in "${files[@]}"; do arbor export --format=raw "${f#"$T/.claude/"}"; check test $rc != 0; done
arbor check; code 0
check test "$(python3 - "$T/store/arbor.db" <<'END'
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM block_base l JOIN block_data d ON d.id = l.base WHERE d.codec <> 1').fetchone()[0])
END
)" = 0
the_end
