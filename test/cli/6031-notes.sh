#!/bin/sh
# Notes, bookmarks and tags: written, found, shown, kept, and never sent to a model.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_AUTHOR=kim
cp -R demo "$T/.claude"
arbor sync
session=a142ef82-8817-4271-a6f0-ba29c1d2a50a
block=7abd08b4-7819-50aa-a97c-25b0d3f34c61 # "Integer cents. Sketch the migration"
first() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$T/out" | head -n 1; } # FIELD: of the JSON printed

it "says that there is nothing yet, and makes nothing by looking"
for verb in notes bookmarks tags; do arbor $verb; code 1; err_has "no $verb"; done
arbor search tag:decision; code 1
arbor search is:noted; code 1
arbor list --tag x; code 1; err_has "arbor tags"
arbor show @nothing; code 1; err_has "no bookmark 'nothing'"
arbor dump --logical=facts; code 0; check test ! -s "$T/out"

it "writes a note on a conversation and on a part of one"
arbor note a142 'the walrus decides'; code 0; out_has added
arbor note 7abd08b4 'cents everywhere, says the walrus' --json; code 0; note=$(first id); check test -n "$note"
out_has '"on":"block"'; out_has '"what":"Integer cents. Sketch the migration"'; out_has '"author":"kim"'
out_has "\"session\":\"$session\""
arbor note 7abd08b4 'cents everywhere, says the walrus' --json; code 0; out_has '"done":"there"'; out_has "$note"
arbor notes; code 0; check test "$(wc -l <"$T/out")" -eq 2
arbor notes a142; check test "$(wc -l <"$T/out")" -eq 2
arbor notes 7abd08b4; check test "$(wc -l <"$T/out")" -eq 1
arbor notes --project webshop; check test "$(wc -l <"$T/out")" -eq 2
arbor notes --project parser; code 1
arbor notes -n 1; check test "$(wc -l <"$T/out")" -eq 1; err_has 'there are more'

it "finds its words among those of conversations, and narrows to them"
arbor search walrus; code 0; check test "$(wc -l <"$T/out")" -eq 2
arbor search walrus cents --json; out_has '"in":"note"'; out_has "\"id\":\"$block\""; out_has "\"note\":\"$note\""
arbor search walrus --json; check test "$(grep -c '"handle":"' "$T/out")" -eq 2
handle=$(sed -n 's/.*"handle":"\([^"]*\)".*/\1/p' "$T/out" | head -n 1); arbor resolve "$handle"; code 0
arbor search cents --json -n 1; out_has '"in":"note"' # worth more than what a tool printed
arbor search in:note; check test "$(wc -l <"$T/out")" -eq 2
arbor search walrus --in note,prompt; check test "$(wc -l <"$T/out")" -eq 2
arbor search 'walrus -in:note'; code 1
arbor search walrus project:webshop; code 0
arbor search walrus project:parser; code 1
arbor search walrus session:a142; code 0
arbor search walrus after:2026-01 before:2026-02; code 1
arbor search --regex 'wal[r]us' in:note; check test "$(wc -l <"$T/out")" -eq 2
arbor search is:noted sketch; code 0; out_has "$block"
arbor search 'is:noted tokenizer'; code 1
arbor search 'sketch -is:noted'; code 1
arbor search walrus --context 1 --json; out_has '"before":'
arbor pick --plain walrus; code 0; out_has "$session"
on_terminal search walrus --color never; out_has 'note     the walrus decides'

it "shows it beside what it is on"
arbor show a142; code 0; out_has 'the walrus decides'; out_has 'cents everywhere'
arbor show a142 --json; check test "$(grep -c '"notes":' "$T/out")" -eq 2
arbor show 7abd08b4; out_has 'cents everywhere'; out_lacks 'the walrus decides'
arbor log 7abd08b4; out_has 'cents everywhere'
arbor tree a142; out_has '1 note'
arbor tree a142 --messages --json; grep -F cents\ everywhere "$T/out" >"$T/line"; check grep -q '"kind":"message"' "$T/line"
arbor list --json --project webshop; out_has '"noted":2'
on_terminal list --project webshop --color never; out_has '2 notes  How should we'
arbor list --project webshop; out_lacks '2 notes' # columns of a pipe stay what they are

