#!/bin/sh
# Whatever stands in a file, a name or an error: on a terminal only printable
# characters, line ends and our own colours arrive.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
arbor=$ARBOR
esc=$(printf '\033')
screen=100x40
export PAGER=cat

# Every byte; every C1 code point; what turns or hides text; what sets colours,
# titles and clipboards.
awk 'BEGIN { for (i = 0; i < 256; i++) printf "\\%03o", i }' >"$T/octal"
# shellcheck disable=SC2059 # the format is made here
printf "$(cat "$T/octal")" >"$T/hostile"
awk 'BEGIN { for (i = 128; i < 160; i++) printf "\\302\\%03o", i }' >"$T/octal"
# shellcheck disable=SC2059 # the format is made here
printf "$(cat "$T/octal")" >>"$T/hostile"
printf '\342\200\256\342\200\213\357\273\277\033[95mx\033]0;t\007\033]52;c;eA==\033\\\233\061m\r\n\ttail' >>"$T/hostile"
# The same inside a JSON string.
json=$(awk 'BEGIN { for (i = 0; i < 256; i++) printf "\\\\u%04x", i; printf "\\\\u202e\\\\u001b[95mx\\\\u001b]0;t\\\\u0007" }' | sed 's/\\\\/\\/g')

# A line that may arrive: ASCII, UTF-8 without C1 and format characters, our own sequences.
line='^(?:[\x20-\x7E]|\xC2[\xA0-\xBF]|[\xC3-\xDF][\x80-\xBF]|\xE2(?!\x80[\x8B\xAA-\xAE])[\x80-\xBF]{2}'
line="$line"'|\xEF(?!\xBB\xBF)[\x80-\xBF]{2}|\xE0[\xA0-\xBF][\x80-\xBF]|\xED[\x80-\x9F][\x80-\xBF]|[\xE1\xE3-\xEC\xEE][\x80-\xBF]{2}'
line="$line"'|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}'
line="$line"'|\x1B\[(?:0|35|2|1|1;35|1;4;31|31)m|\r*\x1B\[K)*+$'

# Our own sequences: colours, and how a progress line is drawn and erased.
harmless() { # WHAT
	allowed || explain "$1"
}
# Every line consists of characters and sequences that may be there. One program, because it is asked two thousand times.
allowed() {
	LC_ALL=C grep -avqP "$line" "$T/out"
	[ $? = 1 ]
}
explain() { # WHAT
	sed "s/$esc\\[\\(0\\|35\\|2\\|1\\|1;35\\|1;4;31\\|1;31\\|31\\)m//g; s/\r*$esc\\[K//g" "$T/out" >"$T/rest"
	left=$(LC_ALL=C tr -d '\n\040-\176\200-\377' <"$T/rest" | od -An -tx1 | head -n 2)
	[ -z "$left" ] || fail "$1: control characters: $left"
	iconv -f UTF-8 -t UTF-8 "$T/rest" >/dev/null 2>&1 || fail "$1: not UTF-8"
	! LC_ALL=C grep -qP '\xC2[\x80-\x9F]|\xE2\x80[\x8B\xAA-\xAE]|\xEF\xBB\xBF' "$T/rest" || fail "$1: C1 or format characters"
}
# As a person sees it, and in colour, and into a pipe.
try() { # ARG...
	on_terminal "$@"; harmless "$1"
	on_terminal "$@" --color never; harmless "$1"
	! grep -q "$esc" "$T/out" || fail "$1: an escape without colour"
}

it "has something to be afraid of"
check test "$(wc -c <"$T/hostile")" -gt 340
cp "$T/hostile" "$T/out"; harmless self >"$T/complaints"; check test "$(wc -l <"$T/complaints")" -ge 3
_bad=0
printf 'plain \342\234\223 %s[1mbold%s[0m\n' "$esc" "$esc" >"$T/out"; allowed || fail 'nothing is allowed'
for c in 007 033 302\\205 342\\200\\256 303 355\\240\\200; do
	# shellcheck disable=SC2059 # the format is made here
	printf "x\\${c}x\n" >"$T/out"; ! allowed || fail "$c is allowed"
