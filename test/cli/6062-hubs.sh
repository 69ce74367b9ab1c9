#!/bin/sh
# Other hubs: their methods by a path, their handles, and everything that can go wrong with
# them.
#
#     here ─┬─ notes          a program (examples/notes)
#           ├─ near ─┬─ notes          another Arbor, with a store of its own
#           │        ├─ deep ─┬─ notes          a third one
#           │        │        └─ back           the first one again: a loop
#           │        └─ odd            a program that does what it should not
#           └─ odd
#
# Whatever is started by one of these has HUB_MARK in its environment.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
mark=hub-mark-$$
notes=$PWD/examples/notes/notes.py
demo=$PWD/demo
cd "$T" || exit 1

alive() { grep -lzsx "HUB_MARK=$mark" /proc/[0-9]*/environ 2>/dev/null | wc -l; }
nobody_is_left() {
	n=0; while [ "$(alive)" -gt 0 ] && [ $n -lt 200 ]; do sleep 0.05; n=$((n + 1)); done
	check test "$(alive)" -eq 0
}
here() { # as the first hub
	HUB_MARK=$mark ARBOR_HOME="$T/here" XDG_CONFIG_HOME="$T/conf/here" "$ARBOR" "$@" >"$T/out" 2>"$T/err" </dev/null
	rc=$?
}
settings() { mkdir -p "$T/conf/$1/arbor"; cat >"$T/conf/$1/arbor/settings.json"; } # WHOSE
arbor_at() { # WHOSE SCOPES [TIMEOUT]: a hub in the settings
	printf '{ "command": ["%s", "rpc", "--stdio", "--scopes", "%s"], "timeout_ms": %s, "env": { "HUB_MARK": "%s", "ARBOR_HOME": "%s", "XDG_CONFIG_HOME": "%s" } }' \
		"$ARBOR" "$2" "${3:-30000}" "$mark" "$T/$1" "$T/conf/$1"
}
notes_in() { printf '{ "command": ["%s"], "timeout_ms": 30000, "env": { "HUB_MARK": "%s", "NOTES_FILE": "%s" } }' "$notes" "$mark" "$T/notes-$1"; }
odd_for() { printf '{ "command": ["~/odd"], "timeout_ms": %s, "env": { "HUB_MARK": "%s", "HANDED_ON": true, "NOT_SET": true, "SET": "to this" } }' "$1" "$mark"; }
field() { sed -n "s/.*\"$1\": *\"\\([^\"]*\\)\".*/\\1/p" "$T/out" | head -n 1; } # of the first line of JSON that has it

cat >"$T/odd" <<'END'
#!/bin/sh
# A hub that does what it is told, and that is nothing good.
say() { printf '{"jsonrpc":"2.0",%s}\n' "$1"; }
while read -r l; do
	case $l in *'$/cancel'*) continue ;; esac
	id=${l#*'"id":'}; id=${id%%,*}; m=${l#*'"method":"'}; m=${m%%\"*}; result='{"ok":true}'
	case $m in
	hub.info) result='{"protocol":1,"name":"odd","plugins":[{"name":"odd","version":"2.0.0"}]}' ;;
	hub.resolve)
		case $l in
		*odd@2*hang*) echo hung >>"$HOME/hung"; sleep 1000 ;;
		*odd@2*bad*) say '"id":'"$id"',"error":{"code":-32602,"message":"no such id"}'; continue ;;
		*odd@2*die*) echo "it hurts" >&2; exit 5 ;;
		*odd@2*nothing*) result='null' ;;
		*odd@2*bare*) result='{"n":1}' ;;
		*odd@2*few*) result='{"data":{"n":1}}' ;;
		*odd@2*) result='{"kind":"message","data":{"n":2},"plugin":"other","by":"x"}' ;;
		*) say '"id":'"$id"',"error":{"code":-32001,"message":"odd has no notes"}'; continue ;;
		esac ;;
	env) result="{\"env\":\"$(env | sort | tr '\n' ' ')\",\"pwd\":\"$(pwd)\"}" ;;
	die) echo "it hurts" >&2; exit 5 ;;
	kill) kill -9 $$ ;;
	hang) sleep 1000 ;;
	daemon) (setsid sh -c 'sleep 1000; :' </dev/null >/dev/null 2>&1 &) ; (sleep 1000 &) ;;
	garbage) echo 'Segmentation fault (not really)'; sleep 1000 ;;
	flood) while say '"method":"$/item","params":{"id":'"$id"',"item":{"text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}'; do :; done ;;
	stubborn) trap 'echo asked to end >>"$HOME/asked"' TERM; while :; do sleep 0.1; done ;;
	deaf) exec sleep 1000 ;;
	slow) for i in 1 2 3 4 5 6; do sleep 0.5; say '"method":"$/progress","params":{"id":'"$id"',"what":"x","done":'$i',"total":6}'; done ;;
	esac
	say '"id":'"$id"',"result":'"$result"
