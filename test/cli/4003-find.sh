#!/usr/bin/env bash
# Listing, reading and searching conversations, as people and scripts do it.
. test/harness/lib.sh
export ARBOR_HOME=$T/store
S=$T/claude
cp -r demo "$S"

it "says what to do while there is nothing"
arbor list; code 1; err_has 'sync'
mkdir -p "$T/nothing/projects"; arbor --store "$T/nothing.db" sync --source "$T/nothing"; code 0
arbor --store "$T/nothing.db" search cents; code 1; err_has "there is no session yet: 'arbor sync' brings them in"
arbor sync --source "$S"; code 0

it "lists conversations, the last touched first, a line each"
arbor list; code 0
check test "$(wc -l <"$T/out")" -eq 15
check test "$(head -n 1 "$T/out" | cut -f 5)" = 'Measure how long my shell takes to start'
check test "$(cut -f 2 "$T/out" | sort -r | cmp - <(cut -f 2 "$T/out") && echo sorted)" = sorted
arbor list --limit 3; check test "$(wc -l <"$T/out")" -eq 3
arbor list -n 0 --json; check test "$(wc -l <"$T/out")" -eq 15
check test "$(grep -c '^{"v":1,"id":"' "$T/out")" -eq 15

it "takes a title from whoever knows best: a person, the client, the first prompt"
arbor list
out_has 'bashrc from scratch'  # given by a person, over the client's
out_lacks 'Start a minimal bashrc'

it "lists those of a project, by its folder, its name, or a folder above it"
for project in /home/dev/webshop /home/dev/webshop/ webshop; do
	arbor list --project $project; code 0
	check test "$(wc -l <"$T/out")" -eq 5
	check test "$(cut -f 3 "$T/out" | sort -u)" = /home/dev/webshop
done
for above in /home/dev /home / ; do
	arbor list --project $above; check test "$(wc -l <"$T/out")" -eq 15
done
for project in dev/webshop WebShop DEV/WEBSHOP; do
	arbor list --project $project; code 0; check test "$(wc -l <"$T/out")" -eq 5
done
arbor list --project dev; code 0; check test "$(wc -l <"$T/out")" -eq 15
arbor list --project webs; code 1; err_has "no session of this project: 'webs'; did you mean /home/dev/webshop?"
arbor list --project webshap; code 1; err_has 'did you mean /home/dev/webshop?'
arbor list --project /home/dev/webs; code 1; err_has 'did you mean /home/dev/webshop?'
ARBOR_LIST_LIMIT=1 arbor list; check test "$(wc -l <"$T/out")" -eq 1
ARBOR_LIST_LIMIT=0 arbor list; code 0; cp "$T/out" "$T/all"; arbor list -n 0; same "$T/all" "$T/out"
arbor list -p webshop -p parser; code 2; err_has '--project: given twice, and only one can be taken'
arbor list --project nosuchthing; code 1; err_has '; the last ones are /home/dev/dotfiles, /home/dev/'
arbor list --project ''; code 1; err_has "no session of this project: ''"

it "finds what was said, the best first, and where"
arbor search integer cents; code 0
check test "$(wc -l <"$T/out")" -ge 5
out_has 'Integer cents. Sketch the migration'
arbor search --json integer cents
check test "$(grep -c '"in":"prompt"' <(head -n 3 "$T/out"))" -eq 3

it "finds words whatever their case, and identifiers whole or by their parts"
for query in toFixed tofixed fixed to_fixed 'TO FIXED'; do
	arbor search --limit 0 "$query"; code 0
	out_has 'toFixed'
done

it "finds phrases, beginnings, and only in some kinds of text"
arbor search '"module money"'; code 1; err_has "nothing found for"
arbor search '"money module"'; code 0
arbor search 'tokeni*'; code 0
arbor search tokeni; code 0; err_has 'no text has this as words'
arbor search --in answer --json cents; code 0
check test "$(grep -c '"in":"answer"' "$T/out")" -eq "$(wc -l <"$T/out")"
arbor search --in prompt --in answer cents; code 0
check test "$("$ARBOR" search -n 0 --in prompt --in answer cents | wc -l)" -eq "$("$ARBOR" search -n 0 --in prompt,answer cents | wc -l)"
arbor search --in prompt,asnwer cents; code 2; err_has "--in: 'asnwer' is none of"
arbor search --in asnwer cents; code 2; err_has "did you mean 'answer'?"

