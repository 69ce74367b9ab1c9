#!/usr/bin/env bash
# The first hour of somebody who knows git and has only --help: what is shown can be typed, what is
# asked is answered, what is not understood is told.
# shellcheck disable=SC2088 # arbor expands a tilde itself
# shellcheck disable=SC2086,SC2016 # some verbs come with words; a dollar is a dollar
. test/harness/lib.sh
export ARBOR_HOME=$T/store TZ=UTC
S=$T/claude
cp -r demo "$S"

# session DIGIT CWD TEXT: one more conversation, of the first hour of Nov 14.
session() {
	folder=$S/projects/$(printf %s "$2" | sed 's/[^A-Za-z0-9]/-/g')
	mkdir -p "$folder"
	printf '{"type":"user","uuid":"beef000%d-0000-4000-8000-000000000000","cwd":"%s","timestamp":"2026-11-14T00:0%d:00.000Z","message":{"role":"user","content":"%s"}}\n' \
		"$1" "$2" "$1" "$3" >"$folder/cafe000$1-0000-4000-8000-000000000000.jsonl"
}
session 1 /home/dev/webshop/.worktrees/3 'fix the third thing'
session 2 /home/dev/.dotfiles 'a dot in front'
session 3 /srv/a-folder-with-a-name-that-no-column-has-room-for 'a long name'
session 4 "$HOME/at-home" 'at home'
arbor sync --source "$S"

it "takes whatever it shows of a project for that project, in every command"
for name in .worktrees/3 .dotfiles '…/.worktrees/3' '…/webshop/.worktrees/3' 'a-fol…has-room-for' '~/at-home' '~/at-home/' at-home; do
	for verb in 'list' 'search role:user' 'usage' 'stats' 'history' 'context' 'todos'; do
		if [ "$verb" = context ]; then arbor context "$name"; else arbor $verb --project "$name"; fi
		err_lacks 'no session of this project'; err_lacks 'could be'
	done
	arbor list --project "$name" -0; check test "$(tr -cd '\0' <"$T/out" | wc -c)" -eq 1
done
arbor search "project:.worktrees/3 third"; code 0
screen=80x30 on_terminal list --project '.worktrees/3'; code 0; out_has '.worktrees/3'
arbor sync --source "$S" --project .worktrees/3; code 0
arbor sync --source "$S" --project '~/at-home' --dry-run; code 0
arbor sync --source "$S" --project nosuch; code 1; err_has "no such folder and no project"

it "writes a note of words without quotes"
arbor note 2396d03e my first note here; code 0; out_has '	my first note here'
arbor note 2396d03e "a second note: cents everywhere in the shop, and ask Kim about the rounding of totals before that"; code 0
arbor note 2396d03e - extra </dev/null; code 0; out_has '	 extra'; arbor note "$(grep '^id' "$T/out" | cut -f 2)" --delete; code 0

it "lists notes, the last written first, of one thing as of all"
for on in '' 2396d03e; do
	arbor notes $on; code 0; check test "$(cut -f 6 "$T/out" | cut -c 1-8 | tr '\n' ' ')" = 'a second my first '
done
arbor note "$("$ARBOR" notes 2396d03e | sed -n '2s/	.*//p')" 'my first note, reworded'
arbor notes 2396d03e; check test "$(head -n 1 "$T/out" | cut -f 6)" = 'my first note, reworded'

it "shows notes to their end, however narrow the terminal"
screen=80x30 on_terminal notes --color never; code 0; check grep -q 'totals before that' "$T/out"; out_has '  on 2396d03e  Add a money'
check test "$(wc -L <"$T/out")" -le 81
screen=40x30 on_terminal notes --color never; code 0; check grep -q 'that' "$T/out"; check test "$(wc -L <"$T/out")" -le 41

it "counts one note as one"
arbor notes -n 1; err_has '1 note, and there are more'

it "says that nothing has a tag, and not that there are none"
arbor tag 2396d03e decision
arbor tags nosuch; code 1; err_has "nothing has the tag 'nosuch'"; err_has 'arbor tags'
arbor tags 2396d03e; code 1; err_has '--on ID'

