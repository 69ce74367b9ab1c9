#!/bin/bash
# What the client has written since the last sync counts for whoever goes on: the last one is the last one, and is found.
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py ANTHROPIC_API_KEY=none
W=$T/work
P=$T/.claude/projects/${W//[^a-zA-Z0-9]/-}
mkdir -p "$W" "$P"
# talk N [DIR]: a conversation of its own, later than those with smaller numbers.
talk() {
	local id=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0$1
	printf '{"parentUuid":null,"isSidechain":false,"type":"user","uuid":"0000000%d-0000-4000-8000-000000000001","timestamp":"2026-11-1%dT10:00:01.000Z","cwd":"%s","sessionId":"%s","version":"2.1.197","promptSource":"typed","message":{"role":"user","content":"question %d"}}\n' \
		"$1" "$1" "$W" "$id" "$1" >"${2:-$P}/$id.jsonl"
	printf '{"parentUuid":"0000000%d-0000-4000-8000-000000000001","isSidechain":false,"type":"assistant","uuid":"0000000%d-0000-4000-8000-000000000002","timestamp":"2026-11-1%dT10:00:02.000Z","cwd":"%s","sessionId":"%s","version":"2.1.197","message":{"id":"m%d","type":"message","role":"assistant","model":"opus","content":[{"type":"text","text":"answer %d"}]}}\n' \
		"$1" "$1" "$1" "$W" "$id" "$1" "$1" >>"${2:-$P}/$id.jsonl"
}
get() { jq -r "$1" "$T/out"; }
talk 1; arbor sync; code 0

it "means the last one by @, before any sync"
talk 2; arbor resume --json; code 0; check test "$(get .session)" = 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02
talk 3; arbor resume @ --before --json; code 0; check test "$(get .prompt)" = 'question 3'
talk 4; arbor fork @~1@00000003-0000-4000-8000-000000000002 --before --json; code 0; check test "$(get .prompt)" = 'question 3'
it "says how to go further back when one has been there already"
F=$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e04.jsonl
for n in 4 5 6; do sed "s/00000004-/0000004$n-/g; s/question 4/more $n/; s/\"m4\"/\"m4$n\"/; s/10:00/10:0$n/; s/null/\"0000004$((n - 1))-0000-4000-8000-000000000002\"/" "$F" >"$T/turn$n"; done
sed -i 's/00000043-/00000004-/' "$T/turn4"; cat "$T"/turn[456] >>"$F"
arbor resume --before; code 0; out_has 'more 6'; err_lacks 'already'; first=$(sed -n 's/^session	//p' "$T/out")
arbor resume --before; code 0; out_has 'more 6'; err_has "you have that already as ${first:0:8}; one more back: arbor resume ${first:0:8} --before"
eval "$(sed -n 's/.*one more back: arbor/arbor/p' "$T/err")"; code 0; out_has 'more 5'; err_lacks 'already'
it "finds a session and a message by their ids, before any sync"
talk 5; arbor resume 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e05 --json; code 0; check test "$(get .session)" = 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e05
talk 6; arbor fork 00000006-0000-4000-8000-000000000002 --before --json; code 0; check test "$(get .prompt)" = 'question 6'
it "moves a head to what is new"
arbor fork 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01 one; code 0
talk 7; arbor checkout one 00000007-0000-4000-8000-000000000001 --json; code 0; check test "$(get .prompt)" = 'question 7'
talk 8; arbor checkout one @ --json; code 0; check test "$(get .claude_session_id)" = 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e08
it "says that it is in a conversation that shares nothing with the one it was in"
arbor fork 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01 two; code 0; arbor checkout two 00000008-0000-4000-8000-000000000002; code 0
err_has "'two' is in another conversation now, which shares nothing with the one before: \"question 8\""
arbor checkout two 00000008-0000-4000-8000-000000000002; code 0; err_lacks 'shares nothing'
it "tells who reads that the client has written on, when it has come to the end of a line"
F=$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e08.jsonl; arbor sync -q; code 0
# shellcheck disable=SC2086 # words
reads() { for verb in tree branches log 'log --as-sent'; do arbor $verb 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e08; code 0; "$1" 'the client has written on'; done; }
reads err_lacks
line=$(sed 's/00000008-/00000088-/; s/"m8"/"m88"/' "$F" | tail -n 1); printf %s "$line" >>"$F"; reads err_lacks
echo >>"$F"; reads err_has; arbor diff 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0{8,7}; err_has 'the client has written on'
arbor sync -q; reads err_lacks
it "says what is nowhere as before"
arbor fork feedfeed; code 1; err_has "no session or node begins with 'feedfeed'"
arbor fork betta; code 2

it "means the last one of the folder somebody is in, where none is named"
V=$T/elsewhere; Q=$T/.claude/projects/${V//[^a-zA-Z0-9]/-}; mkdir -p "$V/below" "$Q" "$T/third"
W=$V talk 9 "$Q"; arbor sync -q; code 0
here() { (cd "$1" && shift && arbor "$@"; exit $rc); rc=$?; }
for dir in "$W" "$V" "$T/third"; do
	last=8; [ "$dir" = "$W" ] || last=9
	here "$dir" resume --json; code 0; check test "$(get .session)" = "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0$last"
	for verb in tree log show branches; do here "$dir" $verb --json; code 0; out_has "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0$last"; done
done
here "$W" resume @ --json; code 0; check test "$(get .session)" = 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e09
here "$W" log @.@00000008-0000-4000-8000-000000000001 --json; code 0; here "$W" show @.~1 --json; code 0; out_has 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e07
here "$V" show @.~1; code 1; err_has 'so far back there is no session; the oldest is @.~0'
here "$T/third" show @.~1 --json; code 0; out_has 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e08
it "tells who reads there of a conversation that is not here yet"
for verb in tree branches log; do here "$V" $verb; code 0; err_lacks 'the client has written'; done
mv "$Q/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e09.jsonl" "$T/nine"; mkdir "$T/ten"; W=$V talk 3 "$T/ten"
sed 's/0a1b2c3d4e03/0a1b2c3d4e0c/; s/"0000000/"000000c/g; s/question 3/walrus/' "$T/ten/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03.jsonl" >"$Q/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0c.jsonl"
for verb in tree branches log; do here "$V" $verb; code 0; err_has "the client has written in this folder since the last sync; 'arbor sync' brings that in"; done
here "$V" tree 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e07; code 0; err_lacks 'the client has written'
here "$V" search walrus; code 1; err_has 'the client has written in this folder'; here "$W" search walrus; code 1; err_lacks 'the client has written'
ARBOR_SYNC_EXCLUDE='projects/*0c.jsonl' here "$V" tree; code 0; err_lacks 'the client has written'
ARBOR_SYNC_EXCLUDE="$V" here "$V" tree; code 0; err_lacks 'the client has written'
ARBOR_SYNC_MAX_SIZE=100 here "$V" tree; code 0; err_lacks 'the client has written'
# shellcheck disable=SC2086 # words
for verb in show 'log @.~0..' 'diff @. 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e07'; do here "$V" $verb; check test "$verb $(grep -c 'the client has written' "$T/err")" = "$verb 1"; done
here "$V" agents; err_has 'the client has written'; here "$V" files; err_has 'the client has written'
touch -d tomorrow "$Q/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0d.jsonl"; here "$V" tree; err_has 'the client has written'
arbor sync -q; here "$V" tree; code 0; err_lacks 'the client has written'; here "$V" search walrus; code 0
arbor purge 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e09 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e0c --yes; code 0
arbor sync -q; here "$V" tree; code 0; err_lacks 'the client has written'; rm -r "$Q"; arbor sync -q; code 0

it "leaves a folder alone that the store does not know"
mkdir -p "$T/backup/projects/-x"; talk 1 "$T/backup/projects/-x"
export ARBOR_HOME=$T/other; arbor sync --source "$T/backup" -q; code 0
arbor resume @ --json; code 0; check test "$(get .session)" = 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01
arbor list --json; code 0; check test "$(wc -l <"$T/out")" = 1
it "leaves out what the settings leave out"
export ARBOR_HOME=$T/third; arbor sync -q --exclude "$P/*04.jsonl" --exclude "projects/*04.jsonl"; code 0
talk 9; ARBOR_SYNC_EXCLUDE='projects/*09.jsonl:projects/*04.jsonl' arbor resume @ --json; code 0; check test "$(get .session)" = 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e08
it "goes on with what is here when the folder is gone"
mv "$T/.claude" "$T/gone"; arbor fork @ --json; code 0; check test "$(get .from)" = 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e08
the_end