it "searches in one session or project"
id=$(arbor list --project webshop --limit 1 && cut -f 1 "$T/out")
arbor search --session "$id" --json price; code 0
check test "$(grep -c "\"session\":\"$id\"" "$T/out")" -eq "$(wc -l <"$T/out")"
arbor search --project parser cents; code 1; err_has 'nothing found'
arbor search --project nope cents; code 1; err_has "no session of this project: 'nope'"
arbor list --project webshop/; code 0
arbor search --project webshop cents; code 0

it "takes anything for a query, and never shows SQL"
for query in 'foo-bar' 'C++' "what's" 'a.b' 'path/x' '@x' '"unbalanced' '*' '-' 'OR' 'NEAR(' 'a AND' '^x' 'col:x' '💥' "$(printf 'x%.0s' $(seq 10000))"; do
	arbor search -- "$query"
	[ "$rc" -le 2 ] || fail "'${query:0:20}' ended with $rc"
	for word in fts5 SQL syntax MATCH; do err_lacks $word; done
done

it "shows a conversation by the beginning of its id, and the last one by @"
arbor show 2396; code 0
out_has 'Add a money module that works in integer cents'
out_has '● Write  /home/dev/webshop/src/money.ts'
out_has 'File created successfully'
for title in 'bashrc from scratch' 'Bashrc From Scratch'; do
	arbor show "$title"; code 0; out_has 0ea33764-9f05-462f-a1d4-51fb8fdac471
done
arbor show 'bashrc from scratches'; code 2; err_has "is no id, nor what a session is called"; err_has "'arbor search' finds"
arbor show @; code 0; out_has 'Measure how long my shell takes to start'
second=$("$ARBOR" list -n 2 | sed -n 2p | cut -f 1)
arbor show @~1; code 0; out_has "$second"
arbor show @~99; code 1; err_has 'the oldest is @~14'

it "shows several, one after the other, from xargs -0, too"
arbor show @ 2396; code 0
check test "$(grep -n 'Measure how long my shell takes to start' "$T/out" | head -n 1 | cut -d : -f 1)" -eq 1
out_has 'Add a money module that works in integer cents'
"$ARBOR" list -n 3 -0 2>/dev/null | xargs -0 "$ARBOR" show --json >"$T/out"
"$ARBOR" list -n 3 2>/dev/null | cut -f 1 >"$T/want"
sed -n 's/^{"v":1,"kind":"session","id":"\([^"]*\)".*/\1/p' "$T/out" >"$T/got"; same "$T/want" "$T/got"
arbor show @ 2396 nosuch; code 2; check test ! -s "$T/out"
arbor call memory.show '{"id":["@","2396"]}'; code 0; check test "$(grep -c '"kind":"session"' "$T/out")" -eq 2

it "shows every node that a search or a conversation names"
arbor search --json --limit 0 cents
grep -o '"\(id\|message\)":"[^"]*"' "$T/out" | cut -d '"' -f 4 | sort -u >"$T/ids"
check test "$(wc -l <"$T/ids")" -gt 10
while read -r id; do
	arbor show "$id"
	[ "$rc" = 0 ] || fail "$id: $(cat "$T/err")"
	arbor show "${id:0:13}"
	[ "$rc" = 0 ] || fail "${id:0:13}: $(cat "$T/err")"
done <"$T/ids"

it "knows nodes of a session by SESSION@NODE, @@NODE, and lines by their own uuid"
arbor search --json Sketch; code 0
node=$(sed 's/.*"message":"\([^"]*\)".*/\1/' "$T/out")
session=$(sed 's/.*"session":"\([^"]*\)".*/\1/' "$T/out")
uuid=$(sed 's/.*"line":"\([^"]*\)".*/\1/' "$T/out")
for id in "$session@$node" "${session:0:8}@${node:0:8}" "$uuid" "${uuid:0:4}" "${uuid:0:13}" "$session@${uuid:0:6}"; do
	arbor show "$id"; code 0; out_has 'Sketch the migration'
done
arbor show "@@$node"; code 1; err_has 'no node of this session'
arbor show --json @
last=$(sed -n 's/^{"v":1,"kind":"message","id":"\([^"]*\)".*/\1/p' "$T/out" | tail -n 1)
arbor show "@@${last:0:8}"; code 0