done

it "filters every type of field in tables, records and JSON"
ARBOR=$BUILD/tool/fixture
for verb in items one; do
	for screen in 40x40 100x40 300x40; do
		try $verb "@$T/hostile"
		try $verb "@$T/hostile" --json
		[ $verb = one ] || try $verb "@$T/hostile" -0
	done
done
on_terminal items "@$T/hostile"; out_has '␛'

it "filters bytes, one at a time too"
tabs() { tr -d '\t' <"$T/out" >"$T/no-tabs" && mv "$T/no-tabs" "$T/out"; }
on_terminal bytes "@$T/hostile"; tabs; harmless bytes; out_has '<FF>'
arbor bytes "@$T/hostile"; same "$T/hostile" "$T/out"

it "filters errors, warnings and what was typed"
try refuse "@$T/hostile"
try refuse "@$T/hostile" -n 0
on_terminal items --mood "$(printf '\033[95m\302\233')"; code 2; harmless --mood
on_terminal "$(printf '\033[95mx')"; harmless verb
on_terminal items "--$(printf '\033[95mx')"; harmless option
on_terminal help "$(printf '\033[95mx')"; harmless help
on_terminal call "$(printf '\033[95mx')"; harmless call
on_terminal complete items "$(printf '\033[95mx')"; harmless complete

it "filters every field of the views of their own"
attached="\"tags\":[\"$json\",\"$json\"],\"bookmarks\":[\"$json\"],\"notes\":[{\"id\":\"$json\",\"on\":\"$json\",\"author\":\"$json\",\"text\":\"$json\\n$json\"}]"
cat >"$T/show" <<END
{"kind":"session","id":"$json","title":"$json","project":"$json","started":"$json","prompts":1,$attached}
{"kind":"message","id":"$json","role":"$json","at":"$json","model":"$json",$attached,"blocks":[{"kind":"text","text":"$json"},{"kind":"thinking","text":"$json"},{"kind":"$json"},{"kind":"tool_use","name":"$json","input":{"command":"$json"}},{"kind":"tool_use","name":"x","input":"$json"},{"kind":"tool_use","name":"x","input":{"$json":"$json"}},{"kind":"tool_result","text":"$json\n$json"},{"kind":"tool_result","error":true,"text":"$json"}]}
{"kind":"event","id":"$json","type":"$json","at":"$json","text":"$json",$attached}
{"kind":"file","id":"$json","type":"$json","title":"$json","path":"$json","at":"$json","text":"$json\n$json"}
{"kind":"$json"}
END
try show "$T/show"; try show "$T/show" --full
cat >"$T/search" <<END
{"id":"$json","session":"$json","title":"$json","project":"$json","at":"$json","in":"$json","tool":"$json","snippet":"$json","marks":[{"start":3,"length":5},{"start":100,"length":190},{"start":300,"length":1}]}
{"id":"$json","kind":"$json","title":"$json","project":"$json","path":"$json","at":"$json","in":"$json","snippet":"$json","marks":[{"start":3,"length":5}]}
END
try search "$T/search"
cat >"$T/todos" <<END
{"session":"$json","title":"$json","project":"$json","id":"$json","status":"$json","subject":"$json","priority":"$json","waits_for":["$json","$json"],"agent":"$json","vanished_at":"$json"}
END
try todos "$T/todos"
printf '{"id":"%s","updated":"%s","subject":"%s","what":"%s","text":"%s\\n%s"}\n' "$json" "$json" "$json" "$json" "$json" "$json" >"$T/note_list"
try note_list "$T/note_list"
cat >"$T/approvals" <<END
{"id":"$json","state":"$json","asked":"$json","name":"$json","tool":"$json","what":"$json","cwd":"$json","decision":"$json","by":"$json","by_name":"$json","void_reason":"$json","message":"$json","input":{"$json":"$json","n":["$json"]},"edited_input":{"$json":"$json"}}
{"id":"$json","state":"pending","asked":"$json","tool":"$json","what":"$json","input":"$json"}
END
for screen in 40x40 100x40 300x40; do try approvals "$T/approvals"; try approvals "$T/approvals" --approval x; done
printf '{"id":"%s","updated":"%s","current":true,"messages":3,"sessions":["%s","%s"],"here":[{"name":"%s"}],"title":"%s"}\n{"id":"%s","here":[{"session":"%s"}]}\n' \
	"$json" "$json" "$json" "$json" "$json" "$json" "$json" "$json" >"$T/branches"
