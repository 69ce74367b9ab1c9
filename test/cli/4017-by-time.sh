#!/bin/sh
# Hits by time: within a second, too, and where a copy says another time than what it is a copy of.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
P=$T/claude/projects/-k
mkdir -p "$P"
lines() { [ "$(wc -l <"$T/out")" -eq "$1" ] || { fail "not $1 lines"; show "$T/out"; }; }
first=a0000000-0000-4000-8000-000000000001 copy=d0000000-0000-4000-8000-000000000004

# Ten lines of one second; a copy as old clients made them, with ids and times of its own.
awk -v first=$first -v copy=$copy -v dir="$P" 'BEGIN {
	for (c = 0; c < 2; c++) {
		id = c ? copy : first; file = dir "/" id ".jsonl"; before = "null"
		for (i = 0; i < 10; i++) {
			uuid = sprintf("%s-0000-4000-8000-%012d", c ? "dddddddd" : "aaaaaaaa", i)
			at = sprintf("2026-11-0%dT10:00:00.%03dZ", c ? 3 : 1, i < 4 ? 100 * i : 900)
			front = sprintf("{\"uuid\":\"%s\",\"parentUuid\":%s,\"sessionId\":\"%s\",\"cwd\":\"/k\",\"timestamp\":\"%s\",", uuid, before, id, at)
			if (i % 2)
				printf "%s\"type\":\"assistant\",\"message\":{\"id\":\"msg_%d\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"zebra%d walrus\"}]}}\n", front, i, i >file
			else
				printf "%s\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"zebra%d walrus\"}}\n", front, i >file
			before = "\"" uuid "\""
		}
	}
}'
arbor sync --source "$T/claude"; code 0
shown() { cut -f 7 "$T/out" | tr -dc '0-9'; }

it "goes by the whole of a time, and by place in the file where that is the same"
arbor search walrus --sort old -n 0; lines 10; check test "$(shown)" = 0123456789
arbor search walrus --sort recent -n 0; check test "$(shown)" = 9876543210
arbor search walrus --sort old -n 3 --offset 2; check test "$(shown)" = 234
arbor search --session $first -n 0; check test "$(shown)" = 9876543210
out_has 2026-11-01; out_lacks 2026-11-03

it "knows parts of a second in conditions"
arbor search walrus --since 2026-11-01T10:00:00.200Z --before 2026-11-01T10:00:00.900Z --sort old; check test "$(shown)" = 23

it "gives the copy whose time is asked for, and not the original with another"
for query in 'walrus day:2026-11-03' 'walrus after:2026-11-02' 'in:prompt,answer day:2026-11-03'; do
	arbor search "$query" --sort old -n 0; lines 10; check test "$(shown)" = 0123456789
	check test "$(cut -f 2 "$T/out" | sort -u)" = $copy
	check test "$(cut -f 5 "$T/out" | cut -c 1-10 | sort -u)" = 2026-11-03
done
arbor search 'walrus before:2026-11-02' -n 0; lines 10; out_has $first; out_lacks $copy

it "does not say how many there are as if it had met the copies"
arbor search walrus -n 2; err_has '2 of about 20 hits'
arbor search walrus -n 2 --offset 1; err_has 'hits 2 to 3 of about 20'
arbor search walrus -n 0; err_has '10 hits'
mkdir -p "$T/claude/projects/-other"
echo '{"uuid":"eeeeeeee-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"e0000000-0000-4000-8000-000000000005","cwd":"/o","timestamp":"2026-11-09T10:00:00.000Z","type":"user","message":{"role":"user","content":"walrus"}}' \
	>"$T/claude/projects/-other/e0000000-0000-4000-8000-000000000005.jsonl"
arbor sync --source "$T/claude"; code 0
arbor search walrus -n 1 --sort recent; out_has /o; err_has '1 of about 21 hits' # which is no copy itself

it "says of --each what it leaves"
arbor search walrus --each 3 -n 2 --json; lines 2; out_lacks '"total"'
err_has '2 hits, and perhaps more; -n 0 shows all that --each 3 leaves'
arbor search walrus --each 3 -n 0 --json; lines 4; out_lacks '"total"'; err_has '4 hits;'
the_end
