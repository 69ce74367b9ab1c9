#!/bin/sh
# Conversations as trees: found by any of their names, walked, drawn, written beside, claimed and let go.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
call() { _m=$1; shift; arbor call "arbor.$_m" "$@"; }
first() { sed -n "s/^{\"v\":1,\\(\"kind\":\"$1\",\\)\\{0,1\\}\"id\":\"\\([^\"]*\\)\".*/\\2/p" "$T/out"; } # ids of items
value() { sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p" "$T/out"; }
count() { wc -l <"$T/out" | tr -d ' '; }
at_most() { [ "$(count)" -le "$1" ] || fail "$(count) items"; }

# A line of a transcript: TYPE UUID PARENT TEXT
line() { printf '{"type":"%s","uuid":"%s","parentUuid":%s,"timestamp":"2026-01-01T00:%s:00.000Z","message":{"content":"%s"}}\n' \
	"$1" "00000000-0000-4000-8000-0000000000$2" "$3" "$2" "$4"; }
parent() { echo "\"00000000-0000-4000-8000-0000000000$1\""; }

it "finds the tree of a conversation by its session, by anything in it that names it, and by the beginning of its id"
arbor sync -q --source demo; code 0
call tree_get @; code 0; out_has '"owner":"mirror"'; out_has '"state":"active"'; out_has '"messages":24'
tree=$(first); cp "$T/out" "$T/tree"
for name in "$tree" "$(echo "$tree" | cut -c 1-8)" d4861786 d4861786-f226-4170-a3f5-719f14be0776; do
	call tree_get "$name"; code 0; same "$T/tree" "$T/out"
done
arbor show "$tree"; code 0; out_has 'Measure how long my shell takes to start'
arbor tree @ --json; out_has "\"tree_id\":\"$tree\""
arbor log @ --json; out_has "\"tree_id\":\"$tree\""
call tree_get 3aa3b59e; code 1; err_has 'but a node is'

it "gives every message the path that 'arbor log' shows, from the last compaction on, and the tree it is in"
arbor list -n 0; cut -f 1 "$T/out" >"$T/sessions"
while read -r session; do
	arbor log "$session" --json; code 0
	awk '/"origin":"compaction"/ { n = 0 } { all[n++] = $0 } END { for (i = 0; i < n; i++) print all[i] }' "$T/out" >"$T/since"
	cp "$T/since" "$T/out"; first message >"$T/log"; last=$(tail -n 1 "$T/log")
	call node_get_path "$last"; code 0; first '' >"$T/path"; same "$T/log" "$T/path"
	call tree_get "$session"; its=$(first)
	call node_get_path "$last"; check test "$(grep -c "\"tree\":\"$its\"" "$T/out")" = "$(count)"
done <"$T/sessions"

it "walks a tree page by page, every node once and behind what contains it"
call tree_get_skeleton "$tree" -n 0 --json; code 0; first '' >"$T/all"; cp "$T/out" "$T/nodes"
check test "$(sort -u "$T/all" | wc -l)" = "$(wc -l <"$T/all")"
: >"$T/pages"; after=''
while :; do
	call tree_get_skeleton "$tree" -n 7 ${after:+--after "$after"} --json; code 0
	first '' >>"$T/pages"; at_most 7
	after=$(tail -n 1 "$T/pages")
	[ "$(count)" = 7 ] || break
done
same "$T/all" "$T/pages"
awk -F '"' '{ for (i = 1; i < NF; i++) { if ($i == "id") id = $(i + 2); if ($i == "parent") { if (!seen[$(i + 2)]) bad++ } } seen[id] = 1 }
	END { exit bad > 0 }' "$T/nodes" || fail "a node comes before its parent"

it "has children where it is their parent, in the order of the walk"
call node_get_children "$tree" --json; check test "$(count)" = 1; turn=$(first '')
call node_get "$turn"; out_has '"kind":"turn"'; out_has '"number":1'; out_has "\"parent\":\"$tree\""
call node_get_children "$turn" --json; first '' >"$T/children"
grep "\"parent\":\"$turn\"" "$T/nodes" >"$T/out"; first '' >"$T/walked"; same "$T/children" "$T/walked"
grep '"kind":"message"' "$T/nodes" | sed -n 4p >"$T/out"; message=$(first '')
call node_get_parent "$message"; check test "$(first '')" = "$turn"
call node_get_children "$message"; out_has '"kind":"tool_use"'; out_has '"name":"Bash"'; out_has '"input":{"command":'
block=$(first ''); call node_get_parent "$block"; check test "$(first '')" = "$message"
call node_get_path "$block"; check test "$(first '' | tail -n 1)" = "$block"
call node_get_parent "$tree"; code 1; err_has 'has no parent'