for screen in 40x40 100x40 300x40; do try list_branches "$T/branches"; done
{
	printf '{"kind":"common","messages":3,"number":1,"id":"%s","at":"%s","text":"%s"}\n' "$json" "$json" "$json"
	printf '{"kind":"side","side":"a","session":"%s","title":"%s","id":"%s"}\n' "$json" "$json" "$json"
	printf '{"kind":"turn","side":"%s","id":"%s","number":2,"partial":true,"text":"%s"}\n' "$json" "$json" "$json"
	printf '{"kind":"file","path":"%s","a_changes":1,"a_added":2,"a_removed":3,"same":false}\n' "$json"
} >"$T/compare"
for screen in 40x40 100x40 300x40; do try compare "$T/compare"; done
printf '{"kind":"diff","path":"%s","text":"%s\\n%s"}\n' "$json" "$json" "$json" >"$T/compare"
on_terminal compare "$T/compare"; tabs; harmless compare
printf '{"text":"%s\\n%s"}\n' "$json" "$json" >"$T/plans"
on_terminal plans "$T/plans" --name x; tabs; harmless plans
printf '{"path":"%s","text":"%s\\n%s"}\n{"path":"%s"}\n' "$json" "$json" "$json" "$json" >"$T/files"
on_terminal files "$T/files"; tabs; harmless files
on_terminal files "$T/files" --color never; tabs; harmless files
{
	printf '{"section":"project","text":"%s","at":"%s","times":2}\n' "$json" "$json"
	for section in sessions files errors "$json" left_out; do
		printf '{"section":"%s","text":"%s","detail":"%s","session":"%s","at":"%s","times":2}\n' "$section" "$json" "$json" "$json" "$json"
	done
} >"$T/context"
try context "$T/context"
cat >"$T/sync" <<END
{"event":"failed","path":"$json","message":"$json"}
{"event":"added","path":"$json"}
{"event":"$json","path":"x"}
{"event":"summary","root":"$json","files":1,"unchanged":0,"new_bytes":3}
END
try sync "$T/sync"; try sync "$T/sync" -v
printf '{"ok":false,"problems":["%s"]}\n' "$json" >"$T/check"
try check "$T/check"

it "filters what a handle of another plugin resolves to, and handles themselves"
printf '{"%s":"%s","list":["%s",{"%s":"%s"}],"parts":[{"%s":"%s","text":"%s"}],"text":"%s\\n%s"}' \
	"$json" "$json" "$json" "$json" "$json" "$json" "$json" "$json" "$json" "$json" >"$T/data"
for screen in 40x40 100x40 300x40; do try resolve "fixture@1.0.0::data:$T/data"; code 0; done
try resolve "fixture@1.0.0::data:$T/data" --json; code 0
LC_ALL=C tr -d '\000' <"$T/hostile" >"$T/handle"
for front in '' 'p@1::' 'fixture@1.0.0::' 'fixture@1.0.0::data:' '{"plugin_id":"' "$(cat "$T/handle")@1::m:"; do
	on_terminal resolve "$front$(cat "$T/handle")"; harmless resolve
	on_terminal call hub.resolve_many "$front$(cat "$T/handle")"; harmless resolve_many
