#!/bin/bash
# What is purged is gone: from every answer, from the file of the store, and it does not come back.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
S=$T/.claude P=$S/projects/-w D=$T/.local/share/arbor/arbor.db
mkdir -p "$P"

# user SESSION N PARENT TEXT; answer so too. Uuids are made of N.
user() { printf '{"parentUuid":%s,"sessionId":"%s","type":"user","uuid":"%08d-1111-4111-8111-111111111111","timestamp":"2026-01-02T03:%02d:00.000Z","cwd":"/w/%s","gitBranch":"main","message":{"role":"user","content":"%s"}}\n' "$3" "$1" "$2" "$2" "${5:-shop}" "$4"; }
answer() { printf '{"parentUuid":"%08d-1111-4111-8111-111111111111","sessionId":"%s","type":"assistant","uuid":"%08d-1111-4111-8111-111111111111","timestamp":"2026-01-02T03:%02d:00.000Z","message":{"id":"msg_%d","role":"assistant","model":"m","content":[{"type":"text","text":"%s"}]}}\n' "$3" "$1" "$2" "$2" "$2" "$4"; }
A=aaaaaaaa-0000-4000-8000-000000000000 B=bbbbbbbb-0000-4000-8000-000000000000
talk() {
	printf '{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-02T03:00:59.000Z","sessionId":"%s","content":"the password is zebrafinch, keep it"}\n' "$A"
	user "$A" 1 null 'the password is zebrafinch, keep it' && answer "$A" 2 1 'kept zebrafinch' && answer "$A" 3 2 'anything else'
	printf '{"type":"last-prompt","lastPrompt":"the password is zebrafinch, keep it","sessionId":"%s"}\n' "$A"
} >"$P/$A.jsonl"
talk
user "$B" 5 null 'nothing secret here' >"$P/$B.jsonl"
{ user "$A" 1 null 'the password is zebrafinch, keep it' && answer "$B" 6 1 'a fork'; } >"$P/cccccccc-0000-4000-8000-000000000000.jsonl"
printf '{"display":"the password is zebrafinch, keep it","timestamp":1,"project":"/w","sessionId":"%s"}\n{"display":"typed wagtail","timestamp":1,"project":"/w","sessionId":"%s"}\n{"display":"typed elsewhere","timestamp":2,"project":"/w","sessionId":"%s"}\n' "$A" "$A" "$B" >"$S/history.jsonl"
arbor sync; code 0
cp "$P/$A.jsonl" "$T/a.jsonl"
first=$("$ARBOR" show "$A" --json | sed -n 's/.*"kind":"message","id":"\([^"]*\)".*/\1/p' | sed -n 1p)
second=$("$ARBOR" show "$A" --json | sed -n 's/.*"kind":"message","id":"\([^"]*\)".*/\1/p' | sed -n 2p)

# Nobody finds it: by any verb, nor in the files of the store as they are.
is_gone() { # WORD
	arbor search "$1"; code 1; out_lacks "$1"
	arbor search "$1" --exact; out_lacks "$1"
	arbor sql "SELECT * FROM messages"; out_lacks "$1"
	arbor sql "SELECT * FROM sessions"; out_lacks "$1"
	for s in "$A" "$B"; do arbor show "$s" --all; out_lacks "$1"; arbor log "$s"; out_lacks "$1"; done
	arbor list --json; out_lacks "$1"
	arbor projects --json; out_lacks "$1"
	arbor history --limit 0; out_lacks "$1"
	arbor dump --logical; code 0; out_lacks "$1"
	"$ARBOR" sources -0 | xargs -0 -n 1 "$ARBOR" export --with-gaps >"$T/all"
	check test -s "$T/all"
	! grep -q "$1" "$T/all" || fail "an export has '$1'"
	! grep -aq "$1" "$D" "$D"-* || fail "a file of the store has '$1'"
}
is_there() { arbor search zebrafinch; code 0; }

it "has something to purge"
is_there
check grep -aq zebrafinch "$D"
check test -n "$first" -a -n "$second"

