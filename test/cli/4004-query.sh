#!/usr/bin/env bash
# The query language of a search, as people type it.
. test/harness/lib.sh
export ARBOR_HOME=$T/store TZ=UTC
S=$T/claude
cp -r demo "$S"
arbor sync --source "$S"; check test "$rc" = 0

# How many hits there are, of which none is shown.
count() { "$ARBOR" search -n 1 "$@" --json 2>/dev/null | sed 's/.*"total":\([0-9]*\).*/\1/' | grep . || echo 0; }

it "finds one or the other, and one without the other"
all=$(count cents) with=$(count cents integer)
check test "$(count 'cents -integer')" -eq $((all - with))
check test "$(count cents NOT integer)" -eq $((all - with))
check test "$(count cents OR nosuchwordatall)" -eq "$all"
check test "$(count 'cents (integer OR nosuchwordatall)')" -eq "$with"
check test "$(count 'NEAR(integer cents, 0)')" -le "$with"
check test "$(count 'NEAR(integer cents, 0)')" -ge "$(count '"integer cents"')"
arbor search -- -cents; code 2; err_has 'add a word'

it "narrows by who said it and in what, as a condition or as an option"
check test "$(count cents role:user)" -eq "$(count cents --role user)"
check test "$(count cents role:user)" -eq "$(count cents in:prompt)"
check test "$(count cents in:prompt,answer)" -eq "$(count cents --in prompt,answer)"
for role in user assistant tool; do
	check test $(($(count cents role:$role) + $(count "cents -role:$role"))) -eq "$all"
done
beside=$("$ARBOR" search -n 0 --json cents in:other 2>/dev/null | grep -c '"kind":')
check test "$beside" -gt 0 # they have no role
check test $(($(count cents role:system) + $(count 'cents -role:system'))) -eq "$all"
check test $(($(count cents role:user,assistant,tool,system) + beside + $(count cents in:note))) -eq "$all"
arbor search --json -n 0 role:user; code 0
check test "$(grep -c '"in":"prompt"' "$T/out")" -eq "$(wc -l <"$T/out")"

it "narrows by project, session, branch and model, by names as they are given elsewhere"
check test "$(count cents project:webshop)" -eq "$(count cents --project webshop)"
check test "$(count 'cents -project:webshop')" -eq $((all - $(count cents project:webshop)))
id=$("$ARBOR" search --json -n 1 cents 2>/dev/null | sed 's/.*"session":"\([^"]*\)".*/\1/')
check test "$(count cents session:"${id:0:8}")" -eq "$(count cents --session "$id")"
check test "$(count cents branch:main)" -gt 0
check test "$(count cents branch:nosuch)" -eq 0
check test "$(count cents model:claude)" -gt 0
arbor search cents project:nosuch; code 1; err_has "no session of this project: 'nosuch'"
arbor search cents session:ffffffff; code 1

it "lists what options say when there are no words"
check test "$(count --role user --since 2026-11-05)" -eq "$(count role:user after:2026-11-05)"
arbor search; code 2; err_has 'what is to be looked for?'
arbor search --regex --role user; code 2
arbor search ''; code 2; err_has 'no word to look for'

it "narrows by tool, file and what went wrong"
arbor search --json -n 0 tool:Bash; code 0
check test "$(grep -c '"tool":"Bash"' "$T/out")" -eq "$(wc -l <"$T/out")"
arbor search --json -n 0 file:money.ts; code 0
check test "$(grep -c 'money.ts' "$T/out")" -eq "$(wc -l <"$T/out")"
arbor search is:error; code 0
check test "$(count is:error)" -gt "$(count is:error in:output after:2026-11-10)"
check test "$(count is:subagent)" -gt 0

it "narrows by time: half open, and a day is a day"
check test "$(count cents after:2026-11-05 before:2026-11-06)" -eq "$(count cents day:2026-11-05)"
check test "$(count cents after:2026-11)" -eq "$(count cents --since 2026-11)"
check test $(($(count cents after:2026-11-05) + $(count cents before:2026-11-05))) -eq "$all"
check test "$(count cents --before 2026-11-05)" -eq "$(count cents before:2026-11-05)"
check test "$(count cents --days 100000)" -eq "$all"
arbor search cents after:someday; code 2; err_has 'give a time such as'

