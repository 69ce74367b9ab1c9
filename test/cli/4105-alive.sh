#!/usr/bin/env bash
# Which sessions a client has open just now, and the other filters of 'arbor list'.
. test/harness/lib.sh
export ARBOR_HOME=$T/store TZ=UTC
S=$T/claude
cp -r demo "$S"
arbor sync --source "$S"; code 0
session=2396d03e-3b6d-406b-8ec3-9579853cd7ff
ids() { check test "$(cut -f 1 "$T/out" | cut -c 1-8 | tr '\n' ' ')" = "$1"; }
note() { # PID SESSION START
	printf '{"pid":%s,"sessionId":"%s","cwd":"/home/dev/webshop","startedAt":1794768793163,"procStart":"%s","version":"2.1.197","kind":"interactive","status":"idle"}' \
		"$1" "$2" "$3" >"$S/sessions/$1.json"
}
start_of() { sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 20; }

it "lists those touched since a time, or on a branch"
arbor list --since 2026-11-13; code 0; ids 'd4861786 5265a86a '
arbor list --since 2026-11-13T08:00:00Z; ids 'd4861786 '
arbor list --since 2026-11-10 --project parser; ids '1ee16f35 e5d8736a '
arbor list --since 1w -n 0; [ "$rc" -le 1 ] || fail "ended with $rc"
arbor list --since 2999-01-01; code 1; err_has 'no session like that'
arbor list --since soon; code 2; err_has "'soon' is not a time such as"
arbor list --branch main -n 0; code 0; check test "$(wc -l <"$T/out")" -eq 14
arbor list --branch mai; code 1; err_has 'no session like that'
arbor list -n 3 --branch main; err_has '3 of 14 sessions'

it "lists those that branch, and those of a model"
arbor sync --source demo --store "$T/demo.db"; code 0
arbor list --branched --store "$T/demo.db"; code 0
ids '24bf71fb b899e3df a142ef82 ' # the first is a fork that goes on where the second stopped
mkdir -p "$T/again/projects/-w"
for i in 1 2; do
	printf '{"type":"user","uuid":"99999999-000%d-4000-8000-000000000001","parentUuid":null,"timestamp":"2026-01-01T00:0%d:00.000Z","message":{"role":"user","content":"try %d"}}\n' $i $i $i
	printf '{"type":"assistant","uuid":"99999999-000%d-4000-8000-000000000002","parentUuid":"99999999-000%d-4000-8000-000000000001","timestamp":"2026-01-01T00:0%d:05.000Z","message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":"done"}]}}\n' $i $i $i $i
done >"$T/again/projects/-w/99999999-0000-4000-8000-000000000000.jsonl"
arbor sync --source "$T/again" --store "$T/again.db"; code 0
arbor list --branched --store "$T/again.db"; code 0; ids '99999999 ' # from before its first prompt
arbor list --model opus --store "$T/demo.db"; code 0
check test "$(wc -l <"$T/out")" -gt 5
arbor list --model no-such-model --store "$T/demo.db"; code 1
arbor list --model '' --store "$T/demo.db"; code 2; err_has '--model: which one?'

it "does not take what a killed client left behind for alive"
check test -e "$S/sessions/18034.json"
arbor list --alive; code 1; err_has 'no session like that'
arbor list --json -n 0; check test "$(grep -c '"alive":false' "$T/out")" -eq 15; out_lacks '"pid"'

if [ ! -r /proc/self/stat ]; then
	it "knows who is alive"
	skip 'there is no /proc'
	the_end
fi
sleep 60 &
pid=$!
start=$(start_of $pid)

it "knows who is alive, without a sync"
note $pid $session "$start"
arbor list --alive; code 0; ids '2396d03e '
arbor list --json --alive; out_has '"alive":true,"pid":'$pid
arbor list --json -n 0; check test "$(grep -c '"alive":true' "$T/out")" -eq 1
arbor list --alive --project parser; code 1
arbor show 2396 --json; sed -n 1p "$T/out" >"$T/line"; check grep -q '"alive":true,"pid":'$pid "$T/line"
arbor show @ --json; sed -n 1p "$T/out" >"$T/line"; check grep -q '"alive":false' "$T/line"
on_terminal show 2396 --color never --no-pager; out_has 'open now'

it "says when one is open that is not in the store"
note $pid 99999999-0000-4000-8000-000000000001 "$start"
arbor list --alive; code 1; err_has "1 more is open, but not in the store yet"

it "tells a client from a later process of its number"
note $pid $session "${start}1"; arbor list --alive; code 1
note $pid $session ''; arbor list --alive; code 1

it "takes no harm from other files there"
note $pid $session "$start"
printf 'nonsense' >"$S/sessions/1.json"
printf '{"pid":1,"sessionId":"../../x"}' >"$S/sessions/2.json"
mkfifo "$S/sessions/3.json"; mkdir "$S/sessions/4.json"
head -c 200000 /dev/zero >"$S/sessions/5.json"
ln -s "$T/elsewhere.json" "$S/sessions/6.json"
printf '{"pid":%s,"sessionId":"%s","procStart":"%s"}' $pid a142ef82-8817-4271-a6f0-ba29c1d2a50a "$start" >"$T/elsewhere.json"
arbor list --alive; code 0; ids '2396d03e '

it "does not take a process for alive that has ended"
kill $pid; wait $pid 2>/dev/null
arbor list --alive; code 1
rm -r "$S"; arbor list --alive; code 1
arbor list; code 0
the_end
