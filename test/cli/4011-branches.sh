#!/bin/sh
# Branches of git: what was written while on one, line by line.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store" TZ=UTC
ID=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e71
P=$T/claude/projects/-w
F=$P/$ID.jsonl
mkdir -p "$P"
lines() { [ "$(wc -l <"$T/out")" -eq "$1" ] || { fail "not $1 lines"; show "$T/out"; }; }
n=0
said() { # TEXT MEMBERS: an answer
	n=$((n + 1))
	printf '{"type":"assistant","uuid":"00000000-0000-4000-8000-%012d","parentUuid":null,"sessionId":"%s","cwd":"/w","timestamp":"2026-01-02T03:04:%02d.000Z",%s"message":{"id":"m%d","role":"assistant","model":"m","content":[{"type":"text","text":"%s"}]}}\n' "$n" "$ID" "$n" "$2" "$n" "$1"
}
{
	said 'gull nowhere' ''
	said 'gull on the main branch' '"gitBranch":"main",'
	said 'gull on a feature' '"gitBranch":"feature/nest",'
	said 'gull that does not say' ''
	said 'gull on no branch' '"gitBranch":"",'
	said 'gull back on main' '"gitBranch":"main",'
} >"$F"
arbor sync --source "$T/claude"; code 0

it "asks each line for its branch, and not the conversation"
arbor search gull -n 0; lines 6
arbor search gull branch:main --json; lines 2; out_lacks feature; check test "$(grep -c '"branch":"main"' "$T/out")" -eq 2
arbor search gull branch:feature/nest --json; lines 2; out_has 'on a feature'; out_has 'does not say'
arbor search gull 'branch:feature/*'; lines 2
arbor search branch:main; lines 2

it "takes several branches, and leaves some out"
arbor search gull branch:main 'branch:feature/*'; lines 4
arbor search 'gull -branch:main' -n 0; lines 4; out_has nowhere; out_has 'no branch'
arbor search 'gull -branch:main' -n 0 --json; out_has '"branch":"feature/nest"'; out_lacks '"branch":"main"'
arbor search gull branch:none; code 1

it "comes to the same when more is written"
cp "$F" "$T/first"
said 'gull again' '"gitBranch":"main",' >>"$F"
said 'gull moved' '"gitBranch":"other",' >>"$F"
arbor sync --source "$T/claude"; code 0
arbor search gull branch:main; lines 3
arbor search gull branch:other; lines 1

it "knows it of what is gone from the file"
said 'tern alone' '"gitBranch":"late",' >"$F"
arbor sync --source "$T/claude"; code 0
arbor search gull is:withdrawn branch:feature/nest; lines 2
arbor list --json; title=$(python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())["title"])' "$T/out")
arbor search gull is:withdrawn --json; out_has "\"title\":\"$title\""
arbor search tern branch:late; lines 1
arbor search tern branch:main; code 1

it "shows around a hit what is on its branch of the conversation"
B=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e72
turn() { # NUMBER PARENT TEXT [MEMBERS]
	up=null; [ "$2" -eq 0 ] || up=$(printf '"00000000-0000-4000-9000-%012d"' "$2")
	printf '{"type":"user","uuid":"00000000-0000-4000-9000-%012d","parentUuid":%s,"sessionId":"%s","cwd":"/b","timestamp":"2026-02-02T03:04:%02d.000Z",%s"message":{"role":"user","content":"%s"}}\n' \
		"$1" "$up" "$B" "$1" "${4-}" "$3"
}
{
	turn 1 0 'the first tern'
	turn 2 1 'an abandoned auk'
	turn 3 2 'more of the auk'
	turn 4 1 'a second tern'
	turn 5 4 'told to a skua aside' '"isSidechain":true,'
	turn 6 4 'the third puffin'
	turn 7 6 'the last tern'
} >"$P/$B.jsonl"
arbor sync --source "$T/claude"; code 0
around() { "$ARBOR" search --json -n 1 --context 3 "$1" 2>/dev/null | grep -o '"text":"[^"]*"' | cut -d: -f2 | tr -d '"' | tr '\n' ,; }
check test "$(around puffin)" = 'the first tern,a second tern,the last tern,'
check test "$(around abandoned)" = 'the first tern,more of the auk,'
check test "$(around skua)" = 'the first tern,a second tern,'
check test "$(around first)" = 'a second tern,the third puffin,the last tern,'

the_end
