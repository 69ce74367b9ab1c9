#!/bin/sh
# Handles: everything has one, and it leads back to it, in every form and wherever an id is taken.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
tool=toolu_01J0Y13gEGWxkkSEVrSTwgUr
use=31cfb742-b09c-5e4c-9eae-58724697b7c0
call=claudecode@1.0.0::tool_use:$use:$tool:Bash
plugin=51b330e5-ed88-5fe2-8b58-0c57f2b02ab3
# The first handle that was printed.
handle() { grep -o '"handle":"[^"]*"' "$T/out" | head -n 1 | cut -d '"' -f 4; }

it "needs no store to say that something is no handle"
arbor resolve 'nobody@1.0.0::thing:x'; code 1; err_has "no plugin 'nobody' here"
arbor resolve 'claudecode@1.0.0::message:x:user'; code 9; err_has "meta[0] 'id' is 'x' and has to be a UUID"
arbor resolve "claudecode@1.0.0::message:$use:user"; code 1; err_has "no store here yet"
arbor sync -q --source demo; code 0

it "resolves a handle by name, by id, as JSON and as the older form"
arbor resolve "$call" --json; code 0
out_has "\"handle\":\"$call\",\"plugin\":\"claudecode\",\"plugin_id\":\"$plugin\",\"version\":\"1.0.0\",\"method\":\"tool_use\""
out_has '"kind":"message","by":"","data":{'; out_has '"input":{"command":"npm run lint"'
cp "$T/out" "$T/by-name"
arbor resolve "$plugin@1.0.0::tool_use:$use:$tool:Bash" --json; same "$T/by-name" "$T/out"
arbor resolve "{\"plugin_id\":\"$plugin\",\"version\":\"1.0.0\",\"method\":\"tool_use\",\"meta\":[\"$use\",\"$tool\",\"Bash\"]}" --json
same "$T/by-name" "$T/out"
arbor call hub.resolve "{\"handle\":{\"plugin_id\":\"claudecode\",\"version\":\"1.0.0\",\"method\":\"tool_use\",\"meta\":[\"$use\",\"$tool\",\"Bash\"]}}"
same "$T/by-name" "$T/out"
old='{"source":"claudecode","source_version":"1.0.0","identifier":"msg-153eeea2-a9c3-5c78-a9f5-412cb1cbb69b:assistant:bob"}'
arbor resolve "$old" --json; code 0; out_has '"method":"message","kind":"message"'; out_has '"id":"153eeea2-a9c3-5c78-a9f5-412cb1cbb69b"'
out_has '"handle":"{\"source\":\"claudecode\",\"source_version\":\"1.0.0\",'

it "takes the id of a call, a node or a session instead"
arbor resolve $tool --json; same "$T/by-name" "$T/out"
arbor resolve 31cfb742 --json; same "$T/by-name" "$T/out"
arbor resolve @ --json; out_has '"method":"session"'
arbor resolve toolu_01none; code 1; err_has 'no call of a tool'

it "takes a handle wherever an id is taken"
arbor show "$call"; code 0; out_has 'npm run lint'
arbor resolve @ --json; last=$(handle)
for verb in show log tree agents files todos related "search the -s" "usage --session" "history -s" "files $last --at"; do
	# shellcheck disable=SC2086 # words
	arbor $verb "$last"; [ "$rc" -lt 2 ] || fail "$verb takes no handle: $(cat "$T/err")"
	err_lacks 'no id'
done
arbor sources --json; file=$(handle)
arbor export "$file" >/dev/null; code 0
arbor versions "$file"; code 0
arbor show "$file"; code 1; err_has 'this is a file and no session'
arbor show 'notes@1.0.0::item:x'; code 2; err_has "'arbor resolve' shows it"
arbor export "$call"; code 2; err_has 'no handle of a kept file'

