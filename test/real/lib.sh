# The real client, driven by Arbor, against a scripted API, which says at its top what its prompts mean.
#
#   . test/harness/lib.sh
#   . test/real/lib.sh
#   real_begin claude-2.1.325
#   session s; chat s 'SCRIPT:text(1)'; agrees complete
#   real_end
#
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # used by who reads this; set by lib.sh

# Both clients, or whoever is asked for.
real_clients() { ls -d build/npm-real/node_modules/claude-* 2>/dev/null | sed 's|.*/||'; }
# Why nothing can be tried here; nothing = it can.
real_lacks() {
	command -v node >/dev/null || { echo 'node is not installed'; return; }
	[ -e "$ARBOR_SHARED/tools/fake_anthropic.mjs" ] || { echo 'there is no scripted API here'; return; }
	[ -n "$(real_clients)" ] || echo "no client below build/npm-real: 'make test-real' fetches them"
}

real_begin() {
	client=$PWD/build/npm-real/node_modules/$1/claude
	export HOME=$T/$1 ARBOR_HOME=$T/$1/store ARBOR_CLAUDE=$client
	mkdir -p "$HOME"
	: >"$HOME/api"
	node "$ARBOR_SHARED/tools/fake_anthropic.mjs" --seed "$1" --log "$HOME/api.log" >"$HOME/api" 2>&1 & server=$!
	for ((n = 0; n < 400; n++)); do grep -q LISTENING "$HOME/api" && break; sleep 0.05; done
	ANTHROPIC_BASE_URL="http://$(sed -n 's/.*LISTENING //p' "$HOME/api")"
	export ANTHROPIC_BASE_URL ANTHROPIC_API_KEY=key-of-the-test CLAUDE_CODE_MAX_RETRIES=2
	export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1
}
real_end() { kill "$server"; wait "$server" 2>/dev/null; }

call() { arbor call "claudecode.$1" "$2" --json; }
get() { jq -r "$1" "$T/out"; }
events() { jq -r "$1" "$HOME/events"; }
# Steps for the API, as a prompt.
steps() { printf 'SCRIPT-JSON:%s' "$(printf %s "$1" | base64 -w0)"; }

# session NAME [MORE]: one in a folder of its own, whose tools need not ask.
session() {
	mkdir -p "$HOME/work/$1"; echo seed >"$HOME/work/$1/seed.txt"
	call create "$(jq -cn --arg n "$1" --arg d "$HOME/work/$1" --argjson m "${2:-{\}}" \
		'{name: $n, working_dir: $d, permission_mode: "acceptEdits", allowed_tools: ["Bash", "Read", "Edit", "Write", "Agent"]} + $m')"
	code 0
}
# chat NAME PROMPT: to its end; events are in $HOME/events. The last stream of a session goes by its name.
chat() {
	call chat "$(jq -cn --arg s "$1" --arg p "$2" '{session: $s, prompt: $p}')"; code 0
	mv "$T/out" "$HOME/events"; stream=$1
}
# start NAME PROMPT: and do not wait; wait_for FILTER waits for an event; follow goes on to its end.
start() {
	call chat_async "$(jq -cn --arg s "$1" --arg p "$2" '{session: $s, prompt: $p}')"; code 0
	stream=$(get .stream)
}
wait_for() {
	for ((n = 0; n < 600; n++)); do
		"$ARBOR" call claudecode.poll "{\"stream\":\"$stream\",\"limit\":10000}" --json 2>/dev/null |
			jq -e "[.. | objects | select(has(\"seq\"))] | any($1)" >/dev/null && return
		sleep 0.05
	done
	fail "no event for $1"
}
follow() { call tail "{\"stream\":\"$stream\"}"; code 0; mv "$T/out" "$HOME/events"; }