it "draws it"
call tree_render "$tree" --width 60 -n 12; code 0
out_has "$(echo "$tree" | cut -c 1-8) Measure how long my shell takes to start"; out_has '└─ '; out_has '├─ '; out_has 'tool_use: Bash hyperfine'
out_has '… goes on after '
call tree_render "$tree" --node "$message"; out_has "$(echo "$message" | cut -c 1-8) assistant"; out_lacks 'turn 1'

it "says what the model is sent, and gives a handle for each step to it"
arbor log @ --as-sent --through --json; grep -o '"content":.*' "$T/out" | sed 's/^"content"://; s/}$//' >"$T/sent"
call context_list_leaves "$tree"; check test "$(count)" = 1; leaf=$(first '')
call context_get_path "$leaf"; code 0; sed 's/.*"sent"://; s/}$//' "$T/out" >"$T/path"; same "$T/sent" "$T/path"
call context_get_handles "$message"; out_has '"handle":"claudecode@1.0.0::message:'
arbor resolve "$(value handle | tail -n 1)"; code 0

it "finds where two ways part"
mkdir -p "$T/claude/projects/p"
{ line user 10 null one; line assistant 11 "$(parent 10)" two; line user 12 "$(parent 11)" three; line assistant 13 "$(parent 12)" four
line user 14 "$(parent 11)" five; line assistant 15 "$(parent 14)" six; line user 16 null "from the start"; } \
	>"$T/claude/projects/p/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01.jsonl"
arbor sync -q --source "$T/claude" --label other; code 0
uuid() { echo "00000000-0000-4000-8000-0000000000$1"; }
said() { call node_get "$(uuid "$1")"; first ''; } # id of the message with this line
one=$(said 10) two=$(said 11) four=$(said 13) six=$(said 15) start=$(said 16)
call node_get_common_ancestor "$four" "$six"; out_has '"content":"two"'; check test "$(first '')" = "$two"
call node_get_common_ancestor "$one" "$six"; check test "$(first '')" = "$one"
call node_get_common_ancestor "$start" "$six"; out_has '"kind":"root"'
call node_get_path_between "$four" "$six"; check test "$(first '' | sed -n '1p;3p;$p' | tr '\n' ' ')" = "$four $two $six "
call context_list_leaves 0b7f3c1e; check test "$(count)" = 3
call node_get_common_ancestor "$one" "$message"; code 2; err_has 'no node of the same tree'
call tree_get 0b7f3c1e; other=$(first)

it "knows a tree by the name it had before more files came"
{ line user 22 "$(parent 21)" late; } >"$T/claude/projects/p/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02.jsonl"
arbor sync -q --source "$T/claude" --label other; call tree_get 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02; before=$(first)
call node_create_text "$before" --content 'said before'; code 0; made=$(first '')
{ line user 20 null early; line assistant 21 "$(parent 20)" yes; } >"$T/claude/projects/p/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03.jsonl"
arbor sync -q --source "$T/claude" --label other; call tree_get 0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02; now=$(first)
check test "$before" != "$now"
call tree_get "$before"; check test "$(first)" = "$now"
call node_get "$made"; out_has "\"tree\":\"$now\""; out_has "\"parent\":\"$now\""
call node_get_children "$now"; out_has 'said before'
arbor rebuild; call tree_get "$before"; check test "$(first)" = "$now"; arbor check; code 0

it "lists each tree once, whatever files it is in"
call tree_list --mirrored -n 0 --json; code 0; first '' >"$T/all"; check test "$(sort -u "$T/all" | wc -l)" = "$(wc -l <"$T/all")"
check grep -q "$now" "$T/all"; check grep -q "$tree" "$T/all"; ! grep -q "$before" "$T/all" || fail "by an old name"
: >"$T/pages"; after=''
while :; do
	call tree_list --mirrored -n 4 ${after:+--after "$after"} --json
	first '' >>"$T/pages"; at_most 4
	after=$(tail -n 1 "$T/pages")
	[ "$(count)" = 4 ] || break
done
same "$T/all" "$T/pages"
call tree_list --mirrored --agents -n 0 --json; check test "$(count)" -gt "$(wc -l <"$T/all")"

