#!/bin/sh
# What is told about handles that other hubs have, or do not have.
#
#     here ─┬─ far ─┬─ notes   a program (examples/notes)
#           │       └─ w       a program that reads an older major, too
#           ├─ b               a program that reads none
#           └─ w
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
notes=$PWD/examples/notes/notes.py
cd "$T" || exit 1

here() { ARBOR_HOME="$T/here" XDG_CONFIG_HOME="$T/conf/here" "$ARBOR" "$@" >"$T/out" 2>"$T/err" </dev/null; rc=$?; }
settings() { mkdir -p "$T/conf/$1/arbor"; cat >"$T/conf/$1/arbor/settings.json"; } # WHOSE
arbor_at() { # WHOSE: a hub in the settings
	printf '{ "command": ["%s", "rpc", "--stdio", "--scopes", "read,write"], "env": { "ARBOR_HOME": "%s", "XDG_CONFIG_HOME": "%s" } }' "$ARBOR" "$T/$1" "$T/conf/$1"
}
field() { sed -n "s/.*\"$1\": *\"\\([^\"]*\\)\".*/\\1/p" "$T/out" | head -n 1; } # of the first line of JSON that has it

# w PLUGIN: answers everything it is asked, and says what it was asked for.
cat >"$T/w" <<'END_W'
#!/usr/bin/env python3
import json, sys, time
plugin = json.loads(sys.argv[1])
for line in sys.stdin:
    r = json.loads(line)
    if "id" not in r:
        continue
    result = {}
    if r["method"] == "hub.info":
        result = {"protocol": 1, "name": "w", "plugins": [plugin] if plugin else []}
    elif r["method"] == "hub.resolve":
        for i in range(5 if ":slow" in r["params"]["handle"] else 0):
            time.sleep(0.4)
            print(json.dumps({"jsonrpc": "2.0", "method": "$/progress", "params": {"id": r["id"], "done": i}}), flush=True)
        result = {"data": {"asked": r["params"]["handle"]}}
    print(json.dumps({"jsonrpc": "2.0", "id": r["id"], "result": result}), flush=True)
END_W
chmod +x "$T/w"
w() { printf '{ "command": ["~/w", "%s"], "timeout_ms": %s }' "$(printf %s "$1" | sed 's/"/\\"/g')" "${2:-30000}"; }
printf '{ "hubs": { "far": %s, "b": %s, "w": %s, "any": %s } }\n' "$(arbor_at far)" "$(w '{"name":"b","version":"2.1.0"}')" \
	"$(w '{"name":"w","version":"2.0.0","majors":[1]}' 1500)" "$(w null)" | settings here
printf '{ "hubs": { "notes": { "command": ["%s"], "env": { "NOTES_FILE": "%s" } } } }\n' "$notes" "$T/notes" | settings far
here call far.notes.add --text 'a note'; note=$(field id)

it "asks nobody for a version it does not read, also with a path in front"
here resolve "far.notes.notes@1.0.0::note:$note" --json; code 0; out_has '"by":"far.notes"'
here resolve "far.notes.notes@2.0.0::note:$note"; code 1; err_has 'it is of notes 2.0.0, and notes has another version'
here resolve b.b@2.0.0::m:2; code 0
here resolve b.b@1.0.0::m:2; code 1; err_has 'it is of b 1.0.0, and b has another version'
here resolve w.w@1.0.0::m:2; code 0
here resolve w.b@2.0.0::m:2; code 1; err_has "handle: w has no plugin 'b'"
here resolve any.whatever@3.0.0::m:2; code 0 # it does not say what it has
here call hub.resolve_many "far.notes.notes@2.0.0::note:$note" b.b@1.0.0::m:2 w.b@2.0.0::m:2
check test "$(grep -c '"error":{"status":"unsupported"' "$T/out")" -eq 3

it "tells what is wrong in the words of who knows the plugin, however far away"
here resolve notes@2.0.0::note:x; code 1; err_has 'far: handle: it is of notes 2.0.0, and notes has another version'
here resolve "notes@1.0.0::nope:$note"; code 1; err_has "far: notes: notes are the only handles here, not 'nope'"
here resolve nosuch@1.0.0::nope:1; code 1; err_has "handle: there is no plugin 'nosuch' here"
here resolve arbor@1.0.0::nope:1; code 1; err_has "handle: arbor has no 'nope'"