it "says what would go, and does nothing"
arbor purge "$second" --dry-run; code 0
out_has "false	projects/-w/$A.jsonl"; err_has 'would go: 1 line in 1 file'
arbor purge "$second"; code 2; err_has -- --yes; err_has -- --dry-run
arbor call memory.purge "{\"id\":[\"$second\"]}"; code 2
is_there

it "asks on a terminal, and takes nothing but a yes for one"
for keys in 'n\r' '\r' '\004' 'maybe\r'; do
	TERM=xterm "$BUILD/tool/pty" -i "$(printf '%b' "$keys")" 100x30 "$ARBOR" purge "$second" >"$T/out"; rc=$?
	code 130; out_has 'Purge this for good? [y/N]'; out_has 'nothing was done'
done
is_there

it "purges a message when told to, once"
TERM=xterm "$BUILD/tool/pty" -i "$(printf 'y\r')" 100x30 "$ARBOR" purge "$second" >"$T/out"; rc=$?
code 0; out_has 'gone: 1 line in 1 file'
check test "$(grep -c "projects/-w/$A" "$T/out")" -eq 1
arbor search kept; code 1
is_there # the prompt
arbor show "$second"; code 1; err_has "$second was purged on 20"
arbor show "$(echo "$second" | cut -c 1-8)"; code 1; err_has 'was purged on 20'
arbor purge "$second" --yes; code 1; err_has 'was purged on'

it "purges a prompt in every copy, and everything made of it"
arbor list; out_has 'zebrafinch' # a title
arbor purge "$first" --yes; code 0; err_has 'gone: 5 lines in 3 files' # and what was typed, and noted
arbor search zebrafinch; code 1
arbor list --json; out_lacks zebrafinch
arbor sql 'SELECT * FROM messages'; out_lacks zebrafinch
arbor history --limit 0; out_lacks zebrafinch; out_has wagtail
arbor check; code 0

it "keeps everything else, byte by byte, and says where something is missing"
arbor export "projects/-w/$A.jsonl"; code 1; check test ! -s "$T/out"
err_has ' at 0 (purge)'; err_has -- --with-gaps
arbor export "projects/-w/$A.jsonl" --with-gaps; code 0
cp "$T/out" "$T/gaps.jsonl"
check test "$(wc -c <"$T/gaps.jsonl")" -eq "$(wc -c <"$T/a.jsonl")"
check test "$(sed -n 4p "$T/gaps.jsonl")" = "$(sed -n 4p "$T/a.jsonl")"
check test -z "$(sed 4d "$T/gaps.jsonl" | tr -d ' \n')"
arbor export "projects/-w/$B.jsonl"; code 0; same "$P/$B.jsonl" "$T/out"
arbor sources --json; check test "$(grep -c '"purged_bytes"' "$T/out")" -eq 3
arbor dump --logical; check test "$(grep -c ' purged=[1-9]' "$T/out")" -eq 3

it "lets nothing bring it back"
same "$P/$A.jsonl" "$T/a.jsonl" # files outside are not touched
for how in '' --force; do arbor sync $how; code 0; arbor search zebrafinch; code 1; done
arbor rebuild; code 0; arbor search zebrafinch; code 1
talk && arbor sync && arbor search zebrafinch; code 1
cp "$P/$A.jsonl" "$P/dddddddd-0000-4000-8000-000000000000.jsonl" && arbor sync; code 0; arbor search zebrafinch; code 1
mv "$P/$A.jsonl" "$P/eeeeeeee-0000-4000-8000-000000000000.jsonl" && arbor sync; code 0; arbor search zebrafinch; code 1
mv "$P/eeeeeeee-0000-4000-8000-000000000000.jsonl" "$P/$A.jsonl" && arbor sync; code 0
mkdir -p "$T/backup/projects" && cp -r "$P" "$T/backup/projects/" && arbor sync --source "$T/backup" --label backup; code 0
arbor search zebrafinch; code 1
arbor versions "claude:projects/-w/$A.jsonl"; check test "$(wc -l <"$T/out")" -eq 1
arbor check; code 0

