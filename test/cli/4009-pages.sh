#!/bin/sh
# Pages of hits: joined they are the whole answer. Copies are one hit.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
P=$T/claude/projects/-w
mkdir -p "$P"
lines() { [ "$(wc -l <"$T/out")" -eq "$1" ] || { fail "not $1 lines"; show "$T/out"; }; }

# Conversations over two years, in which the same words stand again and again: many hits are equally good, and
# documents that stand side by side are of different days.
awk -v dir="$P" 'BEGIN {
	split("lint test parser money branch commit error index token merge", w, " ")
	for (s = 0; s < 9; s++) {
		id = sprintf("0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e%02d", s); file = dir "/" id ".jsonl"; before = "null"
		for (i = 0; i < 45; i++) {
			uuid = sprintf("%08d-0000-4000-8000-%012d", s, i)
			text = w[1 + (i * 7 + s) % 10] " " w[1 + (i * 3 + s * s) % 10] (i % 4 ? " " w[1 + i % 10] : "")
			at = sprintf("20%02d-%02d-%02dT10:00:%02d.000Z", 25 + (s + i) % 2, 1 + (s * 5 + i) % 12, 1 + i % 28, i)
			front = sprintf("{\"uuid\":\"%s\",\"parentUuid\":%s,\"sessionId\":\"%s\",\"cwd\":\"/w\",\"timestamp\":\"%s\",", uuid, before, id, at)
			if (i % 2)
				printf "%s\"type\":\"assistant\",\"message\":{\"id\":\"m%d-%d\",\"role\":\"assistant\",\"model\":\"claude-%s\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1},\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}}\n", front, s, i, s % 2 ? "haiku" : "opus", text >file
			else
				printf "%s\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"%s\"}}\n", front, text >file
			before = "\"" uuid "\""
		}
	}
}'
# A fork: the same lines, and more. A line that stands twice in one file.
fork=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4eff
sed 's/"sessionId":"[^"]*"/"sessionId":"'$fork'"/' "$P"/*e00.jsonl >"$P/$fork.jsonl"
sed -n 1p "$P"/*e00.jsonl | sed "s/.*/{\"uuid\":\"ffffffff-0000-4000-8000-000000000001\",\"parentUuid\":\"00000000-0000-4000-8000-000000000044\",\"sessionId\":\"$fork\",\"cwd\":\"\/w\",\"timestamp\":\"2026-11-01T10:00:00.000Z\",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"only the fork has walrus\"}}/" >>"$P/$fork.jsonl"
echo '{"type":"custom-title","customTitle":"where it began","timestamp":"2024-01-01T00:00:00.000Z"}' >>"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e00.jsonl"
sed -n 3p "$P"/*e08.jsonl >>"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e08.jsonl"
arbor sync --source "$T/claude"; code 0

cat >"$T/queries" <<'Q'
lint
test
parser
money
branch
commit
error
index
token
merge
lint test
test parser
money OR branch
commit OR error
index OR token OR merge
lint -test
test -lint
"lint lint"
"branch error"
"error index"
NEAR(lint test, 3)
par*
mon*
to*
e*
lint role:user
lint role:assistant
test in:prompt
test in:answer
model:haiku
model:opus
model:haiku test
lint -model:haiku
after:2026-01 lint
before:2026-01 lint
day:2025 error
role:user
role:assistant
role:user after:2026-06
project:/w merge
(lint OR test) -parser
merge --sort recent
merge --sort old
role:user --sort old
lint --case-sensitive
token --regex
lint test --sort recent
branch --in answer
error --role user
index --days 3000
Q

it "gives pages that are the whole answer when they are joined, for 50 queries"
check test "$(wc -l <"$T/queries")" -eq 50
while read -r query; do
	case $query in
	*' --'*) set -- "${query%% --*}" "--${query#* --}" ;;
	*) set -- "$query" ;;
	esac
	# shellcheck disable=SC2086
	"$ARBOR" search -n 0 "$1" ${2-} </dev/null >"$T/whole" 2>"$T/err"
	n=$(wc -l <"$T/whole")
	[ "$n" -gt 3 ] || fail "$query: only $n"
	check test "$(sort -u "$T/whole" | wc -l)" -eq "$n"
	: >"$T/pages"
	for at in $(seq 0 7 "$n"); do
		# shellcheck disable=SC2086
		"$ARBOR" search -n 7 --offset "$at" "$1" ${2-} </dev/null >>"$T/pages" 2>"$T/err"
	done
	cmp -s "$T/whole" "$T/pages" || fail "$query: pages differ"
done <"$T/queries"

it "says how many there are, whatever it shows of them"
for query in model:haiku lint 'lint OR merge' 'after:2026-01 lint' 'test project:/w'; do
	arbor search -n 0 "$query"; n=$(wc -l <"$T/out")
	for limit in 1 2 10; do
		arbor search -n $limit "$query" --json; out_has "\"total\":$n,"
	done
done

it "finds what several sessions have once, and says in how many others it is"
first=$(sed -n '3s/.*"content":"\([^"]*\)".*/\1/p' "$P"/*e00.jsonl)
arbor search "\"$first\"" session:${fork%eff}e00 -n 0 --json; n=$(wc -l <"$T/out")
arbor search "\"$first\"" session:$fork -n 0 --json; lines "$n"; out_has "\"session\":\"$fork\""
arbor search "\"$first\"" -n 0 --json; out_lacks "\"session\":\"$fork\""
check test "$(grep -c '"also_in":1,' "$T/out")" -eq "$n"
arbor search walrus --json; lines 1; out_has "\"session\":\"$fork\""; out_lacks also_in
on_terminal search "\"$first\"" -n 0 session:${fork%eff}e00; out_has 'also in 1 other session'

it "finds it where it is left when a copy goes"
arbor search lint -n 0; n=$(wc -l <"$T/out")
: >"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e00.jsonl"; arbor sync --source "$T/claude"
arbor search lint -n 0 -- -is:withdrawn; lines "$n"
arbor search "\"$first\"" -n 0 --json -- -is:withdrawn; out_has "\"session\":\"$fork\""; out_lacks '"also_in":1,'

the_end