it "calls a bookmark that was found a bookmark, and dates a conversation by its own lines"
arbor bookmark 2396d03e kimono
arbor search kimono --json; code 0; out_has '"in":"bookmark"'; out_has '"updated":"2026-11-03T09:32:51.425Z"'
screen=120x30 on_terminal search kimono --color never; out_has 'webshop  Nov  3 09:32'; out_has '  bookmark '
screen=120x30 on_terminal search Kim rounding --color never; out_has 'webshop  Nov  3 09:32'; out_has '  note  '

it "takes the last conversation, and the folder one is in, where nothing else is said"
arbor show; code 0; cp "$T/out" "$T/last"; arbor show @; same "$T/last" "$T/out"
mkdir -p "$HOME/at-home"; (cd "$HOME/at-home" && "$ARBOR" context) >"$T/out"; out_has at-home
arbor files; err_lacks missing; arbor agents; err_lacks missing
arbor call memory.show; code 0

it "says what is missing"
arbor export; code 2; err_has 'FILE is missing; usage: arbor export'
arbor related; code 2; err_has 'ID is missing'

it "calls parameters that are no JSON a mistake of the call"
arbor call memory.show '{bad'; code 2; err_has parameters

it "knows what other tools call a verb"
while read -r typed meant; do
	arbor "$typed"; code 2; err_has "did you mean '$meant'?"
	arbor help "$typed"; code 2; err_has "did you mean '$meant'?"
done <<END
grep search
find search
ls list
cat show
open show
cost usage
blame files
cmp diff
fzf pick
import sync
rewind resume
undo resume
back resume
END
arbor serch; code 2; err_has "did you mean 'search'?"

it "shows the help of the method behind call"
arbor call arbor.tree_create --help; code 0; out_has 'Usage: arbor call arbor.tree_create'
arbor call -h memory.show; code 0; out_has 'Usage: arbor call memory.show'
arbor call --help; code 0; out_has 'Usage: arbor call METHOD'
arbor call no.such --help; code 1
arbor call; code 2; err_has 'METHOD is missing'

it "lists verbs behind what they are about, which cannot be mistaken for a verb"
arbor help; code 0; out_has 'Find:       list'; out_has 'Notes:      note '; out_has 'Go back:    tree  '
check test "$(grep -c '^[A-Z][a-z]*: ' "$T/out")" -ge 7

it "explains itself within eighty columns"
for topic in '' output environment places exit-codes list show log files; do
	arbor help $topic; code 0; check test "$(wc -L <"$T/out")" -le 80
done

it "says what would be sent next, and what was sent for the last answer"
arbor help log; out_has '--through adds'
arbor log 5abf9052 --as-sent --json; cp "$T/out" "$T/asked"; arbor log 5abf9052 --as-sent --through --json
check test "$(wc -l <"$T/out")" -eq "$(($(wc -l <"$T/asked") + 1))"; tail -n 1 "$T/out" >"$T/line"; check grep -q '"role":"assistant"' "$T/line"

it "has the same words for times in every command"
for verb in list history 'search role:user' usage stats; do
	arbor $verb --since 2026-11-04 --before 2026-11-06; err_lacks unknown
	arbor $verb --since 2026-11-04 --until 2026-11-05 --days 30000; err_lacks unknown
	arbor $verb --since '7 days ago'; err_lacks 'no time'; err_lacks 'such as'
done
arbor list --since 2026-11-04 --before 2026-11-06; check test "$(cut -c 1-4 "$T/out" | tr '\n' ' ')" = '4e4f 79f2 '
arbor list --since 2026-11-04 --until 2026-11-06; check test "$(cut -c 1-4 "$T/out" | tr '\n' ' ')" = 'a142 4e4f 79f2 '
arbor list --before 2026-11-01; code 1; err_has 'no session like that'
arbor history --before 2026-10-03; check test "$(wc -l <"$T/out")" -eq 2
arbor history --until 2026-10-01; code 1
arbor usage --since 2026-11-04 --before 2026-11-05; out_has 2026-11-04; out_lacks 2026-11-05
arbor list --since 'a fortnight ago'; code 2; err_has "'2 weeks ago'"