done
END
chmod +x "$T/odd"
printf '{ "hubs": { "notes": %s, "near": %s, "odd": %s } }\n' "$(notes_in here)" "$(arbor_at near read,write)" "$(odd_for 30000)" | settings here
printf '{ "hubs": { "deep": %s, "notes": %s, "odd": %s } }\n' "$(arbor_at deep read)" "$(notes_in near)" "$(odd_for 2000)" | settings near
printf '{ "hubs": { "notes": %s, "back": %s } }\n' "$(notes_in deep)" "$(arbor_at here read)" | settings deep
# Each store has something of its own.
for who in here near deep; do
	mkdir -p "$T/src-$who/projects/p"
	printf '{"type":"user","uuid":"00000000-0000-4000-8000-00000000%s","sessionId":"x","parentUuid":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"walrus of %s"}}\n' \
		"$(printf %s $who | od -An -tx1 | tr -d ' \n' | cut -c 1-4)" $who >"$T/src-$who/projects/p/11111111-1111-4111-8111-11111111111${#who}.jsonl"
	ARBOR_HOME="$T/$who" XDG_CONFIG_HOME="$T/none" "$ARBOR" sync -q --source "$T/src-$who" || fail "no store for $who"
done
ARBOR_HOME="$T/deep" XDG_CONFIG_HOME="$T/none" "$ARBOR" sync -q --source "$demo"

it "lists the hubs and whether they answer"
here hubs; code 0
out_has 'notes	ready	notes 1.0.0'; out_has 'near	ready	arbor '; out_has 'odd	ready	odd'
here hubs --json; out_has '"command":["'; out_has '"timeout_ms":30000'
nobody_is_left

it "calls their methods by a path, however deep"
here call notes.add --text 'written here'; code 0; out_has '"text": "written here"'; h_here=$(field handle)
here call near.notes.add '{"text":"written near"}'; code 0; h_near=$(field handle)
here call near.notes.add --text ''; code 0; out_has '"text": ""' # its schema allows it
here call near.deep.notes.list; code 1 # nothing there
here call near.notes.list; code 0; out_has 'written near'; out_lacks 'written here'
here call near.deep.memory.search walrus; code 0; out_has '"handle":"claudecode@'; h_deep=$(field handle)
here call near.deep.storage.export history.jsonl; code 0; same "$demo/history.jsonl" "$T/out"
here call near.deep.hub.info; code 0; out_has '"hubs":2'
nobody_is_left

it "says what is wrong with a call in the words of who knows"
here call near.deep.memory.search walrus --limit x; code 2; err_has "--limit: 'x' is not a whole number"
here call near.deep.memory.serach; code 1; err_has "near: deep: no method 'memory.serach'; did you mean 'memory.search'?"
here call near.deep.memory.serach walrus; code 2; err_has 'it is not described; give its parameters as one JSON object'
here call near.deep.memory.search '{"words":["walrus"]}' --limit 3; code 2; err_has 'not both'
here call notes.add '{"text":"x"'; code 9
here call notes.add --txt x; code 2; err_has "did you mean '--text'?"
here call notes.add; code 2; err_has 'text: missing'
here call notes; code 2; err_has "'notes' is a hub; which of its methods?"
here call odd.anything '{"x":1}'; code 0; out_is '{"v":1,"ok":true}' # it describes nothing, and takes what it is given
here call odd.anything --x 1; code 2; err_has 'not described'
here call near.deep.storage.sources --json -0; code 2

it "describes all of them, the same each time, and says whom it could not ask"
here call hub.methods; code 0
for m in memory.search notes.add near.memory.search near.notes.add near.deep.memory.search near.deep.notes.list; do
	out_has "\"name\":\"$m\""
