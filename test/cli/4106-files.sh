#!/bin/sh
# The files a conversation changed, and any of them as it was at any message: from a small conversation that is
# written here, the demo, and the captures of the real client.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
fixtures=../shared/fixtures/claude-2.1.197
S=$T/claude
sid=11111111-2222-4333-8444-555555555555
dir=$S/projects/-w
mkdir -p "$dir" "$S/file-history/$sid"

# ---- A conversation in lines -------------------------------------------------------------------
n=0
uuid() { printf 'aaaaaaaa-0000-4000-8000-%012d' "$1"; }
line() { # PARENT REST: a line with the next uuid, hanging on line PARENT (0 = none)
	n=$((n + 1))
	parent=null
	[ "$1" = 0 ] || parent="\"$(uuid "$1")\""
	printf '{"parentUuid":%s,"uuid":"%s","sessionId":"%s","cwd":"/w","isSidechain":false,"timestamp":"2026-01-01T00:00:%02dZ",%s}\n' \
		"$parent" "$(uuid $n)" "$sid" "$n" "$2" >>"$dir/$sid.jsonl"
}
prompt() { line "$1" "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"$2\"}"; }
call() { # PARENT TOOL INPUT
	line "$1" "\"type\":\"assistant\",\"message\":{\"id\":\"m$n\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t$((n + 1))\",\"name\":\"$2\",\"input\":$3}]}"
}
result() { # RESULT: of the call above
	line $n "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t$n\",\"content\":\"ok\"}]}${1:+,\"toolUseResult\":$1}"
}
say() { line "$1" "\"type\":\"assistant\",\"message\":{\"id\":\"m$n\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}"; }
snapshot() { # PROMPT FILES
	printf '{"type":"file-history-snapshot","messageId":"%s","snapshot":{"messageId":"%s","trackedFileBackups":%s},"isSnapshotUpdate":false}\n' \
		"$(uuid "$1")" "$(uuid "$1")" "$2" >>"$dir/$sid.jsonl"
}
prompt 0 one
call 1 Write '{}'
result '{"type":"create","filePath":"/w/a.txt","content":"one\ntwo\nthree\n","originalFile":null}'
call 3 Edit '{}'
result '{"filePath":"/w/a.txt","oldString":"two","newString":"2","originalFile":null,"replaceAll":false}'
say 5
prompt 6 two
snapshot 7 '{"a.txt":{"backupFileName":"h@v2"},"gone.txt":{"backupFileName":null},"b.txt":{"backupFileName":"b@v1"},"c.txt":{"backupFileName":"lost@v1"}}'
printf 'one\n2\nthree\nfour\n' >"$S/file-history/$sid/h@v2"
printf 'b\r\n\377\n' >"$S/file-history/$sid/b@v1"
call 7 Edit '{}'
result '{"filePath":"/w/a.txt","oldString":"four","newString":"4","replaceAll":false}'
call 9 Edit '{"file_path":"/w/a.txt","old_string":"one","new_string":"1"}'
result
call 11 Edit '{}'
result '{"filePath":"/w/c.txt","oldString":"x","newString":"y"}'
call 13 Write '{}'
result '"Error: EACCES"'
say 15
# Another way from the first answer.
prompt 6 'two again'
call 17 Edit '{}'
result '{"filePath":"/w/a.txt","oldString":"three","newString":"3"}'
say 19
arbor sync --source "$S"

it "lists what the way to the head has changed, and not what other branches have"
arbor files $sid --json; code 0
out_has '"path":"/w/a.txt"'; out_lacks c.txt; out_lacks gone.txt
out_has '"changes":3,"added":5,"removed":2,"created":true,"exact":true'
arbor files $sid a.txt --at $sid; code 0; out_is "$(printf 'one\n2\n3')"
arbor files $sid@"$(uuid 16)" --json; out_has '"path":"/w/c.txt"'
check test "$(grep -c . "$T/out")" = 2

it "lists the changes of one file, by any name that can mean it"
for name in a.txt ./a.txt /w/a.txt; do
	arbor files $sid@"$(uuid 16)" $name; code 0
	check test "$(cut -f 3,4,7,8 "$T/out" | tr '\t\n' ' ;')" = 'create Write 3 0;edit Edit 1 1;edit Edit 1 1;edit Edit 1 1;'
done
arbor files $sid nothing.txt; code 1; err_has 'nothing tells of this file'

it "shows the file at every message, after all calls of an answer"
# shellcheck disable=SC2059 # the format is the content
at() { arbor files $sid a.txt --at "$(uuid "$1")"; code 0; printf "$2" | cmp -s - "$T/out" || { fail "at $1"; show "$T/out"; }; }
at 2 'one\ntwo\nthree\n'
at 3 'one\ntwo\nthree\n'
at 4 'one\n2\nthree\n'
at 6 'one\n2\nthree\n'

it "takes the client's copies for what happened between prompts"
at 7 'one\n2\nthree\nfour\n'
at 9 'one\n2\nthree\n4\n'
arbor files $sid@"$(uuid 16)" a.txt --json; out_has '"outside":true'
at 17 'one\n2\nthree\n'

it "reads from the call what its result does not tell"
at 11 '1\n2\nthree\n4\n'