it "refuses what contradicts what is found, and says where"
arbor resolve "claudecode@1.0.0::tool_use:$use:$tool:Read"; code 9; err_has "meta[2] is 'Read', and what has this id has 'Bash'"
arbor resolve "claudecode@1.0.0::tool_use:$use:toolu_other:Bash"; code 9; err_has 'meta[1]'
arbor resolve "claudecode@1.0.0::tool_use:$use:$tool"; code 0
arbor resolve "claudecode@1.0.0::tool_use:$use"; code 9; err_has "meta[1] 'tool_id' is missing; this kind is claudecode@1.0.0::tool_use:id:tool_id[:name]"
arbor resolve "claudecode@1.0.0::content:$use:0"; code 9; err_has 'is a tool_use and no content'
arbor resolve "claudecode@1.0.0::message:$use:assistant"; code 9; err_has 'is a part of a message and no message'
arbor resolve "claudecode@1.0.0::session:$use"; code 9; err_has 'is a part of a message and no session'
arbor resolve "claudecode@1.0.0::mesage:$use:user"; code 1; err_has "did you mean 'message'?"
arbor resolve "claudecode@7.0.0::message:$use:user"; code 1; err_has 'it is of claudecode 7.0.0, and 1.0.0 is what is here'
arbor resolve "$plugin@2.0.0::message:$use:user"; code 9; err_has 'another major'
arbor resolve "claudecode@1.0.0::message:00000000-0000-4000-8000-000000000000:user"; code 1; err_has 'is not in this store'
arbor resolve "team.claudecode@1.0.0::message:$use:user"; code 1; err_has "no hub 'team' here"

it "gives long texts in parts that make up the whole"
arbor plans --json; plan=$(handle)
arbor resolve "$plan" -n 10 --json; code 0; out_has '"text":"# A faster"'; out_has '"bytes":179,"truncated":true'
arbor resolve "$plan" --json; out_has '"bytes":179}'; out_lacks truncated
arbor resolve "$plan" --from 10 -n 12 --json; out_has '"text":" shell start"'
arbor resolve "$plan" -n 0 --json; code 0; out_has '"text":""'
arbor resolve "$plan" -n 17M; code 2

it "carries bytes that are no text as base64"
mkdir -p "$T/bin/projects/p/s/tool-results"
printf '\000\001\377binary' >"$T/bin/projects/p/s/tool-results/x"
printf '%s\n' '{"type":"user","uuid":"11111111-1111-4111-8111-111111111111","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAECAwQF"}}]}}' \
	'{"type":"user","timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}}' \
	>"$T/bin/projects/p/22222222-2222-4222-8222-222222222222.jsonl"
arbor sync -q --source "$T/bin" --label bin
arbor sources --json; file=$(grep tool-results/x "$T/out" | grep -o '"handle":"[^"]*"' | cut -d '"' -f 4)
arbor resolve "$file" --json; code 0; out_has '"kind":"binary"'; out_has '"base64":"AAH/YmluYXJ5","bytes":9'
arbor show 22222222 --json; image=$(grep -o 'claudecode@1.0.0::content:[^"]*' "$T/out" | head -n 1)
arbor resolve "$image" --json; out_has '"kind":"binary"'; out_has '"media_type":"image/png","base64":"AAECAwQF","bytes":6'
arbor resolve "$image" --from 3 -n 3 --json; out_has '"base64":"AwQF","bytes":6,"truncated":true'

it "tells parts of a line apart that has no uuid"
arbor show 22222222 --json
two=$(grep -o 'claudecode@1.0.0::content:[^"]*:1' "$T/out" | tail -n 1)
arbor resolve "$two" --json; code 0; out_has '"text":"two"'
arbor resolve "${two%1}0" --json; code 0; out_has '"text":"one"'
arbor resolve "${two%1}2" --json; code 9

it "reports a call that stands in several places with what could be meant"
mkdir -p "$T/two/projects/p"
for n in 1 2; do
	printf '{"type":"assistant","uuid":"%s","message":{"id":"m%s","content":[{"type":"tool_use","id":"toolu_twice","name":"X","input":{}}]}}\n' \
		"3333333$n-3333-4333-8333-333333333333" $n >"$T/two/projects/p/4444444$n-4444-4444-8444-444444444444.jsonl"
