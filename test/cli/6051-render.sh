#!/bin/sh
# Handles as text: shipped templates, those somebody set, and what is wrong with them.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
mkdir "$T/bin" "$T/cwd" && ln -s "$ARBOR" "$T/bin/arbor"
PATH=$T/bin:$PATH
export ARBOR_HOME="$T/store"
cp -R demo "$T/.claude"
session=1ee16f35-b649-493c-8e1d-3fef3c9fe134
json='{"title":"A & B","n":1.50}'

it "lists the shipped templates without a store"
arbor templates; code 0; out_has claudecode.session.default; out_has storage.plan.compact
check test "$(cut -f 2 "$T/out" | sort -u)" = shipped
arbor templates storage; code 0; out_lacks claudecode
arbor templates nobody; code 1; err_has "there is no 'nobody' here"
check test ! -e "$T/store/arbor.db"

it "renders a value without a store"
arbor call mustache.render claudecode session compact --value "$json"; code 0; out_has '"text":"A & B","template":"compact","origin":"shipped"'
arbor call mustache.test --template '{{title}} {{{title}}} {{n}}' --value "$json"; code 0; out_has '"text":"A &amp; B A & B 1.50"'
check test ! -e "$T/store/arbor.db"

arbor sync; code 0

it "renders every handle that results give, by every template of its kind"
for s in $("$ARBOR" list -0 | tr '\0' ' '); do
	"$ARBOR" show "$s" --all --json; "$ARBOR" tree "$s" --agents --json; "$ARBOR" agents "$s" --all --json 2>/dev/null
done >"$T/items"
for verb in 'todos --all' plans sources; do
	# shellcheck disable=SC2086 # words
	"$ARBOR" $verb --json 2>/dev/null >>"$T/items"
done
grep -o '"handle":"[^"]*"' "$T/items" | cut -d '"' -f 4 | sort -u >"$T/handles"
# A few of each kind: the first and the last ones.
cut -d : -f 1-3 "$T/handles" | sort -u | while read -r kind; do
	grep -F "$kind:" "$T/handles" | sed -n '1,2p; $p'
done | sort -u >"$T/some"
check test "$(cut -d : -f 1-3 "$T/some" | sort -u | wc -l)" -ge 11
while read -r handle; do
	for template in default compact markdown; do
		arbor render "$handle" -t $template; code 0
		check test -s "$T/out"
		out_lacks '{{'
	done
	arbor render "$handle" -t compact; check test "$(wc -l <"$T/out")" -eq 1
done <"$T/some"

it "says in JSON which template it was"
arbor render $session --json; code 0; out_has '"template":"default","origin":"shipped"'; out_has "\"handle\":\"claudecode@1.0.0::session:$session\""
arbor render $session -t markdown; code 0; out_has '# In one sentence'; check test ! -s "$T/err"

it "falls back to default, and says so"
arbor render $session -t haiku; code 0; out_has 'session: 1ee16f35'; err_has "has no template 'haiku': this is 'default'"
arbor render $session -t haiku --json; out_has '"template":"default"'

it "takes what somebody set, for this kind and name alone"
cp "$T/out" "$T/before"
arbor call mustache.set claudecode session --template 'mine: {{{title}}}'; code 0; out_has '"warnings":[]'
arbor render $session; code 0; out_is 'mine: In one sentence: why does the lexer keep a line table?'
arbor render $session -t haiku; out_has mine:
arbor render $session -t compact; out_lacks mine:
arbor templates; grep -q '^claudecode.session.default	custom	' "$T/out" || fail 'not listed'
arbor call mustache.list; out_has '"overrides":true'
arbor call mustache.get claudecode session; out_has '"origin":"custom","text":"mine: {{{title}}}"'
printf '{{{title}}}\nfrom a file\n' | "$ARBOR" call mustache.set claudecode session haiku --template - >"$T/out" 2>"$T/err"
arbor render $session -t haiku; out_has 'from a file'

it "keeps it when the index is made anew"
arbor rebuild; code 0; arbor render $session; out_has mine:

