#!/bin/sh
# A table the face has never seen: a method with a verb is a command, with options,
# help, manual page, schema and completions. And the habits of every command.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
ARBOR=$BUILD/tool/fixture
tab=$(printf '\t')

it "runs by its verb and by its name"
arbor items -n 1; code 0; check grep -q "^item-1hello${tab}" "$T/out"
arbor call fixture.items --limit 1; code 0; out_has '{"v":7,"id":"item-1hello",'
arbor call hub.methods; out_has '"name":"fixture.items"'

it "is in help, manual, schema and completion"
arbor help; out_has 'Fixture:    items       Give items'
arbor help items; code 0
for o in '-n, --limit N' '--mood glad|sad' '--dry-run' '(3 unless given)' '[TEXT] [ALSO...]'; do out_has "$o"; done
arbor help --man items; code 0; out_has '.It Fl n , Fl \-limit Ar N'; out_has '\ebackslash'
! command -v mandoc >/dev/null || mandoc -T lint -W warning "$T/out" || fail 'the page'
arbor call hub.schema; out_has '"name":"fixture.items","verb":"items"'; out_has '"version":7'
arbor completion bash; out_has 'items:--mood) _arbor_words'
arbor complete items --li; check grep -q '^--limit' "$T/out"
arbor complete items item-2; check grep -q '^item-2hello	hello$' "$T/out"
arbor complete items --mood g; out_has glad

it "fills paragraphs: an empty line parts them, other line ends are blanks"
arbor help items; out_has 'One paragraph, over two lines.'

it "takes options in every form and place"
arbor items -n 2 x --mood sad >"$T/out"; cp "$T/out" "$T/first"
check test "$(wc -l <"$T/first")" -eq 2
for args in '-n2 x --mood=sad' '--limit=2 --mood sad x' 'x --mood sad --limit 2' '-n 9 -n 2 --mood sad -- x' \
	'--text x -n2 --mood sad' '--store /nowhere/s -n2 x --mood sad --store '$T/s '--dry-run --no-dry-run -n2 x --mood sad' '--dry_run --no-dry-run -n2 x --mood sad'; do
	# shellcheck disable=SC2086 # several arguments
	arbor items $args; code 0; same "$T/first" "$T/out"
done
arbor items a b c; code 0
arbor items -- -n; code 0; out_has 'item-1-n'
arbor items -qvn1; code 0; check test "$(wc -l <"$T/out")" -eq 1

it "says what is wrong in the words that were typed"
arbor items --limit x; code 2; err_has "arbor: items: --limit: 'x' is not a whole number"
arbor items -n x; code 2; err_has "--limit: 'x' is not a whole number"
arbor items -n 5001; code 2; err_has '--limit: 5001 is not between 0 and 5000'
arbor items --mood glat; code 2; err_has "--mood: 'glat' is none of glad, sad; did you mean 'glad'?"
arbor items --since noon; code 2; err_has "--since: 'noon' is not a time"
arbor items --dry-rum; code 2; err_has "did you mean '--dry-run'?"
arbor items --mood sad --mood glad; code 2; err_has '--mood: given twice, and only one can be taken'
arbor items --since 2d --since 1d; code 2; err_has '--since: given twice'
arbor items --lim 3; code 2; err_has "unknown option '--lim'; did you mean '--limit'?"
arbor items --no-limit; code 2; err_has "unknown option '--no-limit'"
arbor itmes; code 2; err_has "did you mean 'items'?"
arbor call fixture.items '{"limit":"x"}'; code 2; err_has 'limit: wants number'; err_lacks '--limit'

it "prints JSON that begins with the version of its fields"
arbor items --json; code 0; check test "$(grep -c '^{"v":7,"id":' "$T/out")" -eq 3
arbor one --json; code 0; check test "$(grep -c '^{"v":1,"id":' "$T/out")" -eq 1
out_has '"secret":"hello"'
arbor bytes --json; code 2; err_has '--json'
arbor items --json -0; code 2

it "prints only names with -0, each ended by a NUL"
printf 'item-1a\nb\0item-2a\nb\0' >"$T/want"
arbor items -n 2 -0 'a
b'; code 0; same "$T/want" "$T/out"
arbor items --print0 -n 1; code 0
arbor bytes -0; code 2; err_has '--print0'

it "prints one item a line into a pipe, whole, columns parted by tabs"
arbor items -n 1 "$(printf %0300d 7)"; code 0
check test "$(wc -l <"$T/out")" -eq 1
check test "$(tr -cd '\t' <"$T/out" | wc -c)" -eq 9
out_has "$(printf %0300d 7)"
out_has "12345678${tab}2026-11-15T"
out_lacks '…'; out_lacks secret
arbor items -n 1 "a${tab}b
c"; check test "$(wc -l <"$T/out")" -eq 1; check test "$(tr -cd '\t' <"$T/out" | wc -c)" -eq 9

it "prints a single result as names and values"
arbor one; code 0; out_has "title${tab}hello"; out_has "size${tab}12345678"; out_has "good${tab}true"

it "ends with 1 when there is nothing, and says what to do"
arbor items --dry-run; code 1; err_has 'arbor: items: no items today'; check test ! -s "$T/out"
arbor items --dry-run --json; code 1; check test ! -s "$T/out"

it "uses no colour in a pipe unless told to"
arbor items; check test "$(grep -c "$(printf '\033')" "$T/out")" -eq 0
for how in '--color always' '--color=always'; do
	# shellcheck disable=SC2086 # several arguments
	arbor items $how; check test "$(grep -c "$(printf '\033')" "$T/out")" -eq 3
done
FORCE_COLOR=1 arbor items; check grep -q "$(printf '\033')" "$T/out"
CLICOLOR_FORCE=1 arbor items; check grep -q "$(printf '\033')" "$T/out"
FORCE_COLOR=0 arbor items; check test "$(grep -c "$(printf '\033')" "$T/out")" -eq 0
FORCE_COLOR=1 NO_COLOR=1 arbor items; check test "$(grep -c "$(printf '\033')" "$T/out")" -eq 0
FORCE_COLOR=1 arbor items --color never; check test "$(grep -c "$(printf '\033')" "$T/out")" -eq 0
ARBOR_COLOR=always arbor items; check test "$(grep -c "$(printf '\033')" "$T/out")" -eq 3
ARBOR_COLOR=always NO_COLOR=1 arbor items --color never; check test "$(grep -c "$(printf '\033')" "$T/out")" -eq 0
ARBOR_COLOR=never FORCE_COLOR=1 arbor items; check test "$(grep -c "$(printf '\033')" "$T/out")" -eq 0
mkdir -p "$T/.config/arbor" && echo '{ "color": "always" }' >"$T/.config/arbor/settings.json"
arbor items; check test "$(grep -c "$(printf '\033')" "$T/out")" -eq 3
rm "$T/.config/arbor/settings.json"
arbor items --color purple; code 2; err_has 'none of auto, always, never'

it "dies of a closed pipe as every program does, silently"
# shellcheck disable=SC2016 # the inner shell expands
bash -c '"$0" items -n 5000 2>"$1" | head -n 1 >/dev/null; echo ${PIPESTATUS[0]}' "$ARBOR" "$T/err" >"$T/out"
out_is 141; check test ! -s "$T/err"
the_end