it "never tells a model"
arbor log a142 --as-sent; code 0; out_lacks walrus
arbor log a142 --as-sent --json; out_lacks walrus; out_lacks '"notes"'
arbor bookmark a142 sent; arbor tag a142 sent
arbor log @sent --as-sent --json; code 0; out_lacks bookmarks; out_lacks '"tags"'
arbor context webshop; out_lacks walrus; out_lacks '#sent'
arbor context webshop --json; out_lacks walrus
arbor bookmark --delete sent; arbor tag a142 sent --delete; code 0

it "lets a note say something else, by its own id alone"
arbor note "$note" 'cents it is, says the seal' --json; code 0; out_has '"done":"changed"'; out_has "\"subject\":\"$block\""
arbor search walrus; check test "$(wc -l <"$T/out")" -eq 1
arbor search seal; check test "$(wc -l <"$T/out")" -eq 1
arbor notes; check test "$(wc -l <"$T/out")" -eq 2
arbor notes --json; grep -F seal "$T/out" >"$T/line"
check test "$(sed 's/.*"created":"\([^"]*\)".*/\1/' "$T/line")" != "$(sed 's/.*"updated":"\([^"]*\)".*/\1/' "$T/line")"

it "takes a text from standard input, of some length"
printf 'several lines\nof a file\n\n' | "$ARBOR" note @ - --json >"$T/out"; out_has '"text":"several lines\nof a file"'
head -c 65536 /dev/zero | tr '\0' 'x' | "$ARBOR" note @~1 - >"$T/out" 2>"$T/err"; rc=$?; code 0
head -c 65537 /dev/zero | tr '\0' 'x' | "$ARBOR" note @~1 - >"$T/out" 2>"$T/err"; rc=$?; code 9; err_has 'longer than 64 KiB'
arbor note @ ''; code 2; err_has 'empty'
arbor note @; code 2
arbor call arbor.note_set '{"on":"@","text":"a\u0000b"}'; code 2
printf '\377' | "$ARBOR" note @ - >"$T/out" 2>"$T/err"; rc=$?; code 2; err_has UTF-8
arbor note feedfeed 'on nothing'; code 1

it "takes a note away by its id, or by what it is on where that has one"
arbor note @~2 'the first'; arbor note @~2 'the second'
arbor note @~2 --delete; code 2; err_has 'one of 2 notes'
second=$("$ARBOR" notes @~2 -0 | tr '\0' '\n' | head -n 1)
arbor note "$second" -d; code 0; out_has deleted
arbor note @~2 --delete; code 0; out_has 'the first'
arbor note @~2 --delete; code 1; err_has 'no note'
arbor search second; code 1
arbor call arbor.note_delete --note @; code 0; out_has 'several lines'
arbor note @~1 --delete; code 0

it "gives names that are typed instead of ids"
arbor bookmark 7abd08b4 Cents; code 0; arbor bookmark a142 orders/prices; code 0
arbor show @cents; code 0; out_has 'Integer cents. Sketch'; out_has '@Cents'; cp "$T/out" "$T/named"
arbor show 7abd08b4; same "$T/out" "$T/named"
arbor log @Cents; code 0; out_lacks 'numeric it is'
arbor tree @orders/prices; code 0; out_has '@orders/prices'; out_has '@Cents'
arbor show @orders/prices@7abd; code 0; out_has 'Sketch the migration'
arbor show @cents@7abd; code 2; err_has 'not a session'
arbor search cents session:@orders/prices; code 0
arbor search cents --session @cents; code 2
arbor todos @orders/prices; err_lacks 'no bookmark'
arbor note @cents 'by its name' && arbor notes @cents; out_has 'by its name'; arbor note @cents --delete; code 2 # two of them
arbor note "$("$ARBOR" notes -0 -n 1 | tr -d '\0')" --delete; code 0; out_has 'by its name'
arbor bookmarks; code 0; check test "$(wc -l <"$T/out")" -eq 2
arbor bookmarks -0; check test "$(tr '\0' '\n' <"$T/out" | sort | tr '\n' ' ')" = 'Cents orders/prices '
arbor search is:bookmarked sketch; code 0
arbor search orders in:note; code 0; out_has orders/prices