done
printf '{"handle":{"plugin_id":"%s","version":"%s","method":"%s","meta":["%s"]}}' "$json" "$json" "$json" "$json" >"$T/params"
on_terminal call hub.resolve "$(cat "$T/params")"; harmless resolve

it "keeps every item on one line in a pipe"
arbor items -n 3 "@$T/hostile"; check test "$(wc -l <"$T/out")" -eq 3; harmless_pipe() { tabs; harmless pipe; }; harmless_pipe
for view in show search todos context sync check note_list; do
	arbor $view "$T/$view"; tabs; harmless $view
	cp "$T/err" "$T/out"; harmless $view
done

it "filters names of files in every command of the program"
ARBOR=$arbor
S=$T/.claude/projects/p
mkdir -p "$S"
LC_ALL=C tr -d '\000/' <"$T/hostile" >"$T/name"
first=$(head -c 120 "$T/name"; echo x); first=${first%x}
second=$(tail -c +121 "$T/name" | head -c 200; echo x); second=${second%x}
for n in "$first" "$second"; do cp "$T/hostile" "$S/$n" || fail 'no such name here'; done
cp "$T/hostile" "$S/a.jsonl" && ln -s nowhere "$S/link$first"
try sync -v; try sync -v --force
try sources; try sources --json; try sources -0
on_terminal sources -v --no-pager; harmless sources; out_has '␛'
for n in "$first" "$second"; do
	try versions "projects/p/$n"
	on_terminal export "projects/p/$n"; tabs; harmless export
	arbor export "projects/p/$n"; code 0; same "$T/hostile" "$T/out"
	on_terminal export "projects/p/$n" --generation 9; code 1; harmless export
done
try dump --logical; try check; try check --json
try call storage.sources; try call memory.sync --source "$T/.claude"
rm "$S/$first"; try sync -v
on_terminal sync --source "$T/$second"; harmless sync
on_terminal sources --store "$T/$second"; harmless store
mkdir -p "$T/two/projects/p" && cp "$T/hostile" "$T/two/projects/p/$second" && arbor sync --source "$T/two"
on_terminal export "$second"; code 2; harmless ambiguous

