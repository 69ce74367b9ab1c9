#!/bin/bash
# What is said to a model, keys and our environment are in no list of processes, in no log, and in no file that is left.
. test/harness/lib.sh
. test/real/lib.sh

# Until the session's last stream is one that goes on.
until_at_work() {
	for ((n = 0; n < 400; n++)); do [ "$(state_of hidden)" = running ] && return; sleep 0.05; done
	fail 'nothing is at work'
}

real_each() {
	it "$version: neither prompts nor keys are among the words of any process"
	export OTHER_SECRET=environment-$$; export ANTHROPIC_API_KEY=key-$$
	cat >"$HOME/mcp.mjs" <<-'EOF'
	import readline from 'node:readline';
	for await (const line of readline.createInterface({ input: process.stdin })) {
		const { id, method, params } = JSON.parse(line);
		const result = method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'x', version: '1' } } : { tools: [] };
		if (id !== undefined)
			console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
	}
	EOF
	session hidden "$(jq -cn --arg f "$HOME/mcp.mjs" --arg n "$(command -v node)" --arg k "mcp-key-$$" --arg s "system-$$ be brief" \
		'{system_prompt: $s, mcp_config: {mcpServers: {x: {command: $n, args: [$f], env: {K: $k}}}}}')"
	(while [ ! -e "$HOME/enough" ]; do cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n'; sleep 0.02; done | sort -u >"$HOME/words") & looker=$!
	printf 'SCRIPT:slow prompt-%s' "$$" | "$ARBOR" call claudecode.chat_async hidden - --log "$HOME/log.txt" --json >"$T/out" 2>"$HOME/said"
	stream=hidden; wait_for '.type == "content_delta"'
	ls "$T"/arbor-* "$HOME"/arbor-* 2>/dev/null && fail 'files with secrets are there while it works'
	printf 'queued-%s' "$$" | "$ARBOR" call claudecode.queue hidden - --log "$HOME/log.txt" --json >"$T/out" 2>>"$HOME/said"
	follow; agrees complete
	touch "$HOME/enough"; wait $looker
	check grep -q -- --system-prompt-file "$HOME/words"
	for secret in "prompt-$$" "queued-$$" "system-$$" "mcp-key-$$" "key-$$" "environment-$$"; do
		! grep -rF -- "$secret" "$HOME/words" "$HOME/log.txt" "$HOME/said" || fail "$secret can be seen"
	done
	sqlite3 "$ARBOR_HOME/arbor.db" 'SELECT argv FROM run' >"$HOME/argv"
	for secret in "prompt-$$" "system-$$" "mcp-key-$$" "key-$$"; do
		! grep -F -- "$secret" "$HOME/argv" || fail "$secret was written down as a word"
	done
	check test "$(find "$T" -mindepth 1 -maxdepth 2 -name 'arbor-*' | wc -l)" = 0

	it "$version: and yet the model hears them, and the client has its server"
	check grep -q "system-$$ be brief" "$HOME/api.log"
	check grep -q "prompt-$$" "$HOME/api.log"
	check test "$(sqlite3 "$ARBOR_HOME/arbor.db" 'SELECT init FROM run ORDER BY id DESC LIMIT 1' | jq -r '.mcp_servers[0] | .name + " " + .status')" = 'x connected'

	it "$version: what was given as a word is seen no more once it was read, and is in no log"
	"$ARBOR" chat hidden "SCRIPT:slow word-$$" --log "$HOME/log.txt" >"$HOME/said" 2>&1 & follower=$!
	until_at_work; wait_for '.type == "content_delta"'
	"$ARBOR" attach hidden --log "$HOME/log.txt" >"$HOME/followed" 2>&1 & other=$!
	! grep -lF "word-$$" /proc/[0-9]*/cmdline 2>/dev/null || fail 'the list of processes shows it'
	arbor interrupt hidden; code 0; wait $follower $other
	"$ARBOR" continue hidden "SCRIPT:slow on-$$" --log "$HOME/log.txt" >"$HOME/said" 2>&1 & follower=$!
	until_at_work; wait_for '.type == "content_delta"'
	! grep -lF "on-$$" /proc/[0-9]*/cmdline 2>/dev/null || fail 'the list of processes shows it'
	wait $follower
	for secret in "word-$$" "on-$$" "system-$$" "mcp-key-$$"; do
		! grep -F -- "$secret" "$HOME/log.txt" || fail "$secret is in the log"
	done
	check grep -q "word-$$" "$HOME/api.log"; check grep -q "on-$$" "$HOME/api.log"

	it "$version: what the client says of itself is kept with the run"
	check test "$(sqlite3 "$ARBOR_HOME/arbor.db" 'SELECT init FROM run ORDER BY id DESC LIMIT 1' |
		jq -r '[.cwd, .claude_code_version, (.model | length > 0), (.tools | index("Bash") != null), .permissionMode] | map(tostring) | join(" ")')" = \
		"$HOME/work/hidden ${version#claude-} true true acceptEdits"
}
real_run