it "keeps a name on one thing until it is moved"
arbor bookmark @ CENTS; code 10; err_has '--force'
arbor show @cents; out_has 'Sketch'
arbor bookmark @ CENTS --force; code 0; out_has changed
arbor show @cents; out_lacks 'Sketch'
for name in '' @ 'a b' 'a@b' a..b .a -- '~1' 'a,b' 'a*'; do arbor bookmark @ "$name"; code 2; done
arbor bookmark --delete @cents; code 0; arbor bookmark --delete cents; code 1; arbor show @cents; code 1
arbor show @7abd; code 1; err_has '@@7abd'
arbor show @~x; code 2

it "tags, and finds what is tagged"
arbor tag 7abd08b4 Decision prices; code 0; check test "$(wc -l <"$T/out")" -eq 2
arbor tag @ decision; code 0; arbor tag @ decision --json; out_has '"done":"there"'
arbor tag @ DECISION --json; out_has '"done":"there"'
arbor tags; code 0; check test "$(cut -f 1,2 <"$T/out" | tr '\t\n' '= ')" = 'decision=2 prices=1 '
arbor tags deci\*; check test "$(wc -l <"$T/out")" -eq 2
arbor tags --on @; check test "$(wc -l <"$T/out")" -eq 1
arbor tags nothing; code 1
arbor search tag:decision sketch; code 0; out_has "$block"
arbor search tag:DECI\* sketch; code 0
arbor search tag:prices shell; code 1
arbor search tag:decision shell; code 0 # a session's tag is all its parts'
arbor search 'sketch -tag:prices'; code 1
arbor search 'tag:prices,decision sketch'; code 0
arbor search tag:prices; code 0
arbor list --tag decision; check test "$(wc -l <"$T/out")" -eq 2
arbor list --tag prices --json; out_has "$session"; out_lacks '"tags"' # it is on a part of it
arbor tag @ decision nothing --delete; code 1; arbor tags decision; check test "$(wc -l <"$T/out")" -eq 2 # all or none
arbor tag @ decision --delete; code 0; arbor tags decision; check test "$(wc -l <"$T/out")" -eq 1
arbor tag @ 'two words'; code 2

it "knows the client's own tag, too"
S=$T/.claude/projects/-home-dev-webshop
cp "$S/$session.jsonl" "$T/copy"
printf '{"type":"tag","tag":"Client","sessionId":"%s"}\n' $session >>"$S/$session.jsonl"; arbor sync
arbor tags; out_has Client
arbor tags client; code 0; out_has $session
arbor search tag:client sketch; code 0
arbor list --tag client; code 0; out_has $session
arbor tag a142 Client --delete; code 2; err_has "the client's"

it "is on sub-agents and turns, too"
arbor agents 79f2f12c --json; agent=$(first agent); check test -n "$agent"
arbor note "$agent" 'about the helper' --json; code 0; out_has '"on":"agent"'; out_has "\"agent\":\"$agent\""
arbor show "$agent"; out_has 'about the helper'; arbor show 79f2f12c; out_lacks 'about the helper'
arbor bookmark "$agent" helper; arbor show @helper; code 0; out_has 'about the helper'
arbor search helper in:note --json; out_has "\"agent\":\"$agent\""
arbor tree a142 --json; turn=$(grep '"number":2' "$T/out" | head -n 1 | cut -d '"' -f 10)
arbor tag "$turn" whole-turn --json; code 0; out_has '"on":"turn"'
arbor search tag:whole-turn; code 0; check test "$(wc -l <"$T/out")" -ge 2
arbor tree a142; out_has '#whole-turn'