# agrees STATE: what was heard, the stream read again, the tree, and a fresh mirror of the files say the same.
agrees() {
	"$ARBOR" dump --logical >"$HOME/live"
	node test/real/agree.mjs "$HOME/events" "$HOME/live" "$HOME/.claude" "$1" >"$HOME/wrong" || { fail 'stream and files disagree'; show "$HOME/wrong"; }
	call tail "{\"stream\":\"$stream\",\"replay\":true}"; same "$T/out" "$HOME/events"
	"$ARBOR" sync --quiet >"$T/out" 2>&1 || show "$T/out"
	"$ARBOR" dump --logical >"$HOME/synced"
	# Of conversations there was nothing left to bring in.
	for kept in live synced; do grep -E '^(session|line|message|turn|tree|head|usage|agent) ' "$HOME/$kept" >"$HOME/$kept.told"; done
	same "$HOME/live.told" "$HOME/synced.told"
	rm -rf "$HOME/fresh"
	ARBOR_HOME=$HOME/fresh "$ARBOR" sync --quiet >"$T/out" 2>&1 || show "$T/out"
	ARBOR_HOME=$HOME/fresh "$ARBOR" dump --logical >"$HOME/mirrored"
	# What a client that was killed left says who runs, and goes when the next one starts.
	sed -i '/^source [^ ]* [^ ]* sessions\//d' "$HOME/synced" "$HOME/mirrored"
	diff "$HOME/synced" "$HOME/mirrored" >"$HOME/wrong" || { fail 'a fresh mirror is another'; show "$HOME/wrong"; }
	head=$(events '.data.new_head // empty' | tail -n 1)
	call get "{\"session\":\"$(events '.data.name // empty' | head -n 1)\"}"
	check test "$(get .head)" = "$head"
	check test "$(get .claude_session_id)" = "$(events '.data.claude_session_id // empty' | tail -n 1)"
}
state_of() { "$ARBOR" call claudecode.streams "{\"session\":\"$1\",\"limit\":1}" --json | jq -r .state; }
# Whether a process with this in its words runs.
runs() { cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -qF -- "$1"; }
gone() { for ((n = 0; n < 200; n++)); do runs "$1" || return 0; sleep 0.05; done; fail "'$1' still runs"; }
# The client's process that works for a session: the one in its folder.
client_of() {
	local p
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/cwd" 2>/dev/null)" = "$HOME/work/$1" ] && [ "$(readlink "$p/exe" 2>/dev/null)" = "$client" ] && echo "${p#/proc/}" && return
	done
}

# forks WHAT CAPTURE...: forked at every message, or about one in EVERY, and gone on with by the client (forks.mjs).
forks() {
	local what=$1
	shift
	it "$version: $what"
	ARBOR=$ARBOR node test/real/forks.mjs "$client" "$ANTHROPIC_BASE_URL" "$HOME/api.log" "$HOME/forks" "$@" >"$HOME/forks.log" 2>&1 ||
		{ fail "$what: SEED=${SEED:-1} brings it back"; grep -v '^# .*: ' "$HOME/forks.log" >"$HOME/wrong"; show "$HOME/wrong"; }
	check grep -E '^# [1-9][0-9]* forks gone on with, as [1-9][0-9]* files, 0 wrong' "$HOME/forks.log"
}
# The captures whose names match one of the patterns, of the client whose files are kept.
captures() {
	local pattern
	# shellcheck disable=SC2086 # a pattern
	for pattern; do ls -d "$ARBOR_SHARED/fixtures/claude-2.1.197/"$pattern/dot-claude; done
}
# Of the capture with branches the files whose number has these tens.
# shellcheck disable=SC2086 # a pattern
branches() { ls "$ARBOR_SHARED"/fixtures/claude-2.1.197/d05-branches/dot-claude/projects/*/*-0000000000$1?.jsonl; }

# real_run: has each client do what real_each says; $version is which it is.
real_run() {
	lack=$(real_lacks)
	[ -z "$lack" ] || { it 'drives a real client'; skip "$lack"; the_end; }
	for version in ${CLIENTS:-$(real_clients)}; do
		real_begin "$version"
		real_each
		real_end
	done
	the_end
}