done
out_lacks '"name":"near.deep.back'; out_lacks '"name":"near.deep.near'
here call hub.schema near.deep.notes.list; code 0; check test "$(wc -l <"$T/out")" -eq 1; out_has '"name":"near.deep.notes.list"'
here call hub.schema near.deep.storage::file; out_has '"type":"handle"'
here call hub.hash; cp "$T/out" "$T/first"; out_has '"hubs":[{"name":"notes","hash":"'; err_lacks notes
here call hub.hash; same "$T/first" "$T/out"
here call hub.hash --own; out_lacks hubs; own=$(field hash)
ARBOR_HOME="$T/here" XDG_CONFIG_HOME="$T/none" "$ARBOR" call hub.hash >"$T/out"; check test "$(field hash)" = "$own"
here call hub.methods --own; out_lacks '"name":"notes.add"'
printf '{ "hubs": { "gone": { "command": ["nonesuch"] }, "notes": %s } }\n' "$(notes_in here)" | settings half
HUB_MARK=$mark XDG_CONFIG_HOME="$T/conf/half" ARBOR_HOME="$T/here" "$ARBOR" call hub.methods >"$T/out" 2>"$T/err"; rc=$?; code 0
out_has '"name":"notes.add"'; err_has 'not asked: gone: nonesuch: No such file or directory'
HUB_MARK=$mark XDG_CONFIG_HOME="$T/conf/half" ARBOR_HOME="$T/here" "$ARBOR" call hub.hash >"$T/out" 2>"$T/err"
out_has '{"name":"gone","error":"gone: nonesuch: No such file or directory"}'
nobody_is_left

it "resolves handles: its own, then those of its hubs, then of hubs behind these"
here call memory.search walrus; own=$(field handle)
here resolve "$own" --json; code 0; check test "$(field by)" = ''; out_has 'walrus of here'
here resolve "$h_here" --json; code 0; check test "$(field by)" = notes; out_has 'written here'
here resolve "$h_near" --json; code 0; check test "$(field by)" = near.notes; out_has 'written near'
here resolve "$h_deep" --json; code 0; check test "$(field by)" = near.deep; out_has 'walrus of deep'
here call hub.resolve_many "$own" "$h_here" "$h_near" "$h_deep"; code 0; check test "$(grep -c '"data":' "$T/out")" -eq 4
nobody_is_left

it "renders what other hubs resolve"
here render "$h_near"; code 0; out_has 'written near'
here render "$h_deep"; code 0; out_has 'walrus of deep'
here render "near.notes.$h_near" --json; code 0; check test "$(field by)" = near.notes
nobody_is_left

it "follows a path to that hub and asks no other"
here resolve "near.deep.$h_deep" --json; code 0; check test "$(field by)" = near.deep
here resolve "near.$h_deep"; code 1; err_has 'near: '
here resolve "near.notes.$h_near" --json; code 0; check test "$(field by)" = near.notes
here resolve "notes.$h_near"; code 1; err_has 'notes: there is no note'
here resolve "near.notes.$h_here"; code 1
here resolve "elsewhere.$h_here"; code 1; err_has "there is no hub 'elsewhere' here"
here resolve "notes.deeper.$h_here"; code 1; err_has "'notes' is a program and has no hub 'deeper'"

it "asks the next hub with the same plugin for what the first does not have"
here resolve "$h_near" --json; check test "$(field by)" = near.notes
cp "$T/notes-near" "$T/saved" && cat "$T/notes-here" >>"$T/notes-near"
here resolve "$h_here" --json; check test "$(field by)" = notes # it has it itself
rm "$T/notes-here"; here resolve "$h_here" --json; check test "$(field by)" = near.notes
mv "$T/saved" "$T/notes-near"
here call notes.add --text 'written here again'; h_here=$(field handle)

it "takes what little a program says, and names it rightly"
here resolve odd@2.0.0::few:1 --json; code 0; out_has '"kind":"document"'; out_has '"handle":"odd@2.0.0::few:1"'; out_has '"data":{"n":1}'
here resolve odd@2.0.0::some:1 --json; code 0; out_has '"kind":"message"'; out_has '"plugin":"odd"'; out_has '"by":"odd.x"'
here resolve odd@2.0.0::nothing:1; code 9; err_has 'arbor: resolve: odd: hub.resolve gave no result'
here resolve odd@2.0.0::bare:1; code 9; err_has "arbor: resolve: odd: hub.resolve gave a result without an object 'data'"

