#!/bin/bash
# Going on from any message: forks as files that the client resumes, heads that are moved, the client run where it belongs.
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py ANTHROPIC_API_KEY=none
W=$T/work ID=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01
P=$T/.claude/projects/${W//[^a-zA-Z0-9]/-}
F=$P/$ID.jsonl
mkdir -p "$W" "$T/other" "$P/$ID/subagents"
u() { printf '000000%02d-0000-4000-8000-000000000000' "$1"; }
# line FILE N PARENT TYPE REST: a line, hung on another (0 = none).
line() {
	local parent=null
	[ "$3" = 0 ] || parent="\"$(u "$3")\""
	printf '{"parentUuid":%s,"isSidechain":false,"type":"%s","uuid":"%s","timestamp":"2026-11-15T10:00:%02d.000Z","cwd":"%s","sessionId":"%s","version":"2.1.197",%s}\n' \
		"$parent" "$4" "$(u "$2")" "$2" "$W" "$ID" "$5" >>"$1"
}
says() { line "$F" "$1" "$2" user "\"promptSource\":\"typed\",\"message\":{\"role\":\"user\",\"content\":\"$3\"}"; }
answers() { line "${4:-$F}" "$1" "$2" assistant "\"message\":{\"id\":\"m$3\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"opus\",\"content\":[${5:-{\"type\":\"text\",\"text\":\"answer $3\"\}}]}"; }
calls() { answers "$1" "$2" "$3" "$F" "{\"type\":\"tool_use\",\"id\":\"toolu_$4\",\"name\":\"Bash\",\"input\":{}}"; }
results() { line "$F" "$1" "$2" user "\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_$3\",\"content\":\"out $3\"}]}"; }

# Two calls side by side; then two ways to go on.
says 1 0 'first question'; calls 2 1 a x; calls 3 2 a y; results 4 3 y; results 5 2 x; answers 6 5 b
says 7 6 'the wrong question'; answers 8 7 c; says 9 6 'the right question'; answers 10 9 d
A=$P/$ID/subagents/agent-a0123456789abcdef.jsonl
line "$A" 21 0 user '"agentId":"a0123456789abcdef","message":{"role":"user","content":"a task"}'; answers 22 21 z "$A"
sed -i 's/"isSidechain":false/"isSidechain":true/' "$A"
arbor sync; code 0
cp "$F" "$T/before"

get() { jq -r "$1" "$T/out"; }
forked() { arbor fork "$@" --json; code 0; made=$(get '.path // empty'); }
uuids() { jq -r 'select(.uuid) | .uuid | .[6:8] | tonumber' "$1" | tr '\n' ' '; }
# A file with which the client goes on: each line hangs on the one before, all are of one session, which is its name.
is_linear() {
	check test "$(jq -s '[.[] | select(.uuid)] | [[null] + [.[].uuid], [.[].parentUuid]] | .[0][:-1] == .[1]' "$1")" = true
	check test "$(jq -r .sessionId "$1" | sort -u)" = "$(basename "$1" .jsonl)"
	check test "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n'; check test "$(stat -c %a "$1")" = 600
}

it "prints the command that goes on, and writes the file for it"
arbor fork "$ID"; code 0; new=$(sed -n 's/^session\t//p' "$T/out")
out_has "cd $W && $ARBOR_CLAUDE --resume $new"
is_linear "$P/$new.jsonl"; check test "$(uuids "$P/$new.jsonl")" = '1 2 3 4 5 6 9 10 '
check cmp -s "$F" "$T/before"
it "keeps all bytes of a line but for its session and parent"
strip() { sed -E 's/"parentUuid":(null|"[^"]*")//; s/"sessionId":"[^"]*"//' "$1"; }
for n in 1 2 3 6 9 10; do strip "$F" | grep "$(u $n)" >"$T/a"; strip "$P/$new.jsonl" | grep "\"uuid\":\"$(u $n)" >"$T/b"; same "$T/a" "$T/b"; done
it "has the fork in the mirror at once, as another file of the same tree"
arbor log "$new" --json; code 0; check test "$(get 'select(.kind == "session") | .tree_id')" = "$("$ARBOR" log "$ID" --json | jq -r 'select(.kind == "session") | .tree_id')"

it "goes on behind all results at an answer, and at one of these"
for n in 2 3 4 5; do forked "$ID@$(u $n)"; is_linear "$made"; check test "$(uuids "$made")" = '1 2 3 4 5 '; done
it "says at which prompt to fork to go on before an answer"
arbor fork "$ID@$(u 8)"; code 0; err_has 'it goes on behind that; to go on before it: '
arbor fork "$(sed -n 's/.*: arbor fork \([0-9a-f-]*\)$/\1/p' "$T/err")" --json; code 0; check test "$(get .prompt)" = 'the wrong question'
arbor fork "$ID@$(u 8)" --cwd "$T/other"; code 0; check grep -qE ": arbor fork [0-9a-f-]+ --cwd $T/other\$" "$T/err"
it "goes on before the prompt that led to an answer, a call or a result, when asked to"
for n in 7 8; do forked "$ID@$(u $n)" --before; check test "$(uuids "$made")" = '1 2 3 4 5 6 '; check test "$(get .prompt)" = 'the wrong question'; done
for n in 1 2 3 4 5 6; do forked "$ID@$(u $n)" --before; check test -z "$made"; check test "$(get .prompt)" = 'first question'; done
it "goes on before the last prompt when no message is named"
forked "$ID" --before; is_linear "$made"; check test "$(uuids "$made")" = '1 2 3 4 5 6 '; check test "$(get .prompt)" = 'the right question'
it "goes on before a prompt, and offers it again"
forked "$ID@$(u 9)"; check test "$(uuids "$made")" = '1 2 3 4 5 6 '; check test "$(get .prompt)" = 'the right question'
it "goes on from the branch that was given up"
forked "$ID@$(u 8)"; check test "$(uuids "$made")" = '1 2 3 4 5 6 7 8 '; check test "$(get .prompt)" = null
it "goes on before a prompt that says nothing, and says so"
E=$T/.claude/projects/-empty/00000098-ffff-4000-8000-000000000000.jsonl; mkdir -p "${E%/*}"
F=$E; says 41 0 'asked'; answers 42 41 g; says 43 42 ''; F=$P/$ID.jsonl
arbor sync; code 0; forked "$(u 43)" --cwd "$T/other"; check test "$(uuids "$made")" = '41 42 '; check test "$(get '.prompt == ""')" = true
it "goes on before a prompt that hangs on what follows it, without it"
R=$T/.claude/projects/-round/00000099-ffff-4000-8000-000000000000.jsonl; mkdir -p "${R%/*}"
F=$R; says 31 34 'asked in a circle'; answers 32 31 e; says 33 32 'and on'; answers 34 33 f; F=$P/$ID.jsonl
arbor sync; code 0; forked "$(u 31)" --cwd "$T/other"; is_linear "$made"
check test "$(uuids "$made")" = '32 33 34 '; check test "$(get .prompt)" = 'asked in a circle'
it "begins anew before the first prompt, without a file"
files=$(find "$T/.claude" -name '*.jsonl' | wc -l)
forked "$ID@$(u 1)"; check test -z "$made"; check test "$(get '.prompt, .command, (.session // "none")' | tr '\n' '|')" = "first question|cd $W && $ARBOR_CLAUDE|none|"
check test "$(find "$T/.claude" -name '*.jsonl' | wc -l)" = "$files"
it "gives one with a name an id for what will be said, and finds it by that"
forked "$ID@$(u 1)" anew; new=$(get .session); check test -z "$made"; check test "$(get .command)" = "cd $W && $ARBOR_CLAUDE --session-id $new"
check test "$(get .from)" = "$ID"; arbor fork "$ID@$(u 1)" anew2; code 0; err_has 'nothing was said before that: the client begins anew'
for _ in 1 2; do arbor resume anew --json; code 0; check test "$(get '.command, (.from // "none")' | tr '\n' '|')" = "cd $W && $ARBOR_CLAUDE --session-id $new|none|"; done
arbor tree anew; code 1; err_has 'nothing was said in this session yet'
printf '{"parentUuid":null,"isSidechain":false,"type":"user","uuid":"%s","timestamp":"2026-11-15T10:02:00.000Z","cwd":"%s","sessionId":"%s","version":"2.1.197","message":{"role":"user","content":"said anew"}}\n' "$(u 81)" "$W" "$new" >"$P/$new.jsonl"
arbor resume anew --json; code 0; check test "$(get .command)" = "cd $W && $ARBOR_CLAUDE --resume $new"; arbor log anew; code 0; out_has 'said anew'
it "and chats by that id"
arbor resume anew2 --json; new=$(get .session); arbor call claudecode.chat '{"session":"anew2","prompt":"say so"}'; code 0
arbor call claudecode.get '{"session":"anew2"}'; check test "$(get .claude_session_id)" = "$new"; check test -e "$P/$new.jsonl"
arbor resume anew2 --json; check test "$(get .command)" = "cd $W && $ARBOR_CLAUDE --resume $new"
it "makes a conversation of a sub-agent's"
forked "$(u 22)"; is_linear "$made"; check test "$(jq -r .isSidechain "$made" | sort -u)" = false; check test "$(uuids "$made")" = '21 22 '
it "has that conversation in its tree, and among its branches"
task=$(get .session); arbor tree "$task" --json; code 0
check test "$(get "select(.kind == \"turn\" and any(.heads[]?; . == \"$task\")) | .text")" = 'a task'
arbor branches "$task" --json; code 0; check test "$(get 'select(.current) | "\(.messages) \(.title)"')" = '2 a task'
it "and compares it whole"
for agent in "$task" "$(u 22)"; do arbor diff "$ID" "$agent" --json; code 0; check test "$(get 'select(.side == "b" and .kind == "side") | .messages')" = 2; done
it "leaves it with the session that started it when somebody goes on with it"
arbor fork "$(u 22)" aside -q; code 0; arbor call claudecode.chat '{"session":"aside","prompt":"and more"}'; code 0
arbor agents "$ID" --json; code 0; check test "$(get '"\(.agent) \(.messages)"')" = 'a0123456789abcdef 2'
arbor fork "$(u 22)" --before; err_has "that is a sub-agent's"
arbor tree "$ID" --json; code 0; check test "$(get 'select(.kind == "turn") | .text' | grep -c 'a task')" = 0
it "knows no line that is no part of what was said"
arbor fork "$ID@99999999"; code 1; arbor fork nothing-like-it; check test $rc != 0
it "uses the same file again as long as nobody has gone on with it"
forked "$(u 22)"; one=$made; arbor sync; code 0; forked "$(u 22)"; check test "$made" = "$one"
forked "$ID@$(u 5)"; one=$made; files=$(find "$T/.claude" -name '*.jsonl' | wc -l)
for _ in 1 2 3; do forked "$ID@$(u 5)"; check test "$made" = "$one"; arbor resume "$ID@$(u 5)" --json; check test "$(get .path)" = "$one"; done
check test "$(find "$T/.claude" -name '*.jsonl' | wc -l)" = "$files"
echo '{"type":"mode","sessionId":"'"$(get .session)"'"}' >>"$one"; forked "$ID@$(u 5)"; check test "$made" != "$one"; one=$made
arbor fork "$ID@$(u 5)" own --json; own=$(get .path); check test "$own" != "$one"; forked "$ID@$(u 8)"; check test "$made" != "$one"
arbor purge "$(basename "$one" .jsonl)" --yes; code 0; forked "$ID@$(u 5)"; check test "$made" != "$one"; check test "$made" != "$own"
mkdir -p "$T/.claude/sessions"; start=$(awk '{ print $22 }' "/proc/$$/stat"); one=$made
printf '{"pid":%d,"sessionId":"%s","cwd":"%s","startedAt":1,"procStart":"%s","version":"2.1.197","kind":"interactive"}' $$ "$(get .session)" "$W" "$start" >"$T/.claude/sessions/$$.json"
forked "$ID@$(u 5)"; check test "$made" != "$one"; rm "$T/.claude/sessions/$$.json"
it "never uses what the client began, nor what is forked"
F=$P/00000095-ffff-4000-8000-000000000000.jsonl; says 91 0 'plain'; answers 92 91 l
sed -i "s/$ID/$(basename "$F" .jsonl)/; s/T10:00:9/T10:09:0/" "$F"; arbor sync; code 0
forked "$(basename "$F" .jsonl)"; one=$made; check test "$one" != "$F"; forked "$(get .session)"; check test "$made" != "$one"; check test "$made" != "$F"
rm "$F" "$one" "$made"; F=$P/$ID.jsonl; arbor sync; code 0
it "goes to another folder, and says so in every line"
forked "$ID" --cwd "$T/other"; check test "$(jq -r .cwd "$made" | sort -u)" = "$T/other"; check test "$(get .command)" = "cd $T/other && $ARBOR_CLAUDE --resume $(get .session)"
other=$T/other; check test "$(basename "$(dirname "$made")")" = "${other//[^a-zA-Z0-9]/-}"
arbor fork "$ID" --cwd /no/such/folder; code 1; err_has "there is no folder '/no/such/folder'"

it "gives it a name, and the settings of the one it is made of"
arbor call claudecode.adopt "{\"name\":\"shop\",\"conversation\":\"$ID\",\"model\":\"sonnet\",\"permission_mode\":\"plan\"}"; code 0
arbor fork "shop@$(u 8)" try; code 0; arbor call claudecode.get '{"session":"try"}'
check test "$(get '[.model, .permission_mode, .working_dir] | join(" ")')" = "sonnet plan $W"
made=$P/$(get .claude_session_id).jsonl; is_linear "$made"; check test "$(uuids "$made")" = '1 2 3 4 5 6 7 8 '
check test "$(jq -r '.customTitle // empty' "$made")" = try
arbor fork shop other --model opus --permission-mode default; code 0; arbor call claudecode.get '{"session":"other"}'
check test "$(get '[.model, .permission_mode] | join(" ")')" = 'opus default'
it "writes nothing for a name that is taken"
files=$(find "$T/.claude" -name '*.jsonl' | wc -l)
arbor fork shop try; code 10; err_has "a session is called 'try' already"; check test "$(find "$T/.claude" -name '*.jsonl' | wc -l)" = "$files"
arbor fork shop 'bad name'; code 2; check test "$(find "$T/.claude" -name '*.jsonl' | wc -l)" = "$files"
it "makes a session of a tree: its newest message, and below a message its newest"
arbor call claudecode.create_from_tree "{\"node\":\"$ID\",\"name\":\"all\"}"; code 0; check test "$(uuids "$(get .path)")" = '1 2 3 4 5 6 9 10 '
arbor call claudecode.create_from_tree "{\"node\":\"$ID@$(u 7)\",\"name\":\"wrong\"}"; code 0; check test "$(uuids "$(get .path)")" = '1 2 3 4 5 6 7 8 '

it "chats where the head is, in a file of its own when that is not the end of one"
arbor checkout shop "$(u 8)"; code 0
arbor call claudecode.chat '{"session":"shop","prompt":"say on the other branch"}'; code 0
check test "$(get 'select(.type == "complete") | .type')" = complete
arbor call claudecode.get '{"session":"shop"}'; now=$(get .claude_session_id); check test "$now" != "$ID"; check cmp -s "$F" "$T/before"
jq -r '.argv | join(" ")' "$W/seen.json" >"$T/argv"; check grep -q -- "--resume $now" "$T/argv"
check test "$(uuids "$P/$now.jsonl" 2>/dev/null | cut -c1-16)" = '1 2 3 4 5 6 7 8 '
it "and goes on in that file from then on"
arbor call claudecode.chat '{"session":"shop","prompt":"say again"}'; code 0; arbor call claudecode.get '{"session":"shop"}'; check test "$(get .claude_session_id)" = "$now"
it "begins anew when the head is before the first prompt"
arbor checkout shop "$(u 1)" --json; code 0; check test "$(get '.prompt, (.head // "none")' | tr '\n' '|')" = 'first question|none|'
arbor call claudecode.get '{"session":"shop"}'; check test "$(get '.claude_session_id // "none"')" = none
it "moves only a head that somebody named"
arbor checkout "$ID" "$(u 8)"; code 2; err_has 'only a session with a name'; check cmp -s "$F" "$T/before"

it "does not have it go on where nothing was said"
arbor checkout "$ID" "$(u 1)" --in-place; code 2; err_has 'nothing was said before that'; check cmp -s "$F" "$T/before"
arbor log "$ID"; code 0

it "has the client itself go on elsewhere, in its own file, when nobody has it open"
arbor checkout "$ID" "$(u 8)" --in-place --json; code 0; head -c "$(stat -c %s "$T/before")" "$F" >"$T/a"; same "$T/a" "$T/before"
check test "$(tail -n 1 "$F")" = "{\"type\":\"last-prompt\",\"leafUuid\":\"$(u 8)\",\"explicit\":true,\"sessionId\":\"$ID\"}"
check test "$("$ARBOR" log "$ID" --json | jq -r 'select(.kind == "message") | .blocks[0].text' | tail -n 1)" = 'answer c'
mkdir -p "$T/.claude/sessions"; start=$(awk '{ print $22 }' "/proc/$$/stat")
printf '{"pid":%d,"sessionId":"%s","cwd":"%s","startedAt":1,"procStart":"%s","version":"2.1.197","kind":"interactive"}' $$ "$ID" "$W" "$start" >"$T/.claude/sessions/$$.json"
cp "$F" "$T/before"
arbor checkout "$ID" "$(u 10)" --in-place; check test $rc != 0; err_has 'a client has it open just now'; same "$F" "$T/before"
it "does not go on with what somebody has open, but beside it"
arbor resume "$ID"; check test $rc != 0; err_has "'arbor fork ${ID:0:8}' goes on beside it"; forked "$ID"; is_linear "$made"
rm "$T/.claude/sessions/$$.json"

cat >"$T/client" <<'END'
#!/bin/sh
printf 'in %s:' "$PWD"; printf ' %s' "$@"; echo
END
chmod +x "$T/client"; export ARBOR_CLAUDE=$T/client
it "runs the client at a terminal, where the conversation was"
(cd / && on_terminal resume "$ID"; exit $rc); rc=$?; code 0; out_has "in $W: --resume $ID"
on_terminal resume "$ID@$(u 9)"; code 0; out_has 'the right question'; out_has "in $W: --resume "; out_lacks "--resume $ID"
on_terminal resume try; code 0; out_has "--model sonnet --permission-mode plan"
on_terminal resume "$ID" --before; code 0; out_has 'the wrong question'; out_has "in $W: --resume "; out_lacks "--resume $ID"
on_terminal resume try --before; code 0; out_has 'the wrong question'; out_lacks "--resume $ID"
it "says whether the client goes on behind what was named, and how it goes on before that"
screen=200x40 on_terminal resume "$ID@$(u 8)"; code 0; out_has 'it goes on behind that; to go on before it: arbor resume '
it "says under which id the client goes on"
screen=200x40 on_terminal resume "$ID@$(u 9)" --color never; code 0; check grep -qE "^It goes on as [0-9a-f]{8}, made of ${ID:0:8}\.?.*$" "$T/out"
screen=200x40 on_terminal resume "$ID"; code 0; out_lacks 'It goes on as'
it "only prints the command where nobody is at a terminal"
arbor resume "$ID" --json; code 0; check test "$(get '.words | join(" ")')" = "$T/client --resume $ID"
it "says it when there is no client"
ARBOR_CLAUDE=/no/such/client on_terminal resume "$ID"; check test $rc != 0

it "needs no file of the client's"
forked "$ID@$(u 5)"; strip "$made" >"$T/a"
find "$T/.claude/projects" -name '*.jsonl' -delete; arbor sync; code 0
forked "$ID@$(u 5)"; strip "$made" >"$T/b"; same "$T/a" "$T/b"; is_linear "$made"
arbor resume "$ID" --json; code 0; out_lacks "--resume $ID"; is_linear "$(get .path)"
it "takes a folder that is quoted for a shell"
mkdir -p "$T/it's here"; forked "$ID@$(u 5)" --cwd "$T/it's here"; check test "$(sh -c "$(get .command)")" = "in $T/it's here: --resume $(get .session)"
it "says where it goes on at a compaction, and behind what the client told"
F=$P/00000096-ffff-4000-8000-000000000000.jsonl; says 61 0 'asked'; answers 62 61 h
printf '{"parentUuid":null,"logicalParentUuid":"%s","isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","uuid":"%s","timestamp":"2026-11-15T10:01:03.000Z","cwd":"%s","sessionId":"%s","compactMetadata":{"trigger":"manual","preTokens":9}}\n' "$(u 62)" "$(u 63)" "$W" "$ID" >>"$F"
line "$F" 64 63 user '"isCompactSummary":true,"message":{"role":"user","content":"a summary"}'; says 65 64 'asked again'; answers 66 65 i
line "$F" 67 66 user '"isMeta":true,"message":{"role":"user","content":"something the client says"}'; answers 68 67 j
sed -i "s/$ID/$(basename "$F" .jsonl)/; s/T10:00:6/T10:01:0/" "$F"; arbor sync; code 0
arbor fork "$(u 63)"; code 0; err_has 'it goes on before the compaction'; err_lacks 'behind that'
arbor fork "$(u 67)"; code 0; arbor fork "$(sed -n 's/.*: arbor fork \([0-9a-f-]*\)$/\1/p' "$T/err")" --json; code 0; check test "$(uuids "$(get .path)" | tail -c 4 | tr -d " ")" = 66
it "is followed from its beginning, over the compaction"
arbor log "$(basename "$F" .jsonl)" --json; code 0; check test "$(get 'select(.kind == "message") | .blocks[0].text' | tr '\n' '|')" = 'asked|answer h|a summary|asked again|answer i|something the client says|answer j|'
it "takes a sub-agent's message behind the session that started it"
arbor fork "$ID@$(u 22)" --json; code 0; check test "$(uuids "$(get .path)")" = '21 22 '
it "says which results of tools are gone that the client kept in files"
mkdir -p "${F%.jsonl}/tool-results"; echo long >"${F%.jsonl}/tool-results/b1.txt"; arbor sync; code 0
arbor fork "$(basename "$F" .jsonl)"; code 0; err_lacks 'gone'
rm "${F%.jsonl}/tool-results/b1.txt"; arbor fork "$(basename "$F" .jsonl)"; code 0; err_has "is gone; 'arbor export' has it still: "; err_has 'tool-results/b1.txt'
it "is behind what it was forked from until something is said in it"
F=$P/ffffff97-ffff-4000-8000-000000000000.jsonl; says 71 0 'asked last'; answers 72 71 k
echo '{"type":"queue-operation","operation":"dequeue","sessionId":"'$ID'"}' >>"$F" # as clients note beside what is said
sed -i "s/$ID/$(basename "$F" .jsonl)/; s/2026-11-15T10:00/2036-11-16T10:00/; s/:7/:0/" "$F"; arbor sync; code 0
for n in 1 2 3; do arbor fork @ --json; code 0; check test "$(get .from)" = "$(basename "$F" .jsonl)"; done
the_end
