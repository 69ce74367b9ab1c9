#!/bin/bash
# kill -9 of the driver, of the client, of who reads, at any moment: no event that somebody has seen is lost or changes,
# the stream says what became of it, nothing that was started is left, and the session can go on.
#
# The client is test/harness/claude.py. Moments are drawn from the time an undisturbed run takes.
. test/harness/lib.sh
case ${SCALE:-short}:${MODE:-dev} in
long:*) kills=200 ;;
*:asan) kills=8 ;;
*) kills=12 ;;
esac
RANDOM=${SEED:-1}
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py AWS_PROFILE=agent-kill-$$
mkdir -p "$T/work"; db=$ARBOR_HOME/arbor.db hits=0

call() { "$ARBOR" call "claudecode.$1" "$2" --json; }
ask() { sqlite3 -cmd '.timeout 5000' "$db" "$1"; }
# Clients have this variable, and so has whatever they start.
alive() { grep -lzsx "AWS_PROFILE=agent-kill-$$" /proc/[0-9]*/environ 2>/dev/null | while read -r f; do grep -qzs 'claude.py\|^sleep$' "${f%environ}cmdline" && echo "$f"; done; }
wait_for_nobody() { for ((n = 0; n < 300; n++)); do [ -z "$(alive)" ] && return; sleep 0.02; done; fail "left behind: $(alive)"; }
pause() { sleep "$(printf '0.%06d' $((RANDOM * 32768 % $1 + RANDOM % 1000)))"; }
driver() { ask "SELECT lease_pid FROM run WHERE ended_at IS NULL"; }
client() { for ((n = 0; n < 300; n++)); do jq -e .pid "$T/work/seen.json" 2>/dev/null && return; sleep 0.02; done; }

# One run, of which somebody is killed while a reader follows it.
kill_one() { # WHOM
	rm -f "$T/work/seen.json"
	call chat_async "{\"session\":\"a\",\"prompt\":\"$prompt\"}" >"$T/started" 2>"$T/err" || { fail "chat: $(cat "$T/err")"; return; }
	local stream; stream=$(jq -r .stream "$T/started")
	"$ARBOR" call claudecode.tail "{\"stream\":\"$stream\"}" --json >"$T/seen" 2>/dev/null & local reader=$!
	pause 300000
	case $1 in
	driver) kill -9 "$(driver)" 2>/dev/null ;;
	client) kill -9 "$(client)" 2>/dev/null ;;
	both) kill -9 "$(driver)" "$reader" 2>/dev/null ;;
	reader) kill -9 $reader 2>/dev/null ;;
	esac
	[ "$1" = reader ] && pause 100000 && call cancel "{\"stream\":\"$stream\"}" >/dev/null 2>&1
	wait $reader 2>/dev/null
	for ((n = 0; n < 300; n++)); do
		state=$(call streams "{\"session\":\"a\",\"limit\":1}" | jq -r .state)
		case $state in running) sleep 0.05 ;; *) break ;; esac
	done
	judge "$1" "$stream"
}

# What is there in the end, and what was seen of it.
judge() {
	call tail "{\"stream\":\"$2\",\"replay\":true}" >"$T/all" 2>"$T/err" || fail "tail: $(cat "$T/err")"
	# A line that was cut off in the middle of being printed was not seen.
	sed '$ { /}$/!d }' "$T/seen" | jq -c '[.seq, .type, .data]' >"$T/seen.events" 2>/dev/null
	jq -c '[.seq, .type, .data]' "$T/all" >"$T/all.events"
	head -n "$(wc -l <"$T/seen.events")" "$T/all.events" | cmp -s - "$T/seen.events" || fail "$1: what was seen is not what is there"
	[ "$(jq .seq "$T/all" | awk '$1 != NR { bad = 1 } END { print bad + 0 }')" = 0 ] || fail "$1: a hole"
	local last; last=$(jq -r .type "$T/all" | tail -n 1)
	case $state:$last in
	complete:complete | failed:error | cancelled:cancelled | interrupted:interrupted) ;;
	*) fail "$1: the stream is $state and ends with $last" ;;
	esac
	case $1:$state in
	driver:interrupted | both:interrupted | client:failed | reader:cancelled) hits=$((hits + 1)) ;;
	driver:complete | both:complete | client:complete | reader:complete) ;;
	*) fail "$1 was killed, and the stream is $state" ;;
	esac
	wait_for_nobody
}

it "tells what became of an agent whoever is killed, and leaves nobody"
"$ARBOR" call claudecode.create "{\"name\":\"a\",\"working_dir\":\"$T/work\"}" >/dev/null || exit 1
for ((i = 0; i < kills; i++)); do
	case $((RANDOM % 4)) in 0) prompt='flood 3000' ;; 1) prompt='leave some' ;; *) prompt='slow 400' ;; esac
	case $((i % 4)) in 0) kill_one driver ;; 1) kill_one client ;; 2) kill_one both ;; 3) kill_one reader ;; esac
done
echo "# $hits of $kills kills found an agent at work"
[ $((hits * 2)) -ge "$kills" ] || fail "only $hits of $kills kills found work"

it "goes on with the session afterwards"
call chat '{"session":"a","prompt":"say still there"}' >"$T/out" 2>"$T/err" || fail "$(cat "$T/err")"
out_has 'll there'
check test "$(ask 'PRAGMA integrity_check')" = ok
check test "$(ask 'SELECT count(*) FROM run WHERE ended_at IS NULL')" = 0
the_end
