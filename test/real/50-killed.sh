#!/bin/bash
# Drivers, clients and readers killed at any moment, with each client: what a reader has heard stays as it was, and what it
# hears next follows on it; the stream says what is true; nothing goes on, not even what left its session; and the
# conversation is taken up again. KILLS says how often, 100 times with SCALE=long; SEED when.
. test/harness/lib.sh
. test/real/lib.sh
RANDOM=${SEED:-$$}
DRIVER=1 CLIENT=2 READER=4
[ "${SCALE:-}" != long ] || KILLS=${KILLS:-100}

# over NAME: waits until the stream says how it ended.
over() {
	for ((n = 0; n < 400; n++)); do
		case $(state_of "$1") in running | awaiting_permission) sleep 0.05 ;; *) return ;; esac
	done
	fail "$1 is still $(state_of "$1")"
}
quiet() { for ((n = 0; n < 200; n++)); do [ -n "$(client_of "$1")" ] || return; sleep 0.05; done; fail "its client runs on"; }
# listen PLACE: to the end, behind a place.
listen() { exec "$ARBOR" call claudecode.tail "{\"stream\":\"$stream\",\"after\":\"$1\"}" --json 2>/dev/null; }
# What the killed were in the middle of writing is not there.
whole_lines() { [ -z "$(tail -c 1 "$1")" ] || sed -i '$d' "$1"; }
prompt_for() {
	local scripts=(tool-bash write-edit agent slow multi-tool)
	[ $(($1 % 6)) = 5 ] || { echo "SCRIPT:${scripts[$1 % 6]}"; return; }
	steps "[{\"blocks\":[{\"tool\":\"Bash\",\"input\":{\"command\":\"setsid timeout 300.$$ tail -f /dev/null >/dev/null 2>&1 & sleep 1\",\"description\":\"x\"}}]},{\"blocks\":[\"Left.\"]}]"
}
# Whether a state can be true, by who was killed. Whoever was done before is complete.
may_be() {
	case $(($1 & 3)):$2 in
	0:complete | *:complete | [13]:interrupted | 2:failed) return ;;
	esac
	fail "it says $2: $("$ARBOR" call claudecode.streams '{"limit":1}' --json | jq -r .error)"
}
kill_them() {
	local driver pid
	driver=$(sqlite3 -cmd '.timeout 10000' "$ARBOR_HOME/arbor.db" 'SELECT lease_pid FROM run WHERE ended_at IS NULL')
	pid=$(client_of "$2")
	[ $(($1 & DRIVER)) = 0 ] || [ -z "$driver" ] || kill -9 "$driver" 2>/dev/null
	[ $(($1 & CLIENT)) = 0 ] || [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	[ $(($1 & READER)) = 0 ] || kill -9 "$reader" 2>/dev/null
}
go_on() {
	case $(state_of "$1") in
	complete) chat "$1" 'SCRIPT:text(after)' ;;
	*) call continue "{\"stream\":\"$1\",\"prompt\":\"SCRIPT:text(after)\"}"; code 0; mv "$T/out" "$HOME/events"; stream=$1 ;;
	esac
}

real_each() {
	local i whom ms old place
	for ((i = 0; i < ${KILLS:-10}; i++)); do
		whom=$((1 + RANDOM % 7)); ms=$((RANDOM % 1500))
		it "$version: what is killed after $ms ms ($whom, $((i % 6))) goes on"
		session "k$i"; start "k$i" "$(prompt_for $i)"; old=$stream
		(listen 0) >"$HOME/heard" & reader=$!
		sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
		kill_them $whom "k$i"
		over "k$i"; quiet "k$i"; gone "timeout 300.$$"; may_be $whom "$(state_of "k$i")"
		{ wait $reader; } 2>/dev/null; whole_lines "$HOME/heard"
		place=$(tail -n 1 "$HOME/heard" | jq -r .cursor)
		(listen "${place:-0}") >>"$HOME/heard"
		call tail "{\"stream\":\"$old\",\"replay\":true}"; same "$T/out" "$HOME/heard"
		"$ARBOR" sync --quiet >/dev/null 2>&1 # what it could not mirror any more
		go_on "k$i"; agrees complete
		call tail "{\"stream\":\"$old\",\"replay\":true}"; same "$T/out" "$HOME/heard"
	done
}
real_run