done
arbor sync -q --source "$T/two" --label two
arbor resolve toolu_twice; code 2; err_has "'toolu_twice' could be"; check test "$(grep -c '^  ' "$T/err")" -eq 2
arbor call hub.resolve_many toolu_twice; code 3; out_has '"error":{"status":"ambiguous"'

it "names the file of a session where several have its id"
mkdir -p "$T/back/projects/p" "$T/back/projects/q"
for p in p q; do
	printf '{"type":"user","uuid":"5555555%s-5555-4555-8555-555555555555","message":{"content":"said in the folder %s"}}\n' \
		"$(echo $p | tr pq 12)" "$(echo $p | sed s/q/quite/)" >"$T/back/projects/$p/66666666-6666-4666-8666-666666666666.jsonl"
done
arbor sync -q --source "$T/back" --label back
arbor resolve claudecode@1.0.0::session:66666666-6666-4666-8666-666666666666; code 2; err_has 'could be'
arbor list --json; grep '"root":"back"' "$T/out" | grep -o '"handle":"[^"]*"' | cut -d '"' -f 4 >"$T/handles"
check test "$(sort -u "$T/handles" | wc -l)" -eq 2
while read -r h; do
	arbor resolve "$h" --json; code 0; title=$(grep -o '"title":"[^"]*"' "$T/out")
	arbor show "$h" --json; code 0; out_has "$title"
done <"$T/handles"

it "resolves trees and nodes that were made, and does not follow what they name"
tree=7ee0a000-0000-4000-8000-000000000000 text=a0de0100-0000-4000-8000-000000000000 named=a0de0200-0000-4000-8000-000000000000
arbor call arbor.tree_create "{\"id\":\"$tree\",\"metadata\":{\"topic\":\"x\"}}"; code 0
arbor call arbor.node_create_text "{\"tree\":\"$tree\",\"id\":\"$text\",\"role\":\"user\",\"content\":\"What is left?\"}"; code 0
arbor call arbor.node_create_external "{\"tree\":\"$tree\",\"id\":\"$named\",\"handle\":\"$call\"}"; code 0
arbor resolve arbor@1.0.0::tree:$tree --json; code 0
out_has '"kind":"document","by":"","data":{"id":"'$tree'"'; out_has '"metadata":{"topic":"x"}'; out_has '"nodes":3'
arbor resolve arbor@1.0.0::node:$text --json; code 0; out_has '"kind":"message"'; out_has '"content":"What is left?","bytes":13}'
arbor resolve arbor@1.0.0::node:$text --from 5 -n 2 --json; out_has '"content":"is","bytes":13,"truncated":true'
arbor resolve arbor@1.0.0::node:$named --json; code 0; out_has "\"handle\":\"$call\""; out_lacks npm
arbor call arbor.tree_render $tree; out_has 'Bash npm run lint'

it "refuses to put into a tree what is no handle"
arbor call arbor.node_create_external "{\"tree\":\"$tree\",\"handle\":\"notes@1::x:%\"}"; code 9; err_has "'%' needs two hex digits"
arbor call arbor.node_create_external "{\"tree\":\"$tree\",\"handle\":\"79f2f12c\"}"; code 9; err_has "no '@' behind the plugin"
arbor call arbor.node_create_external "{\"tree\":\"$tree\",\"handle\":{\"plugin_id\":\"notes\",\"version\":\"1\",\"method\":\"note\",\"meta\":[\"1\"]}}"; code 0
arbor call arbor.tree_render $tree; code 0; out_has '→ {"plugin_id":"notes"'

it "says of what was purged that it is gone, and of what is archived how it is read"
arbor call arbor.node_purge $text; code 0
arbor resolve arbor@1.0.0::node:$text; code 1; err_has 'was purged on'
arbor call hub.resolve_many arbor@1.0.0::node:$text arbor@1.0.0::node:00000000-0000-4000-8000-000000000000; code 3
out_has '"error":{"status":"gone"'; out_has '"error":{"status":"not_found"'
arbor call arbor.tree_archive $tree --force; code 0
arbor resolve arbor@1.0.0::tree:$tree; code 2; err_has 'is archived'; err_has 'tree_get_archived'