it "gives the newest or the oldest first, and goes on where it stopped"
arbor search --json -n 0 cents --sort recent # by the second
sed 's/.*"at":"\([^".]*\)[^"]*".*/\1/' "$T/out" >"$T/got"; sort -r "$T/got" >"$T/want"; same "$T/want" "$T/got"
arbor search --json -n 0 cents --sort old
sed 's/.*"at":"\([^".]*\)[^"]*".*/\1/' "$T/out" >"$T/got"; sort "$T/got" >"$T/want"; same "$T/want" "$T/got"
arbor search --json -n 6 cents; sed 's/"total":[0-9]*//' "$T/out" >"$T/want"
arbor search --json -n 3 cents; sed 's/"total":[0-9]*//' "$T/out" >"$T/got"
arbor search --json -n 3 --offset 3 cents; sed 's/"total":[0-9]*//' "$T/out" >>"$T/got"; same "$T/want" "$T/got"
arbor search -n 3 --offset 3 cents; err_has 'hits 4 to 6 of'

it "gives whole hits within a budget, and says what was left out"
arbor search --json --budget 3000 cents; code 0
check test "$(wc -c <"$T/out")" -le 3000
check test "$(wc -l <"$T/out")" -ge 1
given=$(wc -l <"$T/out")
err_has "$given of $all hits; the others did not fit; --offset $given goes on"
check test "$(tail -n 1 "$T/out" | sed 's/.*"number":\([0-9]*\),"total":\([0-9]*\),.*/\1 \2/')" = "$given $all"
arbor search --json --budget 1 cents; code 2; check test ! -s "$T/out"; err_has "hit 1 of $all takes"
arbor search --json --budget 1000000 cents; check test "$(wc -l <"$T/out")" -eq "$all"
arbor search --json --budget 1000000 -n 2 cents; check test "$(wc -l <"$T/out")" -eq 2

it "shows hits below their session, or in their order"
screen=100x40
on_terminal search -n 6 cents --sort old; code 0; out_has 'main'
screen=120x40 on_terminal search integer cents --color never; out_has '  arbor resume a142ef82 --cwd .'
arbor search cents agent:Explore; code 1; err_has 'arbor usage agent --each'; arbor search cents agent:abc; code 1; err_lacks 'usage agent'
on_terminal search -n 6 cents --sort old --group none; code 0
arbor search -n 6 cents --sort old --json
sed 's/.*"id":"\(........\).*/\1/' "$T/out" >"$T/want"
on_terminal search -n 6 cents --sort old --group none
sed 's/\x1b\[[0-9;]*m//g' "$T/out" | grep -o '^  [0-9a-f]\{8\}' | tr -d ' ' >"$T/got"
same "$T/want" "$T/got"

it "shows what was said around a hit"
arbor search --json -n 1 --context 2 Sketch the migration; code 0
out_has '"before":[{"id":"'; out_has '"after":[{"id":"'
check test "$(grep -o '"text":' "$T/out" | wc -l)" -le 4
node=$(sed 's/.*"before":\[{"id":"\([^"]*\)".*/\1/' "$T/out")
arbor show "$node"; code 0
arbor search --json -n 1 Sketch the migration; out_lacks '"before"'
on_terminal search -n 1 --context 1 Sketch the migration; code 0
check test "$(sed 's/\x1b\[[0-9;]*m//g' "$T/out" | grep -c '^            *\(prompt\|answer\) ')" -ge 2

