#!/bin/sh
# Staying in step: what changes is found while the watch runs. Nothing is timed; what
# does not come within a minute has failed.
# shellcheck source=test/harness/lib.sh disable=SC2317 # functions are called by name
. test/harness/lib.sh
S=$T/.claude
P=$S/projects/p
export ARBOR_HOME="$T/store"
mkdir -p "$P"

within_a_minute() { # CMD...: until it is true
	n=0
	until "$@"; do
		n=$((n + 1))
		[ $n -lt 1200 ] || { fail "did not come: $*"; return 1; }
		sleep 0.05
	done
}
line() { # NUMBER WORD
	printf '{"type":"user","uuid":"%08d-0000-4000-8000-000000000000","message":{"role":"user","content":"%s"}}\n' "$1" "$2"
}
# Options of the watch; $! is its pid. A shell ignores SIGINT for what runs behind it, which
# the program does not.
watch() {
	: >"$T/w.out"
	: >"$T/w.err"
	"$ARBOR" sync --watch "$@" >"$T/w.out" 2>"$T/w.err" &
	pid=$!
}
said() { grep -qF -- "$1" "$T/w.err"; }
gave() { grep -qF -- "$1" "$T/w.out"; }
finds() { "$ARBOR" search "$1" >/dev/null 2>&1; }
kept() { "$ARBOR" export "projects/$1" 2>/dev/null | cmp -s - "$S/projects/$1"; }
state_is() { "$ARBOR" sources | awk -F '\t' -v name="projects/$1" -v state="$2" \
	'$NF == name && $(NF - 1) == state { found = 1 } END { exit !found }'; }
ends() { # SIGNAL CODE
	kill "-$1" "$pid"
	wait "$pid"
	rc=$?
	code "$2"
}
A=00000000-0000-4000-8000-00000000000a
B=00000000-0000-4000-8000-00000000000b

it "syncs, stays, and finds a new line and a new file"
line 1 alphorn >"$P/$A.jsonl"
watch
within_a_minute said '1 file, 1 new'
check finds alphorn
line 2 bassoon >>"$P/$A.jsonl"
within_a_minute finds bassoon
within_a_minute said "1 grown"
mkdir -p "$S/projects/later/deep"
line 3 clarinet >"$S/projects/later/$B.jsonl"
within_a_minute finds clarinet
line 4 dulcimer >>"$S/projects/later/$B.jsonl"
within_a_minute finds dulcimer

it "follows names that change, and notices what goes"
mv "$S/projects/later" "$S/projects/moved"
within_a_minute kept "moved/$B.jsonl"
rm "$P/$A.jsonl"
within_a_minute state_is "p/$A.jsonl" gone
within_a_minute said '1 vanished'

it "ends with 130 for Ctrl-C, and says so"
ends INT 130
check said 'stopped watching'

it "brings in what came while nobody watched, and ends for SIGTERM"
line 5 euphonium >>"$S/projects/moved/$B.jsonl"
watch -q
within_a_minute finds euphonium
line 6 flugelhorn >>"$S/projects/moved/$B.jsonl"
within_a_minute finds flugelhorn
ends TERM 143 # by the signal: whoever runs services takes it for no failure

it "says nothing with -q but what went wrong"
test "$(grep -vcF 'stopped' "$T/w.err")" -eq 0 || { fail "it says something"; show "$T/w.err"; }

it "gives a line of JSON for each batch, at once"
watch --json
within_a_minute gave '"event":"summary"'
line 7 glockenspiel >>"$S/projects/moved/$B.jsonl"
within_a_minute gave '"event":"batch"'
check gave "\"changes\":[{\"event\":\"grew\",\"path\":\"projects/moved/$B.jsonl\"}]"
ends INT 130

it "looks by itself when it is told to"
watch --poll 1
within_a_minute said unchanged
line 8 harmonium >>"$S/projects/moved/$B.jsonl"
within_a_minute finds harmonium
mv "$S/projects/moved" "$S/projects/again"
within_a_minute kept "again/$B.jsonl"
ends INT 130
arbor sync --poll 5; code 2; err_has -- --watch
arbor sync --watch --poll 0; code 2; err_has -- --poll

it "sees everything after more happened than the system could tell"
watch -v
within_a_minute said unchanged
kill -STOP "$pid"
# No two of these that follow each other can be joined.
awk -v dir="$P" -v n="$(cat /proc/sys/fs/inotify/max_queued_events)" 'BEGIN {
	if (n > 100000)
		exit
	for (i = 0; i < n + 100; i++) {
		print "x" >(dir "/" i % 50 ".txt")
		close(dir "/" i % 50 ".txt")
	}
}'
mkdir "$S/projects/unheard"
line 9 icarina >"$S/projects/unheard/$A.jsonl"
kill -CONT "$pid"
within_a_minute finds icarina
[ "$(cat /proc/sys/fs/inotify/max_queued_events)" -gt 100000 ] || check said 'more happened at once'
line 10 jawharp >>"$S/projects/unheard/$A.jsonl"
within_a_minute finds jawharp
ends INT 130

it "polls, and says so once, where it may not watch enough folders"
if unshare -Ur sh -c 'echo 2 >/proc/sys/user/max_inotify_watches' 2>/dev/null; then
	: >"$T/w.err"
	# shellcheck disable=SC2016 # for the inner shell
	unshare -Ur sh -c 'echo 2 >/proc/sys/user/max_inotify_watches; exec "$0" sync --watch' "$ARBOR" 2>"$T/w.err" &
	pid=$!
	within_a_minute said unchanged
	check test "$(grep -c 'looking at everything' "$T/w.err")" -eq 1
	line 11 kalimba >>"$S/projects/unheard/$A.jsonl"
	within_a_minute finds kalimba
	mkdir "$S/projects/more"
	line 12 lyre >"$S/projects/more/$B.jsonl"
	within_a_minute finds lyre
	check test "$(grep -c 'looking at everything' "$T/w.err")" -eq 1
	ends INT 130
else
	skip "no user namespaces here"
fi

it "does no harm when two watch"
watch
first=$pid
"$ARBOR" sync --watch --json >"$T/second.out" 2>"$T/second.err" &
second=$!
within_a_minute grep -qF summary "$T/second.out"
for i in 1 2 3 4 5 6 7 8 9; do
	for file in unheard/$A more/$B; do
		line "$((20 + i))" "mandolin$i$file" >>"$S/projects/$file.jsonl"
	done
	sleep 0.02
done
within_a_minute kept "unheard/$A.jsonl"
within_a_minute kept "more/$B.jsonl"
within_a_minute finds mandolin9more
pid=$first; ends INT 130
pid=$second; ends INT 130
arbor check; code 0
arbor sync; code 0; err_has unchanged; err_lacks grown; err_lacks rewritten

it "tells once of what it does not read"
line 50 nyckelharpa >"$P/$A.jsonl"
ln -s "$P/$A.jsonl" "$P/link.jsonl"
watch
within_a_minute said 'a symbolic link, not followed'
line 51 ocarina >>"$P/$A.jsonl"
within_a_minute finds ocarina
check test "$(grep -c 'a symbolic link' "$T/w.err")" -eq 1
ends INT 130

it "says how many changes there were, also where it lists only some of them"
line 52 piccolo >"$T/small.jsonl"
watch
within_a_minute said 'unchanged'
kill -STOP "$pid"
for i in $(seq 1 2500); do ln "$T/small.jsonl" "$P/small$i.jsonl"; done
kill -CONT "$pid"
within_a_minute said ' changes  '
ends INT 130
the_end