it "gives copies back byte for byte, and other bytes as digits in JSON"
arbor files $sid b.txt --at "$(uuid 8)"; code 0; same "$S/file-history/$sid/b@v1" "$T/out"
arbor files $sid b.txt --at "$(uuid 8)" --json; out_has '"text_hex":"620d0aff0a"'

it "says what was not there, and refuses what cannot be known"
arbor files $sid a.txt --at "$(uuid 1)"; code 1; err_has 'it did not exist then'
arbor files $sid gone.txt --at "$(uuid 8)"; code 1; err_has 'it did not exist then'
arbor files $sid c.txt --at "$(uuid 13)"; code 1; err_has 'is not known'; out_is ''
arbor files $sid@"$(uuid 16)" --diff; code 3; out_has '+++ b/a.txt'; err_has 'c.txt'

it "prints differences that patch takes, of all and of one message"
arbor files $sid a.txt --diff; code 0
out_is "$(printf -- '--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,3 @@\n+one\n+2\n+3\n')"
arbor files $sid a.txt --diff --at "$(uuid 10)"; code 0
out_is "$(printf -- '--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n-one\n+1\n 2\n three\n 4\n')"
arbor files $sid a.txt --diff --at "$(uuid 6)"; code 1; out_is ''
if command -v patch >/dev/null; then
	mkdir -p "$T/w" && printf 'one\n2\nthree\n4\n' >"$T/w/a.txt"
	"$ARBOR" files $sid a.txt --diff --at "$(uuid 10)" | (cd "$T/w" && patch -s -p1) || fail "patch refuses it"
	check test "$(cat "$T/w/a.txt")" = "$(printf '1\n2\nthree\n4')"
fi

it "opens nothing by the paths that are told"
hostile=$T/hostile; mkdir -p "$hostile/projects/-w"
secret=$T/secret; echo secret >"$secret"
sed "s|/w/a.txt|$secret|g; s|h@v2|../../../../../../../$secret|g; s|lost@v1|..|g" "$dir/$sid.jsonl" >"$hostile/projects/-w/$sid.jsonl"
printf '%s\n' '{"type":"user","uuid":"aaaaaaaa-0000-4000-8000-000000000099","parentUuid":"aaaaaaaa-0000-4000-8000-000000000020","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},"toolUseResult":{"type":"create","filePath":"/w/x\n+++ b/etc/passwd\"\\\u001b[95m","content":"\ud800\u0000x"}}' >>"$hostile/projects/-w/$sid.jsonl"
arbor sync --source "$hostile" --store "$T/hostile.db"
arbor files --store "$T/hostile.db" $sid --diff; code 0; out_lacks secret.; out_has '+++ "b/x\012+++ b/etc/passwd\"\\\033[95m"'
check test "$(cat "$secret")" = secret
screen=100x40; on_terminal files --store "$T/hostile.db" $sid --diff --color never; ! grep -q "$(printf '\033')" "$T/out" || fail "an escape"

it "finds its way in circles"
mkdir -p "$T/circle/projects/-w"
sed 's/"parentUuid":null/"parentUuid":"aaaaaaaa-0000-4000-8000-000000000006"/' "$dir/$sid.jsonl" >"$T/circle/projects/-w/$sid.jsonl"
arbor sync --source "$T/circle" --store "$T/circle.db"; arbor files --store "$T/circle.db" $sid; code 0; out_has a.txt

it "shows the demo's"
arbor sync --source demo --store "$T/demo.db"
arbor files --store "$T/demo.db" 2396d03e --json; code 0; out_has '"changes":3'; out_has '"exact":true'
"$ARBOR" files --store "$T/demo.db" 2396d03e money.ts --json >"$T/changes"
check test "$(grep -c '"exact":true' "$T/changes")" = 3
screen=100x40; on_terminal files --store "$T/demo.db" 2396d03e; out_has 'src/money.ts'; out_has CHANGES

it "shows files of the captures as the client left them"
if [ ! -d $fixtures ]; then
	skip "there is no $fixtures; NOT CHECKED"
else
	for name in a05-write-edit b07-checkpoint b13-outside; do
		arbor sync --source $fixtures/$name/dot-claude --store "$T/$name.db"
	done
	arbor files --store "$T/a05-write-edit.db" @ made.txt --at @; code 0; out_is "$(printf 'line 1\nline two')"
	arbor files --store "$T/a05-write-edit.db" @ seed.txt --at @; code 0; out_is "$(printf 'seed line A\nseed line B')"
	arbor files --store "$T/b07-checkpoint.db" @ made.txt --at @; out_is "$(printf 'line one\nline two')"
	arbor files --store "$T/b07-checkpoint.db" @ made.txt --at 0feb61b2-d3c4-4148-931b-bd6b40ba8100; out_is "$(printf 'line 1\nline two')"
	same $fixtures/b07-checkpoint/dot-claude/file-history/*/565b0732d5934015@v2 "$T/out"
	arbor files --store "$T/b07-checkpoint.db" @ made.txt; check test "$(grep -c . "$T/out")" = 3
	arbor files --store "$T/b13-outside.db" @; out_is ''; err_has 'no file was changed'
fi
the_end
