#!/bin/bash
# The real client asks through 'arbor mcp --approve', against a scripted API.
. test/harness/lib.sh
export ARBOR_HOME=$T/store
api=test/real/fake_anthropic.mjs
clients=$(ls build/npm-real/node_modules/*/claude 2>/dev/null)
command -v node >/dev/null && [ -e "$api" ] && [ -n "$clients" ] || {
	it "asks through the permission tool"
	skip 'there is no real client below build/npm-real, or no scripted API'
	the_end
}
timeout 500 node "$api" --seed 7103 >"$T/api" & server=$!
for _ in $(seq 200); do grep -q LISTENING "$T/api" && break; sleep 0.05; done
url="http://$(sed -n 's/.*LISTENING //p' "$T/api")"
export ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY=none CLAUDE_CODE_MAX_RETRIES=1
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1
config=$("$ARBOR" call loopback.configure --command "$ARBOR" | jq -c .mcp_config)
script=$(printf %s '[{"blocks":[{"tool":"Bash","input":{"command":"touch made"}}]},{"blocks":["then: {{lastResult}}"]}]' | base64 -w0)

# talk CLIENT ANSWER...: its result is in $T/said, and what it made in $T/work.
talk() {
	local client=$PWD/$1 id='' n; shift
	rm -rf "$T/work"; mkdir "$T/work"
	(cd "$T/work" && exec timeout 120 "$client" -p "SCRIPT-JSON:$script" --output-format json --mcp-config "$config" \
		--permission-prompt-tool mcp__arbor__permit >"$T/said" 2>"$T/complaints" </dev/null) & local pid=$!
	for ((n = 0; n < 1200; n++)); do
		id=$("$ARBOR" approvals -0 2>/dev/null | tr -d '\0')
		[ -z "$id" ] || break
		sleep 0.1
	done
	check test ! -e "$T/work/made"
	arbor answer "$id" "$@"; code 0
	wait $pid || { fail "the client ended with $?"; show "$T/complaints"; }
}

for client in $clients; do
	it "$(basename "$(dirname "$client")") runs what is allowed"
	talk "$client" allow
	check test -e "$T/work/made"
	it "$(basename "$(dirname "$client")") runs what was put in its place"
	talk "$client" allow --input '{"command":"touch other"}'
	check test -e "$T/work/other"; check test ! -e "$T/work/made"
	it "$(basename "$(dirname "$client")") does not run what is denied, and hears why"
	talk "$client" deny -m 'not today'
	check test ! -e "$T/work/made"
	check test "$(jq -r .result "$T/said")" = 'then: not today'
	check test "$(jq -r '.permission_denials | length' "$T/said")" = 1
done
kill $server
the_end