it "tells apart who does not know, who cannot, what is gone and who cannot be asked"
here resolve nosuch@1.0.0::x:y; code 1; err_has "there is no plugin 'nosuch' here"
here resolve notes@7.0.0::note:1; code 1; err_has 'it is of notes 7.0.0, and notes has another version'
here resolve notes@1.0.0::chapter:1; code 1; err_has "not 'chapter'"
here resolve notes@1.0.0::note:1; code 1; err_has 'there is no note 1'
here call notes.remove --id "${h_here##*:}"; code 0
here resolve "$h_here"; code 1; err_has 'was removed'
here resolve odd@2.0.0::die:1; code 12; err_has 'arbor: resolve: odd: ended with code 5: it hurts'
here call hub.resolve_many nosuch@1.0.0::x:y notes@1.0.0::note:1 "$h_here" odd@2.0.0::die:1
for status in unsupported not_found gone unreachable; do out_has "\"error\":{\"status\":\"$status\""; done
here resolve near.odd.odd@2.0.0::hang:1; code 12; err_has 'near: odd: gave no answer'
nobody_is_left

it "says who failed and how, and leaves nobody behind"
cat >"$T/new" <<'END'
#!/bin/sh
# A hub of tomorrow.
read -r l
echo '{"jsonrpc":"2.0","id":0,"result":{"protocol":2}}'
sleep 1000
END
chmod +x "$T/new"
cat <<END | settings bad
{ "hubs": {
	"odd": $(odd_for 30000),
	"hasty": $(odd_for 2000),
	"none": { "command": ["nonesuch"] },
	"dead": { "command": ["sh", "-c", "echo no luck >&2; exit 3"] },
	"mute": { "command": ["sleep", "1000"], "timeout_ms": 500 },
	"new": { "command": ["~/new"] },
	"folder": { "command": ["/tmp"] },
	"far": $(arbor_at near read,write)
} }
END
bad() {
	HUB_MARK=$mark XDG_CONFIG_HOME="$T/conf/bad" ARBOR_HOME="$T/here" HANDED_ON=yes SECRET_TOKEN=hunter2 "$ARBOR" "$@" >"$T/out" 2>"$T/err" </dev/null
	rc=$?
}
bad call odd.die; code 12; err_has 'odd: ended with code 5: it hurts'
bad call odd.kill; code 12; err_has 'odd: was killed by signal 9'
bad call hasty.hang; code 12; err_has 'hasty: gave no answer for 2000 ms'
bad call hasty.deaf; code 12; err_has 'hasty: gave no answer for 2000 ms'
rm -f "$T/asked"; bad call hasty.stubborn; code 12; check test ! -e "$T/asked" # who hangs is not asked to end
bad call odd.garbage; code 12; err_has "odd: wrote something that is not JSON: 'Segmentation fault (not really)'"
bad call none.x; code 12; err_has 'none: nonesuch: No such file or directory'
bad call dead.x; code 12; err_has 'dead: ended with code 3: no luck'
bad call mute.x; code 12; err_has 'mute: gave no answer after it was started'
bad call new.x; code 12; err_has 'new: it speaks version 2 of the protocol'
bad call folder.x; code 12; err_has 'folder: /tmp: Permission denied'
bad call far.odd.hang; code 12; err_has 'far: odd: gave no answer for 2000 ms' # who is further away is named
bad call far.nobody.x; code 1; err_has "far.nobody.x"
bad hubs; code 0; check test "$(grep -c unreachable "$T/out")" -eq 5; out_has 'dead: ended with code 3: no luck'
bad call hasty.slow; code 0 # whoever says something is not silent
bad call odd.daemon; code 0
nobody_is_left

it "draws a tree however its handles fail, and waits once for who is silent"
bad call arbor.tree_create; tree=$(field id)
for h in few:1 bad:1 hang:1 hang:2 hang:3; do bad call arbor.node_create_external "$tree" --handle "hasty.odd@2.0.0::$h"; code 0; done
rm -f "$T/hung"; bad call arbor.tree_render "$tree"; code 0
out_has '→ n: 1'; out_has 'bad:1 (failed)'; check test "$(grep -c 'hang:. (no answer)$' "$T/out")" -eq 3
check test "$(wc -l <"$T/hung")" -eq 1
nobody_is_left