it "knows mirrored trees and nodes by handles of arbor, too"
arbor tree 79f2f12c --json; mirrored=$(grep -o '"tree_id":"[^"]*"' "$T/out" | head -n 1 | cut -d '"' -f 4)
arbor resolve "arbor@1.0.0::tree:$mirrored" --json; code 0; out_has "\"id\":\"$mirrored\",\"owner\":\"mirror\""; out_has '"of":"claudecode@1.0.0::session:'
arbor show "arbor@1.0.0::tree:$mirrored"; code 0
arbor resolve "arbor@1.0.0::node:$use" --json; code 0; out_has "\"kind\":\"mirrored\",\"handle\":\"$call\""
arbor resolve "arbor@1.0.0::tree:$use"; code 9; err_has 'is no tree'

it "answers each of many by itself"
arbor call hub.resolve_many "$call" 'x@1::y' "$last" --json; code 3; err_has '1 of 3 could not be resolved'
check test "$(wc -l <"$T/out")" -eq 3
sed -n 2p "$T/out" | grep -q '"asked":"x@1::y","error":{"status":"unsupported"' || fail 'the second has no error'
sed -n 3p "$T/out" | grep -q '"method":"session"' || fail 'the third was not resolved'

it "describes its kinds of handles, and has a hash that stays"
arbor call hub.schema; code 0
check test "$(grep -c '"type":"handle"' "$T/out")" -ge 13
out_has '"name":"claudecode::tool_use","type":"handle"'; out_has '"name":"storage::file","type":"handle"'
arbor call hub.hash; cp "$T/out" "$T/hash"; arbor call hub.hash; same "$T/hash" "$T/out"

it "has a handle for every hit of a search, and each leads to the hit"
arbor search the -n 0 --json; cp "$T/out" "$T/hits"
grep -o '"handle":"[^"\\]*"' "$T/hits" | cut -d '"' -f 4 >"$T/handles"
check test "$(wc -l <"$T/handles")" -eq "$(wc -l <"$T/hits")"
# shellcheck disable=SC2046 # one word each
arbor call hub.resolve_many $(cat "$T/handles"); code 0
grep -o '^{"v":1,"id":"[^"]*"' "$T/hits" | cut -d '"' -f 6 >"$T/ids"
while read -r id; do grep -q "\"id\":\"$id\"" "$T/out" || fail "$id is not there"; done <"$T/ids"

it "has a handle for every node of the demo and of what was made here, and each leads to it"
rm -rf "$T/two"
"$BUILD/tool/handles" "$T/.local/share/arbor/arbor.db" >"$T/out" 2>&1 || { fail 'not all'; show "$T/out"; }
check grep -qx 'bad 0' "$T/out"
for kind in tree session agent turn message content thinking tool_use tool_result event line file plan todo; do
	check grep -q "^$kind [1-9]" "$T/out"
done

it "has one for every node of what many versions of the client wrote"
if [ -d "$ARBOR_SHARED/fixtures/claude-2.1.197" ] && [ "$MODE" = dev ]; then
	n=0
	for dir in "$ARBOR_SHARED"/fixtures/claude-2.1.197/*/dot-claude "$ARBOR_SHARED"/fixtures/claude-versions/*/*/dot-claude; do
		[ ! -d "$dir" ] || arbor sync -q --source "$dir" --label "f$((n += 1))" --store "$T/all.db"
	done
	check test $n -gt 70
	"$BUILD/tool/handles" "$T/all.db" >"$T/out" 2>&1 || { fail 'not all'; show "$T/out"; }
	check grep -qx 'bad 0' "$T/out"
else
	skip 'in dev mode only, and where the fixtures are'
fi
the_end