it "waits once for a hub that is silent, however many plugins it is asked for"
cat >"$T/silent" <<'END_S'
#!/bin/sh
echo started >>"$HOME/starts"
exec sleep 1000
END_S
chmod +x "$T/silent"
printf '{ "hubs": { "silent": { "command": ["~/silent"], "timeout_ms": 500 } } }\n' | settings mute
mute() { rm -f "$T/starts"; ARBOR_HOME="$T/here" XDG_CONFIG_HOME="$T/conf/mute" "$ARBOR" "$@" >"$T/out" 2>"$T/err" </dev/null; rc=$?; }
starts() { wc -l <"$T/starts"; }
mute call arbor.tree_create; tree=$(field id)
for p in p1 p2 p3 p4 p5; do mute call arbor.node_create_external "$tree" --handle "$p@1.0.0::x:1"; code 0; done
mute call arbor.tree_render "$tree"; code 0; check test "$(grep -c '(no answer)$' "$T/out")" -eq 5; check test "$(starts)" -eq 1
mute show "$tree"; code 0; check test "$(starts)" -eq 1
mute tree "$tree"; code 0; check test "$(starts)" -eq 1
mute call hub.resolve_many p1@1.0.0::x:1 p2@1.0.0::x:1 silent.p3@1.0.0::x:1 silent.behind.p3@1.0.0::x:1; check test "$(starts)" -eq 1
check test "$(grep -c '"status":"unreachable"' "$T/out")" -eq 4

it "waits once for a hub behind another, and still asks that one for its own"
printf '{ "hubs": { "near": %s } }\n' "$(arbor_at mute | sed 's/{ /{ "timeout_ms": 2000, /')" | settings front
sed -i 's/500/10000/' "$T/conf/mute/arbor/settings.json"
front() { rm -f "$T/starts"; ARBOR_HOME="$T/none" XDG_CONFIG_HOME="$T/conf/front" "$ARBOR" "$@" >"$T/out" 2>"$T/err" </dev/null; rc=$?; }
ARBOR_HOME="$T/mute" XDG_CONFIG_HOME="$T/conf/none" "$ARBOR" call arbor.tree_create >"$T/out"; tree=$(field id)
front call hub.resolve_many p1@1.0.0::x:1 p2@1.0.0::x:1 "arbor@1.0.0::tree:$tree" p3@1.0.0::x:1
check test "$(grep -c '"status":"unreachable"' "$T/out")" -eq 3; out_has '"by":"near"'; check test "$(starts)" -eq 1

it "starts all hubs when one is slow, and answers in the order of the settings"
cat >"$T/shy" <<'END_S'
#!/bin/sh
# Says who it is when all three of it are there.
: >"$HOME/here-$1"
while ! [ -e "$HOME/here-1" ] || ! [ -e "$HOME/here-2" ] || ! [ -e "$HOME/here-3" ]; do sleep 0.05; done
exec "$HOME/w" '{"name":"shy","version":"1.0.0"}'
END_S
chmod +x "$T/shy"
shy() { printf '"s%s": { "command": ["~/shy", "%s"], "timeout_ms": 10000 }' "$1" "$1"; }
printf '{ "hubs": { %s, %s, %s } }\n' "$(shy 1)" "$(shy 2)" "$(shy 3)" | settings shy
shyly() { rm -f "$T"/here-?; ARBOR_HOME="$T/here" XDG_CONFIG_HOME="$T/conf/shy" "$ARBOR" "$@" >"$T/out" 2>"$T/err" </dev/null; rc=$?; }
shyly hubs; code 0; check test "$(grep -c '	ready	' "$T/out")" -eq 3
shyly call hub.methods; code 0; err_lacks 'gave no answer'
shyly call hub.hash; code 0; out_lacks '"error"'
shyly resolve shy@1.0.0::x:1 --json; code 0; out_has '"by":"s1"'

it "says which version answered, and names the plugin by its name"
here resolve w@1.4.0::m:1 --json; code 0; out_has '"version":"2.0.0"'; out_has '"handle":"w@1.4.0::m:1"'
w1=$(field plugin_id)
here resolve "$w1@1.4.0::m:1" --json; code 0
out_has '"plugin":"w"'; out_has '"handle":"w@1.4.0::m:1"'; out_has "\"plugin_id\":\"$w1\""; out_has '"version":"2.0.0"'
here resolve "{\"plugin_id\":\"$w1\",\"version\":\"1.4.0\",\"method\":\"m\",\"meta\":[\"1\"]}" --json; out_has '"handle":"w@1.4.0::m:1"'; out_has '"plugin":"w"'
here resolve "$w1@2.0.0::m:1"; code 9; err_has 'the plugin is w of another major than its version 2.0.0 says'

it "gives a program a handle as text, whatever form it has"
asked() { out_has "\"data\":{\"asked\": \"$1\"}"; }
here resolve "$w1@1.4.0::m:1%3A" --json; asked 'w@1.4.0::m:1%3A'
here resolve "{\"plugin_id\":\"$w1\",\"version\":\"1.4.0\",\"method\":\"m\",\"meta\":[\"1:\",\"\"]}" --json; asked 'w@1.4.0::m:1%3A:'
here resolve '{"source":"w","source_version":"2.0.0","identifier":"m-7:user:Ann"}' --json; asked 'w@2.0.0::m-7:user:Ann'
out_has '"handle":"{\"source\":\"w\"' # kept as it was given

it "lets a program take long for a handle, if it says so"
here resolve w@2.0.0::slow:1 --json; code 0; asked w@2.0.0::slow:1
the_end