it "opens what a search prints, and says of which message it is a part"
arbor search 'cents' --json -n 0; cp "$T/out" "$T/hits"
while read -r line; do
	id=$(printf '%s' "$line" | sed 's/.*"v":1,"id":"\([^"]*\)".*/\1/')
	message=$(printf '%s' "$line" | sed -n 's/.*"message":"\([^"]*\)".*/\1/p')
	arbor show "$id"; code 0; out_has "$id"
	[ -z "$message" ] || [ "$(printf '%s' "$line" | grep -c '"note"')" = 1 ] || out_has "$message"
done <"$T/hits"
screen=80x30 on_terminal show 921627d4 --color never; out_has 'assistant  36f82369'; out_has 'part 921627d4'

it "shows a call of a tool with its result"
for id in 9a42a72b toolu_01HuUJAk3SBcVoYeuQAeFf0x; do
	arbor show $id; code 0; out_has 'npm test -- cart'; out_has 'rounds half cents'; out_lacks 'npm run lint'; out_lacks 'files checked'
done
arbor show 153eeea2; out_lacks 'rounds half cents'

it "cuts no handle and no id on a terminal"
for screen in 40x60 80x60; do
	on_terminal resolve 9a42a72b --color never; code 0
	out_has 'claudecode@1.0.0::message:153eeea2-a9c3-5c78-a9f5-412cb1cbb69b:assistant:msg_0141mc7QYTspUgy5Rm84G0EZ'
	out_has 'claudecode@1.0.0::tool_use:9a42a72b-e8b2-5200-a014-49977881e956:toolu_01HuUJAk3SBcVoYeuQAeFf0x:Bash'
	out_has 'session: 5abf9052-efc9-4b6d-8bd2-b863c3dbcb97'
done

it "leaves room for what is looked for in a table, and no column that says nothing"
screen=80x60 on_terminal sources --color never; code 0; out_has '5abf9052-efc9-4b6d-8bd2-b863c3dbcb97.jsonl'; out_lacks STATE; out_lacks GENS
arbor sources; check test "$(head -n 1 "$T/out" | tr '\t' '\n' | wc -l)" -eq 6
screen=80x60 on_terminal files 2396d03e --color never; out_lacks EXACT; out_has 'webshop/src/money.ts'
screen=80x60 on_terminal list --color never; out_has a-fol; check test "$(wc -L <"$T/out")" -le 81
rm "$S/history.jsonl"; arbor sync --source "$S"
screen=80x60 on_terminal sources --color never; out_has STATE; out_has gone; out_lacks GENS

it "says that a file was read and not changed, and finds it by the end of its name"
arbor files 2396d03e total.ts; code 1; err_has '/home/dev/webshop/src/cart/total.ts: it was looked at and not changed'; err_has '--at SESSION'
arbor files 2396d03e total.ts --at 2396d03e; code 0; out_has 'export const total'

it "shows a file as it was before a change, and behind it"
arbor files 2396d03e money.ts --at 203b7858; code 0; cp "$T/out" "$T/behind"
arbor files 2396d03e money.ts --before 203b7858; code 0; cp "$T/out" "$T/front"
arbor files 2396d03e money.ts --at 6a6971d0; same "$T/front" "$T/out"; check test "$(cmp "$T/front" "$T/behind" >"$T/null"; echo $?)" -eq 1
arbor files 2396d03e money.ts --before f173279f; same "$T/behind" "$T/out"
arbor files 2396d03e money.ts --before 6a6971d0; code 1; err_has 'did not exist then'
arbor files 2396d03e --before 6a6971d0; code 2; err_has PATH

it "tells an id that is not here from what is none, whatever its length"
for verb in show tree log files agents; do
	for id in feed feedfeed feedfeed-0000-4000-8000-000000000000; do arbor $verb $id; code 1; done
	for id in fee xyz xyzzy feed-zz nonsense-that-is-long feedfeed-0000-4000-8000-000000000000-1111; do arbor $verb $id; code 2; err_has 'is no id'; done