it "filters what was said in every command that shows it"
id=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01
common="\"cwd\":\"$json\",\"gitBranch\":\"$json\",\"timestamp\":\"2026-01-01T00:00:01.000Z\""
mkdir -p "$T/said/projects/p"
cat >"$T/said/projects/p/$id.jsonl" <<END
{"type":"user","uuid":"a","parentUuid":null,$common,"message":{"role":"user","content":"walrus $json"}}
{"type":"attachment","uuid":"t","parentUuid":"a",$common,"attachment":{"type":"$json","prompt":"$json"}}
{"type":"assistant","uuid":"b","parentUuid":"t",$common,"message":{"id":"$json","model":"$json","usage":{"input_tokens":3,"output_tokens":4},"content":[{"type":"tool_use","id":"w","name":"Write","input":{"file_path":"/x/$json","content":"$json"}},{"type":"thinking","thinking":"walrus $json"},{"type":"text","text":"$json"},{"type":"tool_use","id":"$json","name":"$json","input":{"$json":"walrus $json"}}]}}
{"type":"user","uuid":"c$json","parentUuid":"b",$common,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"$json","is_error":true,"content":"walrus $json"}]}}
{"type":"user","uuid":"w","parentUuid":"b",$common,"toolUseResult":{"type":"create","filePath":"/x/$json","content":"$json","structuredPatch":[]},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"w","content":"ok"}]}}
{"type":"$json","uuid":"d","parentUuid":"b","content":"$json"}
{"type":"system","uuid":"s","parentUuid":"c$json","subtype":"$json","content":"walrus $json"}
{"type":"progress","uuid":"e","parentUuid":"b","data":{"type":"agent_progress","agentId":"$json","message":{"type":"user","uuid":"f","message":{"content":"$json"}}}}
{"type":"custom-title","customTitle":"$json"}
{"type":"tag","tag":"$json"}
{"type":"mode","mode":"$json"}
{"type":"permission-mode","permissionMode":"$json"}
{"type":"pr-link","prNumber":7,"prUrl":"$json","prRepository":"$json"}
{"type":"tomorrow","cwd":"/elsewhere/$json","gitBranch":"other $json","$json":"$json","list":["$json",{"text":"$json"}]}
{"type":"user","uuid":"g","parentUuid":"b",$common,"message":{"role":"user","content":"another $json"}}
{"type":"user","uuid":"g","parentUuid":"b",$common,"message":{"role":"user","content":"aside $json"}}
END
printf '{"display":"%s","timestamp":1767225601000,"project":"%s","sessionId":"%s"}\n' "$json" "$json" $id >"$T/said/history.jsonl"
printf '{"display":"walrus %s","project":"%s"}\n' "$json" "$json" >>"$T/said/history.jsonl"
mkdir -p "$T/said/plans" "$T/said/todos" "$T/said/projects/p/memory" && cp "$T/hostile" "$T/said/plans/walrus.md"
{ printf 'walrus '; tr -d '\000' <"$T/hostile"; } >"$T/said/projects/p/memory/$first"
printf '[{"content":"walrus %s","status":"pending","priority":"%s","id":"%s"}]\n' "$json" "$json" "$json" >"$T/said/todos/$id-agent-$id.json"
try sync --source "$T/said"
text=$(printf '%s' "$json" | sed 's/\\u0000//') # a note is a text
printf '{"on":"%s","text":"walrus %s"}' $id "$text" >"$T/note"; try call arbor.note_set "$(cat "$T/note")"; code 0
try note $id "$(printf 'walrus \033[95m\302\233\342\200\256')"; code 0
try note @ "$(printf 'x\033[95m')" --delete; try note "$(printf '\033[95m')" x; try bookmark $id "$(printf 'a\033[95m')"; code 2
try bookmark $id walrus; code 0; try bookmark "$(printf '\033[95m')" --delete; try show "@$(printf '\033[95m')"; code 1
answer=$("$arbor" show $id --json | grep '"role":"assistant"' | grep -o '"kind":"message","id":"[^"]*"' | cut -d '"' -f 8 | tail -n 1)
try tag $id walrus; code 0; try tag $id "$(printf 'a\302\233')"; code 2; try tags "$(printf '\033[95m')"
for json_too in '' --json; do
	try notes $json_too; code 0; try notes $id $json_too; try bookmarks $json_too; code 0; try tags $json_too; code 0
	try tags walrus $json_too; try search in:note $json_too; code 0; try list --tag walrus $json_too; code 0
	try list $json_too; try search walrus $json_too; try dump $json_too; try purge $id --dry-run $json_too
	try search walrus in:other,prompt -n 0 $json_too; code 0; out_has memory; out_has history; out_has todo
	for f in history.jsonl "projects/p/memory/$first" todos/$id-agent-$id.json; do
		on_terminal show "$f" $json_too; code 0; tabs; harmless show
	done
	for verb in "agents $id" "files $id" "files $id --diff" projects usage "usage model" "usage session" "usage project" "usage agent --each" stats "related $id" "related $id --hops 3" "context p" "context p --format plain" history plans todos "todos $id"; do
		# shellcheck disable=SC2086 # words
		try $verb $json_too
	done
	on_terminal plans walrus $json_too; tabs; harmless plans
	for t in sessions messages tool_uses file_modifications nodes notes bookmarks tags; do try sql "SELECT * FROM $t" $json_too; done
	for verb in "show" "show --full" "show --all" "log" "log --full" "log --all" "log --as-sent" "tree" \
		"tree --messages --agents" "branches" "diff $id" "merge $answer" "merge --as prompt $answer" \
		"call claudecode.get_conversation" "call claudecode.render_context"; do
		# shellcheck disable=SC2086 # words
		try $verb $id $json_too; code 0
	done
	try log $id..$id $json_too; try branches "$json" $json_too; try diff "$json" "$json" $json_too; try log "$json..$json" $json_too
	"$arbor" show --all $id --json | grep -o '"handle":"[^"\\]*"' | cut -d '"' -f 4 | sort -u >"$T/handles"
	check test "$(wc -l <"$T/handles")" -gt 20
	while read -r handle; do try resolve "$handle" $json_too; code 0; done <"$T/handles"
	try log e $json_too; try show f $json_too; try tree "$json" $json_too; try log "$json" $json_too