it "ends a flood as soon as nobody wants more"
HUB_MARK=$mark XDG_CONFIG_HOME="$T/conf/bad" ARBOR_HOME="$T/here" "$ARBOR" call odd.flood 2>"$T/err" | head -n 100 >"$T/out"
check test "$(wc -l <"$T/out")" -eq 100
nobody_is_left

it "starts a hub again after it was lost, while the program that asks it goes on"
mkfifo "$T/to"
HUB_MARK=$mark XDG_CONFIG_HOME="$T/conf/bad" ARBOR_HOME="$T/here" "$ARBOR" rpc --stdio --scopes read,write <"$T/to" >"$T/out" 2>"$T/err" &
server=$!
exec 3>"$T/to"
sent=0
for m in odd.die odd.x odd.garbage odd.x odd.kill odd.x hasty.hang hasty.x; do
	sent=$((sent + 1)); printf '{"jsonrpc":"2.0","id":%s,"method":"%s"}\n' $sent $m >&3
	n=0; while ! grep -q "\"id\":$sent," "$T/out" && [ $n -lt 400 ]; do sleep 0.05; n=$((n + 1)); done
done
exec 3>&-; wait $server; rc=$?; code 0
check test "$(grep -c '"code":-32017' "$T/out")" -eq 4
check test "$(grep -c '"result":{"ok":true}' "$T/out")" -eq 4
nobody_is_left

it "gives programs what they need of the environment, and no secrets"
bad call odd.env; code 0
for v in 'HANDED_ON=yes' 'SET=to this' "HOME=$T"; do out_has "$v"; done
out_lacks hunter2; out_lacks SECRET; out_lacks NOT_SET; out_lacks ARBOR_HOME
out_has "\"pwd\":\"$T\""
mkdir -p "$T/somewhere" && cd "$T/somewhere" && bad call odd.env && out_has "\"pwd\":\"$T\""; cd "$T" || exit 1

it "hands on no more than a caller may do"
ask() { # SCOPES METHOD [PARAMS]
	printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$2" "${3:-{\}}" |
		HUB_MARK=$mark ARBOR_HOME="$T/here" XDG_CONFIG_HOME="$T/conf/here" "$ARBOR" rpc --stdio --scopes "$1" >"$T/out" 2>"$T/err"
}
denied() { ask "$@"; out_has '"code":-32008'; }
allowed() { ask "$@"; out_has '"id":1,"result":'; }
allowed read notes.list; denied read notes.add '{"text":"x"}'; out_has "notes.add needs the scope 'write'"; allowed read,write notes.add '{"text":"x"}'
denied read odd.anything; allowed read,write odd.anything # what it does not describe may change something
allowed read near.memory.sessions; denied read near.memory.sync '{}'; denied read near.notes.add '{"text":"x"}'
allowed read,write near.notes.add '{"text":"x"}'
denied read,write near.deep.notes.add '{"text":"x"}' # near may only read there
denied read,write,drive,approve near.storage.sql '{"query":"SELECT 1"}'
denied read near.hub.call '{"method":"notes.add","params":{"text":"x"}}'
nobody_is_left

it "lets no project name hubs, and no hub be called as an activation"
mkdir -p "$T/project/.arbor" && cd "$T/project" || exit 1
printf '{ "hubs": { "evil": { "command": ["touch", "%s/pwned"] } } }\n' "$T" >.arbor/settings.json
here call evil.x; code 1; err_has "'hubs' is ignored here: a project may not choose which programs are asked"
check test ! -e "$T/pwned"
cd "$T" || exit 1
printf '{ "hubs": { "memory": { "command": ["x"] } } }\n' | settings taken
XDG_CONFIG_HOME="$T/conf/taken" arbor list; code 9; err_has "'memory' is an activation of arbor itself"

it "completes names of hubs, their methods and options"
here complete call nea; out_is "near.	another hub"
here complete call near.deep.notes.; out_has 'near.deep.notes.list	List all notes'
here complete call notes.add --te; out_has --text
here complete help near.deep.notes.l; out_has 'near.deep.notes.list	List all notes'
here complete call none.; check test ! -s "$T/err"
nobody_is_left