it "shows a part with its conversation, and leaves nothing of it out"
arbor search --json --in input alias rm; code 0
part=$(sed -n '1s/.*"id":"\([^"]*\)","message":"\([^"]*\)".*/\1/p' "$T/out")
message=$(sed -n '1s/.*"id":"\([^"]*\)","message":"\([^"]*\)".*/\2/p' "$T/out")
arbor show "$part"; code 0
out_has 'bashrc from scratch'
out_has "$message"
out_has "  new_string: alias rm='rm -I'"

it "says how much more there is, on stderr only"
arbor search --limit 2 cents; code 0
check test "$(wc -l <"$T/out")" -eq 2
check grep -q '^2 of [0-9]* hits; -n 0 shows all' "$T/err"
arbor list -n 3; err_has '3 of 15 sessions; -n 0 lists all'
arbor list -n 3 -q; check test ! -s "$T/err"

it "lists candidates when an id could mean several"
mkdir -p "$S/projects/-x"
for n in 1 2; do
	printf '{"type":"user","uuid":"abcd%04d-0000-4000-8000-000000000000","message":{"role":"user","content":"twin %d"}}\n' $n $n \
		>"$S/projects/-x/abcd000$n-0000-4000-8000-000000000000.jsonl"
done
arbor sync --source "$S"
arbor show abcd; code 2
err_has "'abcd' could be"; err_has 'abcd0001-0000-4000-8000-000000000000  twin 1'; err_has 'twin 2'
arbor show abcd0001; code 0; out_has 'twin 1'
arbor show abc; code 2; err_has 'give 4 or more of them'
arbor show zzzz; code 2
arbor show 0000dead; code 1; err_has 'arbor list'

it "leaves room for the title beside a branch with a long name"
mkdir -p "$T/branchy/projects/-w"
printf '{"type":"user","uuid":"%s","parentUuid":null,"sessionId":"%s","cwd":"/w","gitBranch":"%s","timestamp":"2026-11-01T00:00:00.000Z","message":{"role":"user","content":"%s"}}\n' \
	11111111-2222-4333-8444-555555550001 11111111-2222-4333-8444-555555550000 \
	somebody/a-branch-whose-name-is-longer-than-anybody-wants "A title of zucchini" \
	>"$T/branchy/projects/-w/11111111-2222-4333-8444-555555550000.jsonl"
arbor sync --store "$T/branchy.db" --source "$T/branchy"; code 0
screen=80x40 on_terminal search --store "$T/branchy.db" --color never zucchini; code 0
check grep -q 'A title of zucchini .*…-than-anybody-wants' "$T/out"
check test "$(awk 'length > 82 && !/^  arbor resume/' "$T/out" | wc -l)" -eq 0 # commands are whole

it "leaves room for it beside a folder with a long name, too, and fits into the width"
sed 's|"cwd":"/w"|"cwd":"/w/a-folder-whose-name-is-longer-than-most-of-them"|; s/zucchini/courgette/; s/11111111/22222222/g' \
	"$T/branchy/projects/-w/11111111-2222-4333-8444-555555550000.jsonl" \
	>"$T/branchy/projects/-w/22222222-2222-4333-8444-555555550000.jsonl"
arbor sync --store "$T/branchy.db" --source "$T/branchy"; code 0
for width in 30 40 60 80 200; do
	screen=${width}x40 on_terminal search --store "$T/branchy.db" --color never -q courgette; code 0
	check test "$(sed -n '/^22222222/p' "$T/out" | tr -d '\r' | wc -m)" -le $((width + 1))
	check grep -q '^22222222  A ti' "$T/out"
done
check grep -q 'a-folder-whose-name-is-longer-than-most-of-them .*anybody-wants' "$T/out"

it "shows as much of an id on a terminal as is needed to type it"
for n in 1 2; do
	printf '{"type":"user","uuid":"u%d","message":{"role":"user","content":"pair %d"}}\n' $n $n \
		>"$S/projects/-x/abcdef01-234$n-4000-8000-000000000000.jsonl"
done
arbor sync --source "$S"
on_terminal list --color never; code 0
for n in 1 2; do
	id=$(sed -n "s/^\([0-9a-f-]*\) .*pair $n.*/\1/p" "$T/out")
	check test "$id" = "abcdef01-234$n"
	"$ARBOR" show "$id" >"$T/one" || fail "$id"
	check grep -q "pair $n" "$T/one"