done
arbor note xyzzy text; code 2; arbor note feedfeed text; code 1
arbor show no/such/file.md; code 1
arbor help exit-codes; out_has 'could be one'

it "gives programs plain numbers, and no line that adds up the others"
arbor usage; code 0; out_lacks '$'; out_lacks total
total=$("$ARBOR" usage --json | grep '"kind":"total"' | sed 's/.*"nanodollars":\([0-9]*\).*/\1/')
check test "$(awk -F '\t' '{ n += $8 } END { printf "%.0f", n * 1000000000 }' "$T/out")" = "$total"
arbor usage -0; check test "$(tr '\0' '\n' <"$T/out" | grep -c total)" -eq 0
screen=80x40 on_terminal usage --color never; out_has 'total '; out_has '$0.85'
arbor help usage; out_has 'plain numbers'

it "gives pickers times as every other pipe has them"
arbor pick --plain; code 0; "$ARBOR" list | cut -f 1,2 >"$T/want"; cut -f 1,2 "$T/out" >"$T/line"; same "$T/want" "$T/line"

it "says of every verb what it does, when asked"
arbor help verbs; code 0; out_has '  list        List the conversations'; out_has '  pick        Choose'; check test "$(wc -L <"$T/out")" -le 80
check test "$(grep -c '^  [a-z]' "$T/out")" -ge 40
arbor help; out_has 'arbor help verbs'

it "knows a project where an id is wanted, and where one is"
arbor show webshop; code 2; err_has "'webshop' is a project; 'arbor list --project webshop'"
mkdir -p "$T/elsewhere"; (cd "$T/elsewhere" && "$ARBOR" context) 2>"$T/err"; err_has elsewhere

it "takes the options of a verb before it, too"
arbor list -p webshop -n 2; cp "$T/out" "$T/want"
arbor -p webshop -n 2 list; code 0; same "$T/want" "$T/out"
arbor --project webshop --limit=2 list; code 0; same "$T/want" "$T/out"
arbor -n2 list -p webshop; code 0; same "$T/want" "$T/out"
arbor -p webshop lisst; code 2; err_has "unknown command 'webshop'; options of a command stand behind it: arbor COMMAND -p webshop"
arbor -n 2; code 2; err_has "unknown command '2'"
arbor -p webshop; code 2; err_has "unknown command 'webshop'"

it "says what is wrong with what people try first"
arbor show @~1 -n 2; code 2; err_has "unknown option '-n'"; err_lacks quotes
arbor fork @@2; code 2; err_has "'2' is no id; turns and messages"
arbor list --since 2026-11-12 --before 2026-11-10; code 1; err_has 'it ends before it begins'
arbor search cents --since 2026-11-12 --until 2026-11-10; code 1; err_has 'it ends before it begins'
arbor search 'cents after:2026-11-12 before:2026-11-10'; code 1; err_has 'no time is both after and before'
arbor search 'cents OR'; code 0; err_has 'OR stands between two words'
arbor search 'OR cents'; code 0; err_has 'OR stands between two words'
arbor search 'cents OR (price OR)'; code 0; err_has 'OR stands between two words'
arbor search 'cents OR price'; code 0; err_lacks 'OR stands'
arbor search 'cents OR tool:Bash'; err_lacks 'OR stands'

it "tells folders apart that are called alike"
mkdir -p "$T/alike/projects/x"
for u in alex kim; do
	printf '{"type":"user","uuid":"%s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/home/%s/work/cli","message":{"role":"user","content":"hello"}}\n' \
		"$u" "$u" >"$T/alike/projects/x/$(printf '0b7f3c1e-1111-4000-8000-%012d' "${#u}").jsonl"
done
arbor sync --source "$T/alike" --store "$T/alike.db"; code 0
on_terminal list --color never --store "$T/alike.db"; code 0; out_has '  alex/work/cli  '; out_has '  kim/work/cli  '

it "shows of a call what matters, whatever the tool calls it"
arbor show d4861786; out_has '● ExitPlanMode  # A faster shell start'

the_end