it "looks for a pattern, and for letters as they are"
arbor search --regex 'to[Ff]ixed\('; code 0; out_has 'toFixed(2)'
arbor search --regex 'nteger cent' role:user; code 0
check test "$("$ARBOR" search -n 0 --regex 'nteger cent' role:user 2>/dev/null | wc -l)" -eq "$(count '"integer cents"' role:user)"
arbor search --regex CENTS --case-sensitive; code 1; err_has 'nothing found'
arbor search --regex CENTS; code 1; err_has 'capitals count in a pattern that has some, unless (?i) stands in front'
arbor search --regex '(?i)CENTS'; code 0
arbor search --regex '\Wcents\W'; code 0
check test "$("$ARBOR" search -n 0 --regex 'to[A-Z][a-z]+\(' --json | grep -c '"snippet":"[^"]*to[A-Z][a-z]*(')" -eq \
	"$("$ARBOR" search -n 0 --regex 'to[A-Z][a-z]+\(' | wc -l)"
arbor search --regex 'cents(?=x)'; code 2; err_has 'only (?i) is known'
arbor search --regex '^Bash$' tool:Bash; code 1
arbor search --regex 'Bash$' tool:Bash; code 0
arbor search --case-sensitive Integer; code 0; out_lacks 'to integer cents'
for pattern in '[' '(' '(a)\1' '(a{1,200}){1,200}'; do arbor search --regex "$pattern"; code 2; err_has '--regex: '; done
# shellcheck disable=SC1003 # it ends with a backslash
for pattern in '(a*)*b' '.*.*.*=' '' 'x\'; do arbor search --regex "$pattern"; [ "$rc" -le 2 ] || fail "$pattern: $rc"; done
arbor search --regex --json 'cents?' -n 1; code 0; out_has '"marks":[{"start":'; out_lacks '"total"'

it "says what may have been meant when nothing is found"
arbor search censt; code 1; err_has "did you mean 'cents' for 'censt'?"; check test ! -s "$T/out"
arbor search integre centss; code 1; err_has "did you mean 'integer' for 'integre', 'cents' for 'centss'?"
arbor search -- cents -cents; code 1; err_has 'in quotes it is looked for'
arbor search cens; code 1; err_has "did you mean 'cents' for 'cens'"
arbor search toke --in note; code 1; err_has "'toke*' finds words that begin so"
arbor search zzqqzzqqzz; code 1; err_has "no text has the word 'zzqqzzqqzz'; nor does it stand inside of words"
arbor search shell cents; code 1; err_has 'OR finds any of them'
arbor search cents after:2099; code 1; err_has 'without its conditions'

it "takes what is no field for text, and says which field may have been meant"
arbor search rol:user cents; err_has "did you mean 'role:'?"
arbor search foo:bar; code 1; err_has 'there are role: in: tool: project:'
arbor search role:usr; code 2; err_has 'did you mean user'
for query in std::vector http://example.com 12:30 'C:\x' a:b:c; do
	arbor search "$query"
	[ "$rc" -le 1 ] || fail "$query ended with $rc: $(cat "$T/err")"
done

it "looks inside of words where words find nothing, or when asked, and says so"
arbor search okeniz; code 0; err_has 'no text has this as words; these have it inside of words'; out_has okeniz
arbor search okeniz --json; out_has '"inside":true'
arbor search 'ofixe*' ; code 0; err_has 'inside of words'
arbor search 'okeniz nul'; code 0; err_has 'inside of words'
arbor search tokenizer --json; code 0; err_lacks 'inside of words'; out_lacks '"inside"'
arbor search price -n 0; n=$(wc -l <"$T/out"); arbor search price --inside -n 0; check test "$(wc -l <"$T/out")" -gt "$n"
arbor search --inside 'okeniz OR ofixe' -n 0; code 0; out_has tokeniz; out_has toFixed
arbor search --inside Okenize --json; code 0; out_has '"inside":true'
arbor search okenizqq; code 1; err_lacks 'there was more'

it "prints what was said around a hit into a pipe, too, in the same columns"
arbor search 'sketch migration' -n 1; check test "$(wc -l <"$T/out")" -eq 1; cp "$T/out" "$T/hit"
arbor search 'sketch migration' -n 1 --context 1; n=$(wc -l <"$T/out"); check test "$n" -ge 2
check grep -qFx -- "$(cat "$T/hit")" "$T/out"
check test "$(awk -F '\t' '{ print NF }' "$T/out" | sort -u)" = 7
check test "$(cut -f 2 "$T/out" | sort -u | wc -l)" -eq 1
arbor search 'sketch migration' -n 1 --context 1 -0; check test "$(tr -cd '\000' <"$T/out" | wc -c)" -eq 1

it "takes all projects that a name can mean, and says so"
mkdir -p "$T/more/projects/-a-web" "$T/more/projects/-b-web"
for p in a b; do
	echo '{"type":"user","uuid":"00000000-0000-4000-8000-00000000000'$p'","sessionId":"0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e7'$p'","cwd":"/'$p'/web","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"dolphin"}}' >"$T/more/projects/-$p-web/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e7$p.jsonl"
done
arbor sync --source "$T/more" --label more; code 0
arbor search dolphin project:web; code 0; check test "$(wc -l <"$T/out")" -eq 2; err_has "project:web means several: /a/web, /b/web"
arbor search dolphin project:a/web; check test "$(wc -l <"$T/out")" -eq 1; err_lacks several
arbor search 'dolphin -project:web'; code 1
arbor search dolphin --project web; check test "$rc" -ne 0; err_has "could be"

it "tells why nothing was found where the words stand together"
arbor search '"module money"'; code 1; err_has 'its words stand in one text, but not as they are asked for here'
arbor search 'NEAR(migration integer, 0)'; code 1; err_has 'its words stand in one text'
arbor search integer cents --in note; code 1; err_has 'there are hits without its conditions and options'
arbor search 'integer cents day:2020-01-01'; code 1; err_has 'there are hits without its conditions and options'
arbor search 'tokenizer shell prices'; code 1; err_has 'each word is there, but not all in one part'

it "says how it read what can be read in several ways"
arbor search '"integer cents'; code 0; err_has 'a quote is not closed; all that stands behind it was looked for as a phrase: "integer cents"'
arbor search '"integer cents"'; err_lacks 'not closed'
arbor search 'cents OR role:user'; code 0; err_has "conditions hold for the whole query, also beside OR: 'role:user'"
arbor search '(cents OR price) role:user'; code 0; err_lacks OR
arbor search 'role:user OR role:tool'; code 0; err_lacks OR
arbor search "$(seq -f 'w%.0f' 1 70)"; err_has "the query is long: what follows from 'w65 w66 w67 w68 w69 w70' on was not looked for"
arbor search --regex 'a('; code 2; err_has "--regex: 'a(' cannot be looked for: "

it "looks through thousands of texts where somebody wants it to"
mkdir -p "$T/many/projects/-w"
awk 'BEGIN { for (i = 0; i < 5200; i++) printf "{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-%012d\",\"timestamp\":\"2026-01-02T03:%02d:%02d.000Z\",\"message\":{\"role\":\"user\",\"content\":\"%s\"}}\n", i, i / 60 % 60, i % 60, i ? "again" : "C++ by coincidence" }' \
	>"$T/many/projects/-w/00000000-0000-4000-8000-000000000009.jsonl"
"$ARBOR" sync --source "$T/many" --store "$T/many.db" >/dev/null 2>&1
arbor --store "$T/many.db" search --inside incidenc; code 0; out_has 'by coincidence'; err_lacks 'there are more'
arbor --store "$T/many.db" search --regex 'C\+\+'; code 0
arbor --store "$T/many.db" search --regex '\x43\+{2} \w+ [\w]+$'; code 0
arbor --store "$T/many.db" search --regex '\p{L}'; code 2; err_has 'a backslash may stand before'

it "looks for names with signs as they were typed, and says where there is none"
arbor --store "$T/many.db" search 'C++'; code 0; out_has 'C++ by'; err_lacks typed
arbor --store "$T/many.db" search 'C#'; code 0; out_has 'C++ by'; err_has "no text has 'C#' as it was typed; these have its words"
arbor --store "$T/many.db" search 'by coincidence.'; code 0; err_lacks typed

it "looks for options and types with the signs in front of them"
mkdir -p "$T/signs/projects/-w"
i=0
for text in 'a force push' 'push --force it' 'func(x []string)' 'a string x'; do
	i=$((i + 1))
	printf '{"type":"user","uuid":"00000000-0000-4000-8000-%012d","message":{"role":"user","content":"%s"}}\n' "$i" "$text"
done >"$T/signs/projects/-w/00000000-0000-4000-8000-000000000008.jsonl"
"$ARBOR" sync --source "$T/signs" --store "$T/signs.db" >/dev/null 2>&1
signs() { arbor --store "$T/signs.db" search -- "$1"; code 0; check test "$(wc -l <"$T/out")" -eq "$2"; }
signs '--force' 1; out_has 'push --force'
signs '[]string' 1; out_has 'func(x'
signs '--push' 2; err_has "no text has '--push' as it was typed; these have its words"

it "gives what has a citation as it was typed first, and all the others behind it"
mkdir -p "$T/cited/projects/-w"
{
	# Short prompts come first by their words.
	for i in $(seq 1 12); do
		printf '{"type":"user","uuid":"00000000-0000-4000-8000-%012d","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"1, 2, 3 and %d; open file; wrap xwrap"}}\n' "$i" "$i"
	done
	printf '{"type":"assistant","uuid":"00000000-0000-4000-8000-000000000077","timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"assistant","content":[{"type":"text","text":"%s released 1.2.3 after v11.2.3, with Open.File in it (as -wrap -xwrap ~/.wrap wrap%% does)"}]}}\n' "$(seq -f 'word%.0f' 1 200 | tr '\n' ' ')"
} >"$T/cited/projects/-w/00000000-0000-4000-8000-000000000007.jsonl"
"$ARBOR" sync --source "$T/cited" --store "$T/cited.db" >/dev/null 2>&1
cited() { "$ARBOR" --store "$T/cited.db" search "$@" 2>/dev/null >"$T/out"; }
for query in '"1.2.3"' '1.2.3' '"open.file"' '"-wrap"' '"wrap%"'; do
	cited "$query"; check test "$(head -n 1 "$T/out" | grep -c released)" -eq 1; check test "$(wc -l <"$T/out")" -eq 10
	cited "$query" --limit 0; check test "$(wc -l <"$T/out")" -eq 13; mv "$T/out" "$T/all"
	for at in 0 1 2 3 4 5 6 7 8 9 10 11 12; do cited "$query" --limit 1 --offset $at; cat "$T/out"; done >"$T/pages"
	same "$T/all" "$T/pages"
done
uncited() { cited "$@"; check test "$(wc -l <"$T/out")" -eq 10; check test "$(head -n 1 "$T/out" | grep -c released)" -eq 0; }
for query in '1 2 3' '"1 2 3"' 'open.file' '"open file"' '"wrap"' wrap; do uncited "$query"; done
uncited '"1.2.3"' --sort old

it "takes a name in quotes with all of its signs"
cited '"~/.wrap"' -n 0; check test "$(wc -l <"$T/out")" -eq 1
cited '"/.wrap"' -n 0; check test "$(wc -l <"$T/out")" -eq 1
arbor --store "$T/cited.db" search '"@/.wrap"'; code 0; err_has "no text has what stands in quotes as it was typed; these have '.wrap'"
check test "$(wc -l <"$T/out")" -eq 1
arbor --store "$T/cited.db" search '"@/.open"'; code 0; err_has "no text has '.open' as it was typed; these have its words"
arbor --store "$T/cited.db" search '".wrap" .open'; code 0; err_has "no text has '.wrap' and the other names with signs as they were typed"

it "says which operators are none"
for query in 'integer NEAR cents' 'NEAR (integer cents)' 'integer NEAR/3 cents'; do
	arbor search "$query"; err_has 'NEAR was looked for as a word; NEAR(a b, 5)'
done
arbor search 'integer | cents'; code 0; err_has "'|': | means nothing here; a OR b finds what has one of them"
arbor search 'integer|cents'; err_has "'integer|cents': | means"
arbor search 'NEAR(integer OR cents, 3)'; err_has "'OR' was looked for as a word: in the brackets of NEAR"
arbor search 'i* c* t* m* s* cents'; err_has "too many words are given by their first letter: what follows from 's* cents' on"
for query in 'NEAR(integer cents)' 'NEAR(integer "OR" cents, 3)' 'near cents' '"integer | cents"' 'NEAR' '"NEAR" cents'; do
	arbor search "$query"; err_lacks 'NEAR(a b'; err_lacks 'a OR b'
done

it "says that there are hits at other times, and with fewer conditions"
for query in role:user cents tool:Bash; do
	arbor search "$query" --since 2030-01-01; code 1; err_has 'at other times, the newest of 2026-'
done
arbor search zzqqxx --since 2030-01-01; code 1; err_lacks 'other times'
arbor search 'in:prompt tool:Bash'; code 1; err_has 'there may be hits with fewer conditions'
arbor search cents --until 2026-01; code 1; err_has 'there are hits at other times'

it "says which tools, models and branches there are where none is called so"
arbor search 'cents tool:Bsh'; code 1; err_has "no tool is called 'Bsh': there are bash, "
arbor search 'tool:zz*'; code 1; err_has "no tool is called 'zz': there are "
arbor search 'cents model:Opuz'; code 1; err_has "no model is called 'Opuz': there are claude-opus"
arbor search 'cents branch:mian'; code 1; err_has "no branch is called 'mian': there are main"; err_lacks 'without its conditions'
arbor search 'zzqqxx tool:bash branch:main branch:ma* model:claude -tool:zz'; code 1; err_lacks 'called'

it "takes one of several days, and conditions with OR between them"
day() { count cents "day:$1"; }
arbor search cents --json -n 0; days=$(sed 's/.*"at":"\(..........\).*/\1/' "$T/out" | sort -u | head -n 2)
first=${days%%?2026*} last=${days##*[!0-9-]}
check test "$first" != "$last"
check test $(($(day "$first") + $(day "$last"))) -eq "$(count cents "day:$first" "day:$last")"
check test "$(count 'is:error OR tool:Bash')" -eq $(($(count is:error) + $(count tool:Bash))) # that is, of calls
arbor search 'is:branch OR is:noted OR cents'; err_has 'conditions hold for the whole query'
arbor search 'is:branch OR is:noted'; err_has 'conditions hold for the whole query'

it "takes words that are not wanted beside a pattern"
hits() { "$ARBOR" search -n 0 "$@" 2>/dev/null | wc -l; }
check test "$(hits --regex ents integer)" -gt 0
check test "$(hits --regex ents 'NOT integer')" -gt 0
check test "$(hits --regex ents 'NOT integer')" -eq $(($(hits --regex ents) - $(hits --regex ents integer)))
arbor search '"integer cen*"'; code 0

it "takes a * in the name of a file, wherever it stands"
check test "$(count file:money.ts)" -gt 0
for name in 'mo*.ts' '*ney.ts' '*MONEY.ts' 'src/money*' 'webshop/**/money.ts' 'dev/*/src/mone*.ts'; do
	check test "$(count "file:$name")" -eq "$(count file:money.ts)"
done
check test "$(count 'file:*.ts')" -gt "$(count file:money.ts)"
check test "$(count 'file:*.ts')" -eq "$("$ARBOR" search -n 0 'file:*' 2>/dev/null | grep -c '[a-z]\.ts\b')"
check test "$(count 'file:*.ts')" -lt "$(count 'file:*')"
arbor search 'file:nosuch/*.ts'; code 1
arbor search 'file:*on*'; code 2; err_has 'a name may have one *, as in *_test.go'

it "takes what is not wanted beside a condition, or an option, that wants something"
less() { check test "$(count "$1 -$2")" -eq $(($(count "$1") - $(count "$1 $2"))); check test "$(count "$1 $2")" -gt 0; }
less in:input tool:Bash
less in:output tool:Bash
less in:thinking model:claude
less role:assistant is:subagent
less role:user cents
less 'role:user project:webshop' cents
check test "$(count --in input ' -tool:Bash')" -eq "$(count 'in:input -tool:Bash')"
arbor search --regex 'cents?' ' -model:claude'; code 0
arbor search -- '-tool:Bash -cents'; code 2; err_has 'it only says what is not wanted, be it behind OR; add a word to look for, or a condition'

it "knows a model by a part of its name in any case"
alike() { check test "$(count "$1")" -eq "$(count "$2")"; check test "$(count "$1")" -gt 0; }
alike model:CLAUDE model:claude
check test "$(count 'in:input -model:CLAUDE')" -eq "$(count 'in:input -model:claude')"

it "excludes conditions in brackets one by one, and refuses where that would mean something else"
alike 'cents NOT (role:user)' 'cents NOT role:user'
alike 'cents -(role:user)' 'cents -role:user'
alike 'NOT (role:user) cents' 'cents -role:user'
alike 'cents NOT (NOT (role:user))' 'cents role:user'
alike 'cents NOT (NOT role:user)' 'cents role:user'
alike 'cents NOT (role:user OR role:tool)' 'cents -role:user -role:tool'
alike 'cents NOT (role:user,tool)' 'cents -role:user -role:tool'
alike 'cents NOT ((role:user OR in:output))' 'cents -role:user -in:output'
alike 'cents NOT (role:user OR (in:output OR tool:Bash))' 'cents -role:user -in:output -tool:Bash'
alike 'cents NOT (role:user OR in:output)' 'cents -role:user -in:output'
alike 'cents NOT (-role:user -role:tool)' 'cents role:user,tool'
alike 'in:input NOT (tool:Bash OR tool:Edit)' 'in:input -tool:Bash -tool:Edit'
alike 'cents NOT (after:2027-01-01)' 'cents -after:2027-01-01'
alike 'cents NOT (is:error)' 'cents -is:error'
arbor search 'cents NOT (role:user OR in:output)'; err_lacks 'warning'
for query in 'cents -(tool:Bash integer)' 'cents NOT (role:user in:prompt)' 'cents NOT (is:error is:subagent)' \
	'cents NOT (integer (role:user))' 'cents NOT (role:user OR NOT in:prompt OR NOT in:output)'; do
	arbor search -- "$query"; code 2; err_has 'put NOT in front of each of them'
done

it "says what is no field, also where there are hits, and takes fields in any case"
arbor search 'from:the cents'; err_has "'from:' is no field and was looked for as text; there are role:"
arbor search 'cents foo:bar OR cents'; code 0; err_has "'foo:' is no field"
check test "$(count cents Role:User)" -eq "$(count cents role:user)"
arbor search cents 'PROJECT:Webshop'; code 0
arbor search 'role: user OR cents'; err_has "'role:' with no value right behind it was looked for as text"
arbor search 'cents role:'; err_has "'role:VALUE' is a condition"
arbor search 'cents role:user'; err_lacks blank; err_lacks 'no field'

it "takes a character of several bytes for one in a pattern, and knows both its cases"
mkdir -p "$T/wide/projects/-w"
prompt() { printf '{"type":"user","uuid":"00000000-0000-4000-8000-%012d","timestamp":"2026-01-02T03:04:%02d.000Z","message":{"role":"user","content":"%s"}}\n' "$1" "$1" "$2"; }
{
	prompt 1 'a naïve Übung at bob@example.com'
	prompt 2 "dump $(head -c 1000000 /dev/zero | tr '\0' f)"
} >"$T/wide/projects/-w/00000000-0000-4000-8000-000000000008.jsonl"
"$ARBOR" sync --source "$T/wide" --store "$T/wide.db" >/dev/null 2>&1
for pattern in '^a na.ve' 'na[ïé]ve' 'naïï?ve' 'na[^x]ve' 'na\Sve \S{5} at' 'übung' '(?i)NAÏVE'; do
	arbor --store "$T/wide.db" search --regex "$pattern"; code 0; lines 1
done
for pattern in 'na..ve' 'Naïve' 'na[^ï]ve'; do arbor --store "$T/wide.db" search --regex "$pattern"; code 1; done
arbor --store "$T/wide.db" search --inside 'ÏVE ü'; code 0; lines 1

it "lets no text take the time of others, and says of which it has not seen all"
arbor --store "$T/wide.db" search --regex '\S+@\S+'; code 0; lines 1; err_lacks 'too long'
arbor --store "$T/wide.db" search --regex '\S+[@]\S+'; code 0; lines 1
err_has '1 text would take too long and was not looked at to the end'
arbor --store "$T/wide.db" search --regex '\S+[@]\S+[#]'; code 1
err_has 'there was no time to look at everything; so far nothing is found for'; err_lacks ': nothing found'

it "says where a page would be behind the last hit, and what is taken for an option"
arbor search cents --offset 99999; code 1; err_has "there are $all hits, and --offset 99999 is behind the last"
arbor search cents -integer; code 2; err_has "unknown option '-integer'; in quotes with the words before it"
arbor search cents -shadow; code 2; err_has "'-shadow' is read as -s with 'hadow'"; err_has 'or behind --'
arbor search cents -n 1; code 0; err_lacks 'is read as'
arbor search zyzzyva -n1; code 1; err_lacks 'is read as'
arbor search --regex "$(printf 'shadow\377zz')"; code 1; err_has "nothing found for 'shadow�zz'"
arbor search cents after:Jan 20; code 0
arbor search cents after:jan day:mon; err_lacks 'did you mean'

it "ranks by weights that somebody set"
first() { "$ARBOR" search -n 1 --json cents 2>/dev/null | sed 's/.*"in":"\([a-z]*\)".*/\1/'; }
check test "$(first)" != output
check test "$(ARBOR_SEARCH_WEIGHTS='{"output":100,"prompt":0.01}' first)" = output
ARBOR_SEARCH_WEIGHTS='{"output":-1}' arbor search cents; code 2; err_has 'output is not a number from 0.01 to 100'

it "says how to go on with the best hit where its folder is here"
mkdir -p "$S/projects/-here" "$T/it's here"
printf '{"type":"user","uuid":"aaaa0000-0000-4000-8000-000000000001","sessionId":"aaaa0000-0000-4000-8000-000000000000","timestamp":"2026-01-02T03:04:05.000Z","cwd":"%s","message":{"role":"user","content":"thylacine"}}\n' "$T/it's here" >"$S/projects/-here/aaaa0000-0000-4000-8000-000000000000.jsonl"
arbor sync --source "$S"; code 0
screen=200x40 on_terminal search thylacine --color never; check grep -qx '  arbor resume aaaa0000' "$T/out"
it "says how to go back to before the best hit that was said: where its folder is not here, in the one you are in"
id=$("$ARBOR" search thylacine --json 2>"$T/err" | sed 's/.*"v":1,"id":"\([0-9a-f]\{8\}\).*/\1/')
screen=200x40 on_terminal search thylacine --color never; check grep -qx "  arbor resume $id --before" "$T/out"
rmdir "$T/it's here"
screen=200x40 on_terminal search thylacine --color never; check grep -qx "  arbor resume $id --before --cwd \." "$T/out"; check grep -qx '  arbor resume aaaa0000 --cwd \.' "$T/out"
screen=200x40 on_terminal search thylacine --color never --store "$ARBOR_HOME/arbor.db"; out_has "--before --cwd . --store '$ARBOR_HOME/arbor.db'"
screen=200x40 on_terminal search thylacine --color never -q; out_lacks 'arbor resume'
arbor search thylacine; code 0; out_lacks 'arbor resume'
screen=200x60 on_terminal search 'parseFloat agent:*' --color never; out_has 'Go on with it, or go back'; out_has ' --before'
the_end