done
check grep -q '^2396d03e  ' "$T/out"
on_terminal search --color never pair; check grep -q '^abcdef01-2341  pair 1' "$T/out"
check test "$(wc -L <"$T/out")" -le 120
on_terminal show --color never abcdef01-2341; check grep -q '^  abcdef01-2341  ' "$T/out"

it "tells copies apart that went on, by the folder they are in"
cp -r "$S" "$T/copy"
arbor sync --source "$T/copy" --label copy; code 0
arbor show 2396; code 0; out_has 'Add a money module'  # they say the same
echo '{"type":"user","uuid":"c0de","message":{"role":"user","content":"only in the copy"}}' \
	>>"$T"/copy/projects/-home-dev-webshop/2396*.jsonl
arbor sync --source "$T/copy"; code 0
arbor show 2396; code 2
err_has '  claude:2396d03e-3b6d-406b-8ec3-9579853cd7ff  '; err_has '  copy:2396d03e-3b6d-406b-8ec3-9579853cd7ff  '
sed -n 's/^  \([a-z]*:[0-9a-f-]*\).*/\1/p' "$T/err" >"$T/candidates"
check test "$(wc -l <"$T/candidates")" -eq 2
while read -r id; do arbor show "$id"; code 0; done <"$T/candidates"
arbor show copy:2396; out_has 'only in the copy'
arbor show claude:2396; out_lacks 'only in the copy'
arbor search --session 2396 copy; code 2
arbor search --session copy:2396 copy; code 0
arbor show "$S"/projects/-home-dev-webshop/2396*.jsonl; code 0; out_lacks 'only in the copy'

it "makes everything anew with the same ids"
arbor dump --logical; cp "$T/out" "$T/before"
arbor rebuild; code 0; out_has "$(printf 'sessions\t38')"
arbor dump --logical; same "$T/before" "$T/out"
out_has 'strays 0'

it "still has everything when the folder is gone"
rm -rf "$S"
arbor show claude:2396; code 0; out_has 'File created successfully'
arbor search integer cents; code 0

it "lists the projects a name could mean, and knows which of them holds the others"
mkdir -p "$T/more/projects/-x" "$T/work/own"
n=0
for cwd in /a/web /b/Web /b/api /b/api/tools/api "$T/work/own" /c/app /d/app "/e/two words"; do
	n=$((n + 1))
	printf '{"type":"user","uuid":"p%d","cwd":"%s","message":{"role":"user","content":"in %s"}}\n' $n "$cwd" "$cwd" \
		>"$T/more/projects/-x/0000000$n-0000-4000-8000-000000000000.jsonl"
done
export ARBOR_HOME=$T/more-store
arbor sync --source "$T/more"; code 0
arbor list -p web; code 0; out_has 'in /a/web'; check test "$(wc -l <"$T/out")" -eq 1
arbor list -p WEB; code 2; err_has "project 'WEB' could be"; err_has '  /a/web'; err_has '  /b/Web'
arbor search -p app in; code 2; err_has '  /c/app'; err_has '  /d/app'
arbor search -p c/app in; code 0
arbor list -p api; code 0; check test "$(wc -l <"$T/out")" -eq 2
arbor list -p tools/api; code 0; check test "$(wc -l <"$T/out")" -eq 1
here=$PWD; cd "$T/work" || exit
for own in ./own . ../work/own ./own/ "$T/work"; do
	arbor list -p "$own"; code 0; check test "$(wc -l <"$T/out")" -eq 1
done
arbor list -p ./nothing; code 1
cd "$here" || exit
arbor list -p 'two words'; code 0
arbor call memory.projects; code 0; out_has '"path":"/c/app"'

it "completes projects by their paths and by the ends of them"
arbor complete list -p /b/; check test "$(cut -f 1 "$T/out" | sort | tr '\n' ' ')" = '/b/Web /b/api /b/api/tools/api '
arbor complete list -p to; check test "$(cut -f 1 "$T/out")" = tools/api
arbor complete search --project=we; check test "$(cut -f 1 "$T/out")" = web
export ARBOR_HOME=$T/store

it "says when the index is behind"
sqlite3 "$ARBOR_HOME/arbor.db" 'INSERT OR IGNORE INTO unread SELECT min(id) FROM source' 2>/dev/null || skip 'there is no sqlite3 here'
arbor search cents; code 0
[ -n "$_why" ] || err_has "'arbor sync' completes it"
the_end