done
evil=$(printf '\033[95mx\033]0;t\007\302\233\342\200\256')
arbor call mustache.set evil@1 thing --template "$evil{{{a}}}"; arbor call mustache.set claudecode message evil --template "$evil{{#blocks}}{{{text}}}{{/blocks}}"
while read -r handle; do
	for t in default compact markdown evil "$evil"; do on_terminal render "$handle" -t "$t"; tabs; harmless render; done
	try render "$handle" --json
done <"$T/handles"
try templates; out_has evil; try templates --json; try templates "$evil"
for t in "$evil" "{{$evil}}" "{{#$evil}}" "{{>$evil}}"; do
	try call mustache.test --template "$t" --handle $id; try call mustache.test --template "$t" --handle $id --strict
done
try call mustache.get evil@1 thing; try call mustache.get "$evil" thing; try call mustache.get claudecode "$evil" "$evil"
try call mustache.set claudecode "$evil" --template x; try call mustache.render evil@1 thing --value "{\"a\":\"$json\"}"
try mcp; try mcp --session "$(printf '\033[95m')"; try rpc; try rpc --scopes "$(tr -d '\000' <"$T/hostile")"
for words in '' walrus '--print resume'; do
	# shellcheck disable=SC2086 # words
	on_terminal pick --plain $words; code 0; tabs; harmless pick
done
for keys in '' walrus; do # any other sequence, or one outside of the screen, is complained about
	for size in 80x24 200x50; do
		TERM=xterm "$BUILD/tool/screen" -k "$keys" -p seen -k "$(printf '\t')" -k "$(printf '\033')" $size "$arbor" pick \
			>"$T/out" 2>"$T/err"
		out_lacks '!!'; out_has '␐'; harmless pick
	done
done
for method in memory.tree memory.log memory.show; do try call $method --id $id; code 0; done

it "filters what was put into trees in every method that shows it"
tree=7ee0a000-0000-4000-8000-000000000000 node=a0de0100-0000-4000-8000-000000000000
arbor call arbor.tree_create "{\"id\":\"$tree\",\"metadata\":{\"$json\":\"$json\"}}"; code 0
arbor call arbor.node_create_text "{\"tree\":\"$tree\",\"id\":\"$node\",\"role\":\"user\",\"content\":\"$json\",\"metadata\":\"$json\"}"; code 0
arbor call arbor.node_create_external_ephemeral "{\"tree\":\"$tree\",\"parent\":\"$node\",\"handle\":{\"plugin_id\":\"$json\",\"version\":\"1\",\"method\":\"$json\",\"meta\":[\"$json\"]}}"; code 0
for method in tree_get tree_get_skeleton tree_render context_list_leaves tree_refs; do
	on_terminal call arbor.$method $tree; code 0; tabs; harmless $method
done
for method in node_get node_get_children node_get_path context_get_path node_refs; do try call arbor.$method $node; code 0; done
for method in tree_list node_list_scheduled; do try call arbor.$method; code 0; done
try keep $node; code 0; try keep "$(printf '\033[95m')"; try gc; code 0; try gc --dry-run --json; code 0
try call arbor.tree_claim "{\"tree\":\"$tree\",\"owner\":\"$json\"}"; code 2
try call arbor.node_get "{\"node\":\"$json\"}"; code 1
try sql "SELECT * FROM trees"; try sql "SELECT * FROM nodes WHERE id = '$node'"