it "goes back to the shipped one"
arbor call mustache.reset claudecode session; code 0; out_has '"deleted":true,"origin":"shipped"'
arbor render $session -t haiku --json; out_has 'from a file'
arbor call mustache.reset claudecode session haiku; code 0; out_has '"deleted":true'
arbor render $session -t haiku --json; same "$T/before" "$T/out"
arbor call mustache.reset claudecode session haiku; code 0; out_has '"deleted":false'

it "knows a plugin by its id, and one that is not here"
arbor call mustache.set 51b330e5-ed88-5fe2-8b58-0c57f2b02ab3 session x --template by-id; code 0; out_has '"template":"claudecode.session.x"'
arbor render $session -t x; out_is by-id
arbor call mustache.set other@3 thing --template '<{{{a}}}>'; code 0
arbor call mustache.render other@3 thing --value '{"a":1}'; out_has '"text":"<1>"'
arbor call mustache.render other@2 thing --value '{"a":1}'; out_has '"text":"a: 1\n","origin":"generic"'

it "refuses what is no template, with line and column, and keeps what there was"
arbor call mustache.set claudecode session x --template "$(printf 'a\n  {{#b}}')"; code 9; err_has 'template: 2:3: this section is not closed'
arbor call mustache.test --template '{{a'; code 9; err_has '1:1: this tag is not closed'
arbor render $session -t x; out_is by-id
arbor call mustache.set claudecode session a.b --template x; code 2; err_has "name: 'a.b' is no name"
arbor call mustache.set claudecode 'a b' --template x; code 2; err_has "method: 'a b' is no name"
arbor call mustache.set claudecode session '' --template x; code 2

it "warns about names that the data never has"
arbor call mustache.set claudecode session y --template '{{{titel}}}{{>nope}}'; code 0
err_has "template: 1:1: the data never has 'titel'; did you mean 'title'?"; err_has "there is no template 'nope'"
out_has '"warnings":["1:1: the data never has'
arbor call mustache.set claudecode session z --template '{{{titel}}}' --strict; code 9
arbor call mustache.get claudecode session z; code 1; err_has "there is no template 'z' for claudecode::session"
arbor call mustache.set claudecode sesion --template 'x'; code 0; err_has "claudecode has no handles 'sesion'; did you mean 'session'?"

it "tries a template on a handle without keeping it"
arbor call mustache.test --template '{{{prompts}}} of {{{messages}}}' --handle $session; code 0; out_has '"text":"1 of 2","origin":"given"'
arbor call mustache.test --handle $session --name compact; code 0; out_has '"template":"compact","origin":"shipped"'
arbor call mustache.test --plugin notes@1 --method x --value '{"a":2}'; code 0; out_has '"origin":"generic"'
arbor call mustache.set notes@1 x --template '{{{a}}}'; code 0; out_has '"template":"notes.x.default"'
arbor templates notes@1; code 0; out_has 'notes.x.default	custom'
arbor call mustache.reset notes@1 x; code 0
arbor call mustache.test; code 2; err_has 'give a template'
arbor call mustache.test --template x --value "{"; code 9

it "stops templates that contain themselves, and those that print too much"
arbor call mustache.set loop@1 x --template '{{>default}}'; code 0
arbor call mustache.render loop@1 x --value '{}'; code 9; err_has 'a template that contains itself'
arbor call mustache.set loop@1 y --template '{{#l}}{{#l}}{{#l}}{{#l}}{{#l}}{{#l}}{{#l}}{{/l}}{{/l}}{{/l}}{{/l}}{{/l}}{{/l}}{{/l}}'
arbor call mustache.render loop@1 y --value "{\"l\":[$(seq -s , 1 60)]}"; code 9; err_has 'too long'

it "reads no files"
for name in /etc/passwd ../../etc/passwd README.md file:///etc/passwd; do
	arbor call mustache.test --template "[{{>$name}}]"
	[ "$rc" = 9 ] || out_has '"text":"[]"'
	out_lacks root:
done

it "says what is wrong with a handle"
arbor render claudecode@1.0.0::session:00000000-0000-0000-0000-000000000000; code 1
arbor render nobody@1::x:y; code 1; err_has "no plugin 'nobody'"
arbor render; code 2
the_end
