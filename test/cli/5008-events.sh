#!/bin/sh
# Lines that are no message, known and unknown: each is kept, told in a few words where everything is asked for, and
# whole where it alone is; and what hangs on it is not lost.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
mkdir -p "$T/.claude/projects/p"
cat >"$T/.claude/projects/p/00000000-0000-4000-8000-000000000001.jsonl" <<'END'
{"type":"mode","mode":"normal","sessionId":"s"}
{"type":"user","uuid":"00000000-0000-4000-8000-0000000000a1","parentUuid":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first prompt"}}
{"type":"tomorrow","uuid":"00000000-0000-4000-8000-0000000000a2","parentUuid":"00000000-0000-4000-8000-0000000000a1","timestamp":"2026-01-01T00:00:02.000Z","reason":"a tree line of a later client"}
{"type":"assistant","uuid":"00000000-0000-4000-8000-0000000000a3","parentUuid":"00000000-0000-4000-8000-0000000000a2","timestamp":"2026-01-01T00:00:03.000Z","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"first answer"}]}}
{"type":"system","subtype":"turn_duration","uuid":"00000000-0000-4000-8000-0000000000a4","parentUuid":"00000000-0000-4000-8000-0000000000a3","durationMs":2500,"timestamp":"2026-01-01T00:00:04.000Z"}
{"type":"user","uuid":"00000000-0000-4000-8000-0000000000b1","parentUuid":"00000000-0000-4000-8000-0000000000a4","timestamp":"2026-01-01T00:00:05.000Z","message":{"role":"user","content":"rewound prompt"}}
{"type":"note-of-tomorrow","sessionId":"s","about":"the rewound prompt"}
{"type":"user","uuid":"00000000-0000-4000-8000-0000000000c1","parentUuid":"00000000-0000-4000-8000-0000000000a4","timestamp":"2026-01-01T00:00:06.000Z","message":{"role":"user","content":"second prompt"}}
{"type":"pr-link","prNumber":7,"prUrl":"https://x.example/7","prRepository":"o/r"}
END
arbor sync; code 0

it "tells each in a line when everything is asked for"
arbor show @ --all; code 0
for line in '· mode  normal' '· tomorrow  reason: a tree line of a later client' '· system/turn_duration  2.5 s' \
	'· note-of-tomorrow  about: the rewound prompt' '· pr-link  o/r#7  https://x.example/7'; do out_has "$line"; done
arbor show @ --all --json; code 0
out_has '"type":"system","subtype":"turn_duration","brief":"2.5 s"'
arbor show @; code 0
out_lacks '·'

it "cuts it to the screen"
screen=40x60 on_terminal --no-pager --color never show @ --all; code 0
out_has '· tomorrow  reason: a tree line of a la…'

it "shows all of one that alone is asked for"
arbor show @@00000000-0000-4000-8000-0000000000a2; code 0
out_has '· tomorrow'
out_has '"parentUuid":"00000000-0000-4000-8000-0000000000a1"'

it "goes on over what it does not know"
arbor log @; code 0
for text in 'first prompt' 'first answer' 'second prompt'; do out_has "$text"; done
out_lacks '·'
arbor tree @; code 0
out_has '● 2  133c3b5d-0fe5-5a9a-b450-27fe6b9d6429  second prompt'

it "tells on the way what was noted there, and nothing of another way"
arbor log @ --all; code 0
grep '^·' "$T/out" >"$T/noted"
printf '%s\n' '· mode  normal' '· tomorrow  reason: a tree line of a later client' '· system/turn_duration  2.5 s' \
	'· pr-link  o/r#7  https://x.example/7' >"$T/wanted"
same "$T/wanted" "$T/noted"
arbor log @@00000000-0000-4000-8000-0000000000b1 --all; code 0
out_has '· note-of-tomorrow'
out_lacks '· pr-link'
the_end