it "lets nodes be made below mirrored ones"
call node_create_text "$tree" --parent "$message" --role user --content 'a remark'; code 0
remark=$(first ''); out_has "\"tree\":\"$tree\""; out_has "\"parent\":\"$message\""; out_has '"depth":3,"position":2'
call node_create_external "$tree" --parent "$remark" --handle notes@1.0.0::note:7; code 0; note=$(first ''); out_has '"depth":4'
call node_get_children "$message" --json; check test "$(count)" = 2; check test "$(first '' | tail -n 1)" = "$remark"
call node_get_parent "$remark"; check test "$(first '')" = "$message"
call node_get_path "$note"; check test "$(first '' | tail -n 3 | tr '\n' ' ')" = "$message $remark $note "
call node_get_common_ancestor "$note" "$leaf"; check test "$(first '')" = "$message"
call context_get_handles "$note"; out_has claudecode@1.0.0::message:; out_has notes@1.0.0::note:7
call context_get_path "$remark"; out_has 'a remark'; out_has '"sent":'
call tree_render "$tree"; out_has 'user: a remark'; out_has '→ notes@1.0.0::note:7'
call tree_get_skeleton "$tree" -n 0; first '' | grep -A 1 "$note" | tail -n 1 >"$T/next"
call tree_get_skeleton "$tree" -n 1 --after "$note"; check test "$(first '')" = "$(cat "$T/next")"
call node_create_text "$tree" --parent "$one" --content x; code 2; err_has 'no node of the same tree'
call tree_list; code 1; err_has 'there is no tree'
arbor sql "SELECT count(*) FROM nodes WHERE session_id IS NULL AND tree_id = '$tree'"; out_is 2
arbor check; code 0

it "has a standing claim on every conversation, and lets go of one when that is released"
call tree_refs "$tree"; out_is '{"v":1,"owner":"mirror","count":1}'
call node_refs "$message"; out_has '"owner":"mirror"'
call tree_schedule "$tree"; code 10; err_has "claimed by 'mirror'"
call tree_archive "$tree"; code 10
call node_claim "$message" --owner reader; code 0; call tree_release "$tree" --owner mirror; code 0; out_has '"state":"active"'
call tree_release "$tree" --owner mirror; code 2; err_has 'released before'
call node_release "$message" --owner reader; code 0; out_has '"state":"scheduled"'
call tree_list_scheduled; out_has "$tree"; call node_get "$message"; out_has '"state":"scheduled"'
call node_create_text "$tree" --content x; code 2; err_has 'scheduled to be deleted'
call node_claim "$remark"; code 0; call tree_get "$tree"; out_has '"state":"active"'
call node_release "$remark"; call tree_get "$tree"; out_has '"state":"scheduled"'
call tree_claim "$tree" --owner reader; out_has '"state":"active"'; call tree_release "$tree" --owner reader; out_has '"state":"scheduled"'
call tree_rescue "$tree"; out_has '"state":"active"'; call tree_refs "$tree"; out_has '"owner":"mirror"'
arbor check; code 0

it "hides a conversation that is archived, but for who asks for it"
call tree_archive "$tree" --force; code 0; out_has '"state":"archived"'
call tree_get "$tree"; code 2; err_has tree_get_archived; call tree_get_archived "$tree"; code 0; out_has '"state":"archived"'
call node_get "$message"; code 2; call node_get_archived "$message"; code 0; call node_get_archived "$remark"; code 0
call tree_list_archived; out_has "$tree"; call tree_list --mirrored -n 0; out_lacks "$tree"
arbor list -n 0; out_lacks d4861786; arbor list -n 0 --archived; out_has d4861786
arbor pick --plain hyperfine; code 1; err_has 'nothing found'; err_lacks -- '--archived' # which it has not got
arbor search hyperfine; code 1; err_has -- '--archived'; arbor search hyperfine --archived; code 0
arbor search hyperfine --session d4861786; code 0; arbor search hyperfine session:d4861786; code 0
arbor show d4861786; code 0; err_has 'this conversation is archived'; arbor log d4861786; err_has archived; arbor tree "$tree"; err_has archived
call tree_get @; out_lacks "$tree"
arbor rebuild; arbor list -n 0; out_lacks d4861786
call tree_rescue "$tree"; code 0; arbor list -n 0; out_has d4861786; arbor search hyperfine; code 0
call tree_get "$other"; code 0; arbor check; code 0
the_end
