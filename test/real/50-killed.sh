#!/bin/bash
# Drivers and clients killed at any moment, with each client: the stream says what is true, nothing goes on, and the next
# prompt of the session is answered. KILLS says how often, SEED when.
. test/harness/lib.sh
. test/real/lib.sh
RANDOM=${SEED:-$$}

# over NAME: waits until the stream says how it ended.
over() {
	for ((n = 0; n < 400; n++)); do
		case $(state_of "$1") in running | awaiting_permission) sleep 0.05 ;; *) return ;; esac
	done
	fail "$1 is still $(state_of "$1")"
}
quiet() { for ((n = 0; n < 200; n++)); do [ -n "$(client_of "$1")" ] || return; sleep 0.05; done; fail "its client runs on"; }

real_each() {
	local scripts=(tool-bash write-edit agent slow multi-tool) i whom ms
	for ((i = 0; i < ${KILLS:-10}; i++)); do
		whom=$((RANDOM % 3)); ms=$((RANDOM % 1500))
		it "$version: ${scripts[i % 5]}, killed after $ms ms ($whom), goes on"
		session "k$i"; start "k$i" "SCRIPT:${scripts[i % 5]}"
		sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
		driver=$(sqlite3 "$ARBOR_HOME/arbor.db" 'SELECT lease_pid FROM run WHERE ended_at IS NULL')
		pid=$(client_of "k$i")
		[ $whom = 1 ] || [ -z "$driver" ] || kill -9 "$driver" 2>/dev/null
		[ $whom = 0 ] || [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
		over "k$i"; quiet "k$i"
		"$ARBOR" sync --quiet >/dev/null 2>&1 # what it could not mirror any more
		call tail "{\"stream\":\"k$i\",\"replay\":true}"; mv "$T/out" "$HOME/before"; old=$(jq -r .id "$HOME/before" | head -n 1)
		chat "k$i" 'SCRIPT:text(after)'; agrees complete
		"$ARBOR" call claudecode.poll "{\"stream\":\"$("$ARBOR" call claudecode.streams "{\"session\":\"k$i\"}" --json | jq -r .id | tail -n 1)\",\"limit\":10000}" --json |
			jq -c '.events[]' >"$HOME/then"
		check test "$(jq -r .id "$HOME/then" | head -n 1)" = "$old"
		check test "$(jq -r .seq "$HOME/then" | wc -l)" = "$(jq -r .seq "$HOME/before" | wc -l)"
	done
}
real_run
