#!/bin/bash
# Lines with one uuid in several files that do not have the same words, or lose them one by one: each is found as long as
# a file has it, and counts once.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
id() { printf '%08d-0000-4000-8000-000000000000' "$1"; } # of a session
uuid() { printf '%08d-1111-4111-8111-111111111111' "$1"; }
front() { printf '"sessionId":"%s","uuid":"%s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w"' "$(id "$1")" "$(uuid "$2")"; } # SESSION N
said() { printf '{"type":"assistant",%s,"message":{"role":"assistant","id":"%s","model":"%s","content":[{"type":"text","text":"%s"}]}}\n' "$(front "$1" "$2")" "${5:-msg_$2}" "$3" "$4"; } # SESSION N MODEL TEXT [MESSAGE]
typed() { printf '{"type":"user",%s,"message":{"role":"user","content":"%s"}}\n' "$(front "$1" "$2")" "$3"; }
noted() { printf '{"type":"queue-operation","operation":"enqueue",%s,"content":"%s"}\n' "$(front "$1" "$2")" "$3"; }
titled() { printf '{"type":"custom-title",%s,"customTitle":"%s"}\n' "$(front "$1" "$2")" "$3"; }
n=0
begin() { n=$((n + 1)); S=$T/claude$n; export ARBOR_HOME=$T/store$n; mkdir -p "$S/projects/-w"; }
# What a session says, from stdin; then all is synced.
file() { cat >"$T/new" && mv "$T/new" "$S/projects/-w/$(id "$1").jsonl" && arbor sync -q --source "$S" && [ "$rc" = 0 ]; }
hits() { "$ARBOR" search "$@" --json 2>/dev/null | wc -l; }
total() { "$ARBOR" search "$@" --json 2>/dev/null | sed -n '1s/.*"total":\([0-9]*\).*/\1/p'; }
sound() { arbor check; code 0; arbor dump --logical; code 0; }

it "a prompt that waited is gone where it was said, and stays where it was not"
begin
{ typed 1 1 start && noted 1 2 'count the quokka'; } | file 1
{ typed 2 1 start && noted 2 2 'count the quokka'; } | file 2
{ typed 3 1 start && noted 3 2 'count the quokka'; } | file 3
{ typed 1 1 start && noted 1 2 'count the quokka' && typed 1 3 'count the quokka'; } | file 1
{ typed 2 1 start && noted 2 2 'count the quokka' && typed 2 4 'count the quokka'; } | file 2
for s in 1 2 3; do check test "$(hits "quokka session:$(id $s)")" = 1; done
typed 1 9 nothing | file 1
check test "$(hits "quokka session:$(id 1)")" = 0
for s in 2 3; do check test "$(hits "quokka session:$(id $s)")" = 1; done
sound

it "one of several counts, whatever becomes of files that share other lines"
begin
said 1 1 x 'quokka one' | file 1
said 2 1 x 'quokka one' | file 2
{ said 3 1 y 'quokka one' && said 3 5 y numbat; } | file 3
{ said 4 1 y 'quokka one' && said 4 6 y bilby; } | file 4
{ said 5 5 y numbat && said 5 6 y bilby; } | file 5
check test "$(total quokka)" = 1
{ said 5 7 y other && said 5 5 y numbat && said 5 6 y bilby; } | file 5
check test "$(total quokka)" = 1
for s in 1 2 3 4; do check test "$(hits "quokka session:$(id $s)")" = 1; done
sound

it "the last that is left counts"
for s in 1 2 3; do
	said "$s" 8 x "gone $s" | file "$s"
	check test "$("$ARBOR" search quokka --json | grep -vc '"withdrawn":true')" = 1
done
check test "$(hits "quokka session:$(id 4)")" = 1
sound

it "so does one whose only kin says something else under the same id"
begin
said 1 1 x 'another text' | file 1
said 2 1 x 'quokka says' | file 2
said 3 1 y 'quokka says' | file 3
arbor purge "$(id 2)" --yes; code 0
check test "$(hits quokka)" = 1
sound

it "notes of the client with one id are two when they say different things"
begin
{ typed 1 5 start && titled 1 1 'bilby one'; } | file 1
{ typed 2 6 start && titled 2 1 'numbat two'; } | file 2
check test "$(hits bilby)" = 1; check test "$(hits numbat)" = 1
sound

it "an answer of two lines that lost its second, or its first, is found with what was withdrawn"
for left in 1 2; do
	begin
	{ said 1 1 m 'wombat first' msg_a && said 1 2 m 'wombat second' msg_a; } | file 1
	said 1 $left m "wombat $([ $left = 1 ] && echo first || echo second)" msg_a | file 1
	arbor search wombat --json; code 0; check test "$(wc -l <"$T/out")" -eq 2
	check test "$(grep -c '"withdrawn":true' "$T/out")" -eq 1
	withdrawn=$(sed -n '/"withdrawn":true/s/.*"id":"\([^"]*\)".*/\1/p' "$T/out")
	arbor show "$withdrawn"; code 0; out_has wombat
	sound
done
the_end