it "explains a hub and its methods as its own, and lets nobody paint the terminal"
here help near; code 0; out_has 'near: another hub'; out_has 'near.notes.add '
here help near.deep; code 0; out_has "near.deep: a part of the hub 'near'"; out_has 'near.deep.notes.add '; out_lacks 'near.memory.'
here help near.deep.notes; code 0; out_has 'near.deep.notes.add '; out_lacks 'near.deep.memory'
here help near.dee; code 0; out_has 'near.dee: not described'
here help near.deep.notes.add; code 0; out_has 'Usage: arbor call near.deep.notes.add '; out_has '--text '
here call notes.add --help; code 0; out_has 'Usage: arbor call notes.add '; here call notes --help; code 0; out_has 'notes.add '
here help odd.anything; code 0; out_has 'odd.anything: not described'
cat >"$T/painter" <<'END'
#!/bin/sh
while read -r l; do
	id=${l#*'"id":'}; id=${id%%,*}; r='{}'
	case $l in *hub.schema*) printf '{"jsonrpc":"2.0","method":"$/item","params":{"id":%s,"item":%s}}\n' "$id" \
		'{"name":"x","schema":{"summary":"s\u001b[31m","params":{"properties":{"p\u001b[31m":{"description":"d\u001b[31m","type":"string","enum":["e\u001b[31m"]}}}}}'; r=1 ;; esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done
END
chmod +x "$T/painter"; printf '{ "hubs": { "painter": { "command": ["~/painter"] }, "dead": { "command": ["sh", "-c", "echo no luck >&2; exit 3"] } } }\n' | settings painted
painted() { XDG_CONFIG_HOME="$T/conf/painted" ARBOR_HOME="$T/here" "$ARBOR" "$@" >"$T/out" 2>"$T/err"; rc=$?; }
for what in painter painter.x; do painted help $what; code 0; out_has '[31m'; check test "$(tr -dc '\033' <"$T/out" | wc -c)" -eq 0; done
painted help dead.x; code 12; err_has 'dead: ended with code 3: no luck'
nobody_is_left

it "comes to an end in a loop, however handles and hubs are nested"
here resolve nosuch@1.0.0::x:y; code 1
printf '{ "hubs": { "self": %s, "other": %s } }\n' "$(arbor_at loop read)" "$(arbor_at loop read)" | settings loop
mkdir -p "$T/loop"
loop() { HUB_MARK=$mark ARBOR_HOME="$T/loop" XDG_CONFIG_HOME="$T/conf/loop" "$ARBOR" "$@" >"$T/out" 2>"$T/err"; rc=$?; }
loop hubs; code 0; check test "$(grep -c '	loop	' "$T/out")" -eq 2 # also without a store
loop resolve nosuch@1.0.0::x:y; code 1
loop call hub.methods; code 0; err_has 'self: is on the way already'
loop call self.self.other.self.hub.info; code 0; out_has '"hubs":2' # whoever asks for it gets it
loop call self.self.self.self.self.self.self.self.hub.info; code 0
loop call self.self.self.self.self.self.self.self.self.hub.info; code 9
err_has 'self: the call has been at 8 hubs, and no more may be on its way'
loop resolve self.self.self.self.self.self.self.self.self.self.arbor@1.0.0::node:x; code 9; err_has '8 hubs'
nobody_is_left

it "is done with all of them when it is killed"
printf '{"jsonrpc":"2.0","id":1,"method":"near.odd.daemon"}\n{"jsonrpc":"2.0","id":2,"method":"odd.daemon"}\n' >"$T/requests"
for signal in KILL TERM INT; do
	mkfifo "$T/in"
	HUB_MARK=$mark ARBOR_HOME="$T/here" XDG_CONFIG_HOME="$T/conf/here" "$ARBOR" rpc --stdio --scopes read,write <"$T/in" >"$T/out" 2>"$T/err" &
	server=$!
	exec 3>"$T/in"; cat "$T/requests" >&3
	n=0; while [ "$(grep -c '"result"' "$T/out")" -lt 2 ] && [ $n -lt 400 ]; do sleep 0.05; n=$((n + 1)); done
	check test "$(alive)" -ge 8
	kill -$signal $server; wait $server 2>/dev/null
	nobody_is_left
	exec 3>&-; rm "$T/in"
done
the_end
