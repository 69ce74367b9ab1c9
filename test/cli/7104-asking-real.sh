#!/bin/bash
# The real client, driven: its questions about tools come to whoever answers, and it does what was answered.
. test/harness/lib.sh
export ARBOR_HOME=$T/store
api=$ARBOR_SHARED/tools/fake_anthropic.mjs
clients=$(ls build/npm-real/node_modules/*/claude 2>/dev/null)
command -v node >/dev/null && [ -e "$api" ] && [ -n "$clients" ] || {
	it "asks whoever answers"
	skip 'there is no real client below build/npm-real, or no scripted API'
	the_end
}
timeout 500 node "$api" --seed 7104 >"$T/api" & server=$!
for _ in $(seq 200); do grep -q LISTENING "$T/api" && break; sleep 0.05; done
url="http://$(sed -n 's/.*LISTENING //p' "$T/api")"
export ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY=none CLAUDE_CODE_MAX_RETRIES=1
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1
script() { printf 'SCRIPT-JSON:%s' "$(printf %s "$1" | base64 -w0)"; }
touch_it=$(script '[{"blocks":[{"tool":"Bash","input":{"command":"touch made"}}]},{"blocks":["then: {{lastResult}}"]}]')
ask_it=$(script '[{"blocks":[{"tool":"AskUserQuestion","input":{"questions":[{"question":"Which one?","header":"Which","multiSelect":false,"options":[{"label":"The first","description":"old"},{"label":"The second","description":"new"}]}]}}]},{"blocks":["then: {{lastResult}}"]}]')
plan_it=$(script '[{"blocks":[{"tool":"ExitPlanMode","input":{"plan":"# First this"}}]},{"blocks":["then: {{lastResult}}"]}]')
try_it=$(script '[{"blocks":["tried"]}]')
ids() { "$ARBOR" approvals -0 2>/dev/null | tr '\0' '\n'; }
said() { jq -r 'select(.type == "result") | .data.result' "$T/said" | tail -n 1; }
last() { jq -r .type "$T/said" | tail -n 1; }

# talk PROMPT ANSWER...: all events are in $T/said.
talk() {
	local prompt=$1 id='' n; shift
	rm -f "$T/work/made" "$T/work/other"
	timeout 120 "$ARBOR" call claudecode.chat "$name" "$prompt" --json >"$T/said" 2>"$T/complaints" & local pid=$!
	for ((n = 0; n < 1200; n++)); do
		id=$(ids); [ -z "$id" ] || break
		sleep 0.1
	done
	check test ! -e "$T/work/made"
	"$@" || fail "$*"
	wait $pid || { fail "chat ended with $?"; show "$T/complaints"; }
}
answer() { "$ARBOR" answer "$(ids)" "$@" >/dev/null; }

set_model_and_allow() { arbor call claudecode.set_model "$name" claude-opus-4-1; code 0; answer allow; }

mkdir "$T/work"
for client in $clients; do
	export ARBOR_CLAUDE=$PWD/$client
	name=$(basename "$(dirname "$client")" | tr . -)
	arbor call claudecode.create "{\"name\":\"$name\",\"working_dir\":\"$T/work\"}"
	it "$name runs what is allowed"
	talk "$touch_it" answer allow; check test -e "$T/work/made"; check test "$(last)" = complete
	it "$name runs what was put in its place"
	talk "$touch_it" answer allow --input '{"command":"touch other"}'
	check test -e "$T/work/other"; check test ! -e "$T/work/made"
	it "$name does not run what is denied, and hears why"
	talk "$touch_it" answer deny -m 'not today'; check test "$(said)" = 'then: not today'
	it "$name ends its turn where a denial says so"
	talk "$touch_it" answer deny --interrupt; check test "$(last)" = cancelled; check test ! -e "$T/work/made"
	it "$name hears what a person chooses"
	talk "$ask_it" answer allow --answers '{"Which one?":"The first"}'
	case $(said) in *'The first'*) ;; *) fail "it heard: $(said)" ;; esac
	it "$name has its plan approved"
	arbor call claudecode.set_mode "$name" plan; code 0
	talk "$plan_it" answer allow; check test "$(last)" = complete
	arbor call claudecode.set_mode "$name" default; code 0
	it "$name leaves nothing of what is only tried"
	lines() { find "$T/.claude/projects" -name '*.jsonl' -exec cat {} + | wc -l; }
	before=$(lines)
	"$ARBOR" call claudecode.chat "{\"session\":\"$name\",\"prompt\":\"$try_it\",\"ephemeral\":true}" --json >"$T/said" 2>&1
	check test "$(last)" = complete; check test "$(said)" = tried; check test "$(lines)" = "$before"
	it "$name takes another model while it works"
	talk "$touch_it" set_model_and_allow
	arbor call claudecode.set_mode "$name" default
	it "$name withdraws its question when it is interrupted"
	talk "$touch_it" arbor call claudecode.interrupt "$name"; check test "$(last)" = cancelled
	check test "$(jq -r 'select(.type == "approval_resolved") | .data.void' "$T/said")" = withdrawn
	it "$name asks nobody where a rule answers"
	arbor rule 'Bash(touch made)' allow --session "$name"
	"$ARBOR" call claudecode.chat "$name" "$touch_it" --json >"$T/said" 2>&1
	check test -e "$T/work/made"; check test "$(jq -r 'select(.type == "approval_resolved") | .data.by' "$T/said")" = rule
done
kill $server
the_end