it "stays when everything else is made anew"
arbor dump --logical=all; cp "$T/out" "$T/before"
in_notes() { arbor search walrus OR seal OR helper in:note --json; sed 's/"score":[0-9]*,//; s/"number":[0-9]*,//' "$T/out" | sort >"$1"; }
in_notes "$T/found"; check test "$(wc -l <"$T/found")" -eq 4
check grep -q '^annotation ' "$T/before"; check grep -qx 'strays 0' "$T/before"
arbor rebuild; code 0
arbor dump --logical=all; same "$T/before" "$T/out"
in_notes "$T/again"; same "$T/found" "$T/again"
arbor dump --logical; ! grep -q '^annotation ' "$T/out" || fail 'the mirror has annotations'
arbor check; code 0

it "stays when what it is on is rewritten away"
sed '/Sketch the migration/d' "$T/copy" >"$S/$session.jsonl"; arbor sync
arbor notes --json; out_has 'cents it is, says the seal'; out_has '"what":"Integer cents. Sketch the migration"'
arbor show 7abd08b4; code 0; out_has 'says the seal'
arbor search seal; code 0

it "answers in SQL"
arbor sql "SELECT count(*) FROM notes"; out_is 3
arbor sql "SELECT text FROM notes WHERE subject_id = '$block'"; out_is 'cents it is, says the seal'
arbor sql "SELECT name FROM tags WHERE name = 'DECISION'"; out_is Decision
arbor sql "SELECT count(*) FROM bookmarks b JOIN sessions s ON s.id = b.session_id"; out_is 2
arbor sql "SELECT agent FROM notes WHERE agent IS NOT NULL"; out_is "$agent"

it "can be read where nothing can be written"
arbor notes; cp "$T/out" "$T/want"
cp -R "$T/.local/share/arbor" "$T/frozen" && chmod -R a-w "$T/frozen"
arbor notes --store "$T/frozen/arbor.db"; code 0; same "$T/want" "$T/out"
arbor search seal --store "$T/frozen/arbor.db"; code 0
if [ "$(id -u)" != 0 ]; then arbor note @ no --store "$T/frozen/arbor.db"; code 6; fi
chmod -R u+w "$T/frozen"

it "loses nothing when several write at once"
for n in 1 2 3 4; do
	(for i in 1 2 3 4 5; do
		"$ARBOR" note @ "race $n $i" && "$ARBOR" tag @ "race-$i" && "$ARBOR" bookmark @ "mine-$n-$i" || echo lost
	done) >"$T/race.$n" 2>&1 &
done
wait
! grep -l lost "$T"/race.* || { fail 'something was refused'; show "$T/race.1"; }
arbor search race in:note -n 0; check test "$(wc -l <"$T/out")" -eq 20
arbor tags race-\*; check test "$(wc -l <"$T/out")" -eq 5
arbor bookmarks -n 0; check test "$(grep -c '^mine-' "$T/out")" -eq 20

it "is nobody's business but its author's"
env -u ARBOR_AUTHOR USER=lee "$ARBOR" note @ 'signed' --json >"$T/out"; out_has '"author":"lee"'
env -u ARBOR_AUTHOR -u USER "$ARBOR" note @ 'unsigned' --json >"$T/out"; out_has '"author":"me"'
arbor note @ 'for another' --author 'Kim Lee' --json; out_has '"author":"Kim Lee"'
arbor note @ x --author "$(printf 'a\033b')"; code 2
the_end