it "filters what tools that want to run say"
printf '{"tool_name":"%s","input":{"command":"%s","%s":"%s"},"tool_use_id":"%s","agent_id":"%s","suggestions":["%s"],"expires":1}' \
	"$(printf %s "$json" | cut -c 1-60)" "$json" "$json" "$json" "$text" "$text" "$json" >"$T/params"
try call loopback.permit "$(cat "$T/params")"; code 0
try rule "$(printf 'Bash(\033[95m\302\233)')" deny -m "$(printf '\033[95m\342\200\256')"; code 0
try rule "$(printf '\033[95m')" deny; code 2; try rule --delete "$(printf '\033[95m')"; code 2
for json_too in '' --json; do
	try rules $json_too; code 0; try approvals --all $json_too; code 0
	for id in $("$arbor" approvals --all -0 | tr '\0' '\n'); do try approvals "$id" $json_too; code 0; try answer "$id" allow $json_too; code 10; done
	try approvals "$(printf '\033[95m')" $json_too; code 2; try answer "$(printf '\033[95m')" deny $json_too; code 2
done

it "filters what agents say and do"
export ARBOR_CLAUDE="$PWD/test/harness/claude.py"
cat >"$T/evil.jsonl" <<END
{"type":"system","subtype":"init","session_id":"11111111-1111-4111-8111-111111111111","model":"$json","cwd":"$json"}
{"type":"user","message":{"role":"user","content":"$json"},"isReplay":true,"uuid":"$json"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"$json","model":"$json"}}}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"$json"}}}
{"type":"stream_event","event":{"type":"content_block_stop","index":0}}
{"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"text"}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"$json"}}}
{"type":"stream_event","event":{"type":"content_block_stop","index":1}}
{"type":"stream_event","event":{"type":"message_stop"}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","id":"$json","name":"$json","input":{"command":"$json"}},{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"$json"}}]},"uuid":"$json"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"$json","content":"$json"},{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"$json"}]}]}}
{"type":"system","subtype":"api_retry","error":"$json"}
{"type":"$json","subtype":"$json"}
{"type":"result","subtype":"$json","is_error":true,"result":"$json","usage":{"input_tokens":"$json"},"total_cost_usd":"$json"}
END
"$arbor" new evil --working-dir "$T" >/dev/null 2>&1; _text=$(printf %s "$json" | sed 's/\\u0000//')
"$arbor" call claudecode.chat "{\"session\":\"evil\",\"prompt\":\"replay $T/evil.jsonl\"}" >/dev/null 2>&1
for screen in 40x40 100x40 300x40; do
	for json_too in '' --json; do try attach evil $json_too; try poll evil -n 1000 $json_too; code 0; try streams $json_too; code 0; done
done
on_terminal attach evil; out_has '␛'
try chats; code 0; try chats --json; code 0
for verb in chat attach continue interrupt stop poll queue new adopt model mode rename delete fork checkout resume; do
	try $verb "$(printf '\033[95m\302\233')" "$(printf '\033[95m')"; check test "$rc" != 0
done
try continue evil "stderr $(printf '\033[95m\302\233\342\200\256')"; code 3
for tool in "tool $_text" "question $_text" "plan $_text"; do
	ARBOR_APPROVALS_EXPIRE=2 "$arbor" call claudecode.chat_async "{\"session\":\"evil\",\"prompt\":\"$tool\"}" >/dev/null 2>&1
	CLAUDECODE=1 on_terminal attach evil; harmless attach; out_has 'arbor answer'
done
unset ARBOR_CLAUDE

it "filters what was said where a fork goes on"
mkdir -p "$T/forked/projects/p"
cat >"$T/forked/projects/p/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4eff.jsonl" <<END
{"type":"assistant","uuid":"00000000-0000-4000-8000-00000000f001","parentUuid":null,"timestamp":"2026-01-02T03:04:05.000Z","message":{"id":"m","role":"assistant","model":"$json","content":[{"type":"text","text":"$json"}]}}
{"type":"user","uuid":"00000000-0000-4000-8000-00000000f002","parentUuid":"00000000-0000-4000-8000-00000000f001","timestamp":"2026-01-02T03:04:06.000Z","promptSource":"typed","message":{"role":"user","content":"$json"}}
END
"$arbor" sync -q --source "$T/forked" >/dev/null 2>&1
at=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4eff@00000000-0000-4000-8000-00000000f002
for json_too in '' --json; do
	try fork $at --cwd "$T" $json_too; code 0
	ARBOR_CLAUDE=/bin/true try resume $at --cwd "$T" $json_too; code 0
done
"$arbor" fork $at forked-evil --cwd "$T" >/dev/null 2>&1; try checkout forked-evil $at; code 0; out_has '␛'

it "filters what other hubs say, of themselves and of what they do"
mkdir -p "$T/.config/arbor"
cat >"$T/evil" <<'END'
#!/bin/sh
# A hub that says hostile things wherever it can say something.
cat "$HOME/hostile" >&2
json=$(cat "$HOME/json")
while read -r l; do
	id=${l#*'"id":'}; id=${id%%,*}
	case $l in
	*hub.info*) result="{\"name\":\"$json\",\"version\":\"$json\",\"plugins\":[{\"name\":\"evil\",\"version\":\"1.0.0\"}]}" ;;
	*hub.schema*)
		printf '{"jsonrpc":"2.0","method":"$/item","params":{"id":%s,"item":{"name":"%s","schema":{"summary":"%s","params":{"properties":{"%s":{"description":"%s"}}}}}}}\n' "$id" "$json" "$json" "$json" "$json"
		result=1 ;;
	*hub.resolve*) result="{\"kind\":\"$json\",\"data\":{\"$json\":\"$json\"}}" ;;
	*note*)
		printf '{"jsonrpc":"2.0","method":"$/note","params":{"id":%s,"text":"%s"}}\n' "$id" "$json"
		printf '{"jsonrpc":"2.0","method":"$/progress","params":{"id":%s,"what":"%s","done":1,"total":2}}\n' "$id" "$json"
		result="{\"$json\":\"$json\"}" ;;
	*error*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"%s","data":{"status":"%s"}}}\n' "$id" "$json" "$json"; continue ;;
	*garbage*) cat "$HOME/hostile"; echo; result=0 ;;
	*) exit 3 ;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
END
chmod +x "$T/evil"; printf %s "$json" >"$T/json"
printf '{ "hubs": { "evil": { "command": ["~/evil"] } } }\n' >"$T/.config/arbor/settings.json"
for json_too in '' --json; do try hubs $json_too; code 0; done
for what in note error garbage die; do try call evil.$what; done
for method in hub.methods hub.schema hub.hash; do try call $method; code 0; done
try resolve evil@1.0.0::x:y; code 0
for what in note "$json"; do try help "evil.$what"; try call "evil.$what" --help; done
on_terminal complete call evil.; tabs; harmless complete
rm "$T/.config/arbor/settings.json"

it "has tried every command that shows what was said"
"$arbor" complete '' | cut -f 1 | sort >"$T/verbs"
printf '%s\n' adopt attach branches diff merge chat chats checkout continue delete fork resume interrupt mode model new poll queue rename stop streams note notes bookmark bookmarks tag tags agents answer approvals rule rules call check completion dump export files gc help history hubs keep list log mcp pick plans projects purge rebuild render resolve rpc search show templates \
	context related sources sql stats sync todos tree usage versions | sort >"$T/tried"
same "$T/verbs" "$T/tried"
the_end