it "lets a watch not bring it back either"
"$ARBOR" sync --watch >"$T/w.out" 2>"$T/w.err" &
pid=$!
for _ in $(seq 300); do grep -q watching "$T/w.err" && break; sleep 0.1; done
cp "$T/a.jsonl" "$P/ffffffff-0000-4000-8000-000000000000.jsonl"
user "$B" 8 null 'a canary of another colour' >>"$P/$B.jsonl"
for _ in $(seq 300); do "$ARBOR" search colour >/dev/null 2>&1 && break; sleep 0.1; done
arbor search colour; code 0
arbor search zebrafinch; code 1
kill "$pid"; wait "$pid"

it "purges a session with all that is kept for it"
{ user "$B" 20 null 'quetzalcoatl flies' quetzalhome && answer "$B" 21 20 'indeed quetzalcoatl'; } >>"$P/$B.jsonl"
mkdir -p "$S/todos" "$P/$B/tool-results"
printf '[{"content":"feed quetzalcoatl","status":"pending"}]' >"$S/todos/$B-agent-$B.json"
printf 'quetzalcoatl eats\n' >"$P/$B/tool-results/t.txt"
printf '{"display":"typed quetzalcoatl","timestamp":3,"project":"/w","sessionId":"%s"}\n' "$B" >>"$S/history.jsonl"
rm "$T/backup/projects/-w/$B.jsonl"
arbor sync; code 0
arbor search quetzalcoatl; code 0
arbor purge "claude:$B" --dry-run; code 0
out_has "true	projects/-w/$B.jsonl"; out_has "todos/$B"; out_has "$B/tool-results/t.txt"; out_has 'false	history.jsonl'
arbor purge "claude:$B" --yes; code 0
is_gone quetzalcoatl
is_gone quetzalhome
arbor history --limit 0; out_has wagtail # of another session
arbor show "$B"; code 1; err_has "session $B was purged on 20"
arbor todos; code 1
arbor sources; check grep -q "purged	projects/-w/$B.jsonl" "$T/out"
arbor check; code 0

it "does not read its files any more"
user "$B" 30 null 'a platypus later' >>"$P/$B.jsonl"
printf 'a platypus\n' >"$P/$B/tool-results/new.txt"
arbor sync; code 0; err_has 'unchanged'
arbor sync --force; code 0
arbor search platypus; code 1
arbor sources; out_lacks new.txt

it "does not even open them"
if command -v strace >/dev/null && strace -o "$T/trace" true 2>/dev/null; then
	ASAN_OPTIONS=detect_leaks=0 strace -f -e trace=openat,openat2,open -o "$T/trace" "$ARBOR" sync --force >/dev/null 2>&1
	check grep -q "$A.jsonl" "$T/trace"
	! grep "$B" "$T/trace" | grep -v ENOENT | grep -v O_DIRECTORY | grep -q . || fail "it was opened"
else
	skip 'strace does not work here'
fi

it "takes a whole tree, and tells before that a session shares something"
X=99999999-0000-4000-8000-000000000001 Y=99999999-0000-4000-8000-000000000002
{ user "$X" 40 null 'okapi question' && answer "$X" 41 40 'okapi answer'; } >"$P/$X.jsonl"
{ cat "$P/$X.jsonl" && answer "$Y" 42 41 'okapi goes on'; } >"$P/$Y.jsonl"
arbor sync; code 0
arbor purge "$X" --dry-run; code 0; err_has '2 lines other sessions have, too'; err_has -- --tree
arbor purge "$X" --yes; code 0
arbor search okapi; code 0; out_has "$Y"
arbor purge "$Y" --tree --yes; code 0
is_gone okapi
arbor check; code 0

it "takes lines of a file that was emptied, whatever was noted of how it begins"
Z=99999999-0000-4000-8000-000000000003
user "$Z" 50 null 'numbat question' >"$P/$Z.jsonl"
arbor sync; code 0
numbat=$("$ARBOR" search numbat --json | sed -n 's/.*"message":"\([^"]*\)".*/\1/p')
: >"$P/$Z.jsonl"
arbor sync; code 0
sqlite3 "$D" "UPDATE source SET head_length = 4096 WHERE path LIKE '%$Z%'" # as a file that grew while it was read
arbor purge "$numbat" --yes; code 0
is_gone numbat
arbor check; code 0
the_end
