#!/bin/bash
# A client that Arbor did not start asks through 'arbor mcp --approve'.
. test/harness/lib.sh
. test/real/lib.sh
script=$(steps '[{"blocks":[{"tool":"Bash","input":{"command":"touch made"}}]},{"blocks":["then: {{lastResult}}"]}]')

# talk ANSWER...: its result is in $T/said, and what it made in $T/work.
talk() {
	local id='' n
	rm -rf "$T/work"; mkdir "$T/work"
	(cd "$T/work" && exec timeout 120 "$client" -p "$script" --output-format json --mcp-config "$config" \
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

real_each() {
	config=$("$ARBOR" call loopback.configure --command "$ARBOR" | jq -c .mcp_config)
	it "$version runs what is allowed"
	talk allow
	check test -e "$T/work/made"
	it "$version runs what was put in its place"
	talk allow --input '{"command":"touch other"}'
	check test -e "$T/work/other"; check test ! -e "$T/work/made"
	it "$version does not run what is denied, and hears why"
	talk deny -m 'not today'
	check test ! -e "$T/work/made"
	check test "$(jq -r .result "$T/said")" = 'then: not today'
	check test "$(jq -r '.permission_denials | length' "$T/said")" = 1
}
real_run
