#!/bin/sh
# "I tried it twice": a conversation, two forks of it and a rewind. Which branches there are, what each has that
# another has not, what a model would be sent on one, and how the conclusion of one comes into another.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
mkdir -p "$T/.claude/projects/p"

id() { printf '00000000-0000-4000-8000-%12s' "$1" | tr ' ' 0; }
front() { # NAME PARENT MINUTE
	[ -n "$2" ] && parent="\"$(id "$2")\"" || parent=null
	printf '"uuid":"%s","parentUuid":%s,"timestamp":"2026-01-01T00:%s:00.000Z","sessionId":"%s","cwd":"/w"' \
		"$(id "$1")" "$parent" "$3" "$session"
}
says() { # NAME PARENT MINUTE TEXT
	printf '{"type":"user",%s,"message":{"role":"user","content":"%s"}}\n' "$(front "$1" "$2" "$3")" "$4"
}
answers() { # NAME PARENT MINUTE TEXT
	printf '{"type":"assistant",%s,"message":{"id":"m%s","role":"assistant","content":[{"type":"text","text":"%s"}]}}\n' \
		"$(front "$1" "$2" "$3")" "$1" "$4"
}
writes() { # NAME PARENT MINUTE FILE CONTENT
	printf '{"type":"assistant",%s,"message":{"id":"m%s","role":"assistant","content":[{"type":"tool_use","id":"t%s","name":"Write","input":{"file_path":"%s","content":"%s"}}]}}\n' \
		"$(front "$1" "$2" "$3")" "$1" "$1" "$4" "$5"
	printf '{"type":"user",%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%s","content":"written"}]},"toolUseResult":{"type":"create","filePath":"%s","content":"%s","structuredPatch":[],"originalFile":null}}\n' \
		"$(front "ee$1" "$1" "$3")" "$1" "$4" "$5"
}
begins() { # what all of them share
	says a "" 01 'make the clock right'
	writes b a 02 /w/clock.c 'tick'
	answers c eeb 03 'The clock is made.'
}
file() { session="$(id "$1")"; cat >"$T/.claude/projects/p/$session.jsonl"; }

session=$(id 01)
{ begins; says d c 04 'now use floats'; writes e d 05 /w/clock.c 'float tick'; answers f eee 06 'Floats drift.'; } | file 01
session=$(id 02)
{ begins; says 1a c 10 'now use integers'; writes 1b 1a 11 /w/clock.c 'int tick'; writes 1c ee1b 12 /w/test.c 'ok'
  answers 1d ee1c 13 'Integers do not drift.'; says 1e c 14 'forget it'; answers 1f 1e 15 'Forgotten.'; } | file 02
session=$(id 03)
begins | file 03
printf '{"type":"last-prompt","lastPrompt":"x","leafUuid":"%s","sessionId":"%s"}\n' "$(id 1d)" "$(id 02)" \
	>>"$T/.claude/projects/p/$(id 02).jsonl"
arbor sync; code 0
a=$(id 01) b=$(id 02) c=$(id 03)

it "lists the branches of a conversation: its own, with whoever stopped on it, and those aside"
arbor branches "$a"; code 0
check test "$(wc -l <"$T/out")" = 3
cut -f 3,4,5,6,8 "$T/out" >"$T/got"
printf '%s\t%s\t%s\t%s\t%s\n' true 1 8 "$a, $c" 'make the clock right' false 2 2 "" 'forget it' \
	false 2 6 "$b" 'now use integers' >"$T/want"
same "$T/got" "$T/want"
arbor branches "$a" --json; check test "$(jq -r 'select(.current) | .here | map("\(.session) \(.asked) \(.at)") | join("|")' "$T/out")" = \
	"$a true null|$c null $("$ARBOR" show "$(id c)" --json | jq -r 'select(.kind == "message") | .id')"

it "lists the ways that lead on from a message, for programs with where they leave"
arbor branches "$(id c)" --json; code 0
check test "$(wc -l <"$T/out")" = 3
check test "$(sed -n 's/.*"from":"\([^"]*\)".*/\1/p' "$T/out" | sort -u | wc -l)" = 1
arbor branches "$(id 1a)"; code 0
out_has 'Write /w/clock.c'; check test "$(wc -l <"$T/out")" = 1
arbor branches "$(id f)"; code 1; out_is ''; err_has 'nothing follows this message'
arbor branches "$a" -n 1; check test "$(wc -l <"$T/out")" = 1; err_has '1 of 3 branches; -n 0 lists all'

it "calls each by what stands for all of it where it is read, compared, merged and gone on with"
other=$("$ARBOR" branches "$a" | grep 'now use integers' | cut -f 1)
arbor log "$other"; code 0; out_has 'Integers do not drift.'
arbor diff "$other" "$a"; code 0; out_has '1 turn, 6 messages, 2 tools'; out_has '1 turn, 4 messages, 1 tool'
arbor merge "$other" "$a" --as prompt; code 0; out_has 'Integers do not drift.'
arbor branches "$a" --json; check test "$(jq -r 'select(.title == "now use integers") | .first' "$T/out")" = "$("$ARBOR" show "$(id 1a)" --json | jq -r 'select(.kind == "message") | .id')"
it "takes a turn, as the tree calls it, for all of it"
turn=$("$ARBOR" tree "$a" --json | jq -r 'select(.text == "now use integers") | .id')
arbor log "$turn"; code 0; out_has 'Integers do not drift.'; out_lacks forget
arbor log "$a..$turn"; code 0; out_has 'Integers do not drift.'; out_lacks 'The clock is made.'
arbor diff "$a" "$turn"; code 0; out_has '1 turn, 6 messages, 2 tools'
arbor merge "$turn" "$a" --as prompt; code 0; out_has 'Integers do not drift.'
arbor merge "$(id 1a)" "$a" --as prompt; code 0; out_has 'Integers do not drift.' # by its prompt, which search finds
turn=$("$ARBOR" tree "$a" --json | jq -r 'select(.text == "make the clock right") | .id')
arbor branches "$turn"; code 0; check test "$(wc -l <"$T/out")" = 3
it "compares a conversation that is alone with the way it has left"
session=$(id 0a); { says aa "" 01 'one way'; answers ab aa 02 'Done so.'; says ac ab 03 'go left'; answers ad ac 04 'Left.'; says ae ab 05 'go right'; answers af ae 06 'Right.'; } | file 0a
session=$(id 0b); { says ba "" 01 'only this'; answers bb ba 02 'Yes.'; } | file 0b; arbor sync -q; code 0
arbor diff "$(id 0a)" --json; code 0; check test "$(jq -r 'select(.kind == "turn") | .text' "$T/out" | paste -sd,)" = 'go right,go left'
arbor diff "$(id 0b)"; code 0; err_lacks 'name B' # with the last one
rm "$T/.claude/projects/p/$(id 0a).jsonl" "$T/.claude/projects/p/$(id 0b).jsonl"; arbor purge "$(id 0a)" "$(id 0b)" --yes -q; code 0
it "keeps to the line, however long a name is"
"$ARBOR" adopt a-name-that-is-much-too-long-for-a-line "$b" --working-dir "$T" >/dev/null 2>&1
for columns in 60 80; do
	screen=${columns}x40 on_terminal branches "$a" --color never; code 0; out_has '← a-name'
	check test "$(tr -d '\r' <"$T/out" | wc -L)" -le $columns
done
"$ARBOR" delete a-name-that-is-much-too-long-for-a-line >/dev/null 2>&1

it "marks the own one for people, and tells who is on each"
on_terminal branches "$a"
out_has '* '; out_has 'now use integers'; out_has '← 00000000'
on_terminal tree "$a"
out_has 'now use floats'; out_has '← 00000000'

it "tells in the tree whose file goes on where another ends"
session=$(id 05); { says 5a "" 41 'begun'; answers 5b 5a 42 'Yes.'; } | file 05
session=$(id 06); { says 5a "" 41 'begun'; answers 5b 5a 42 'Yes.'; says 5c 5b 43 'gone on'; answers 5d 5c 44 'So it is.'; } | file 06
arbor sync; arbor tree "$(id 05)" --json; code 0; check test "$(jq -r 'select(.kind == "turn") | "\(.text) \(.in)"' "$T/out" | tr '\n' '|')" = "begun null|gone on $(id 06)|"
on_terminal tree "$(id 05)"; out_has 'in 00000000'
rm "$T/.claude/projects/p/$(id 05).jsonl" "$T/.claude/projects/p/$(id 06).jsonl"; arbor purge "$(id 05)" --yes; arbor purge "$(id 06)" --yes

it "reads what one has that another has not"
arbor log "$a..$b"; code 0
out_has 'now use integers'; out_has 'Integers do not drift.'
out_lacks 'The clock is made.'; out_lacks 'Floats drift.'; out_lacks 'forget it'
arbor log "$b..$a"; out_has 'Floats drift.'; out_lacks 'integers'
arbor log "$a..$c"; code 1; err_has 'all of it is in the other, too'; out_is ''
arbor log "$a...$b"; code 2; err_has 'with two dots'; err_has 'arbor diff A B'
arbor log "$a..$b" --as-sent; code 2; err_has render_context
arbor log "..$a"; code 0
arbor log "$a..nothing-like-that"; code 2

it "compares two branches, and the files they changed"
arbor diff "$a" "$b"; code 0
out_has '4 messages in common, up to'
out_has 'The clock is made.'
out_has '1 turn, 4 messages, 1 tool'
out_has '1 turn, 6 messages, 2 tools'
check grep -q '/w/clock.c .*A +1 -0  B +1 -0  differ' "$T/out"
check grep -q '/w/test.c .*A unchanged  B +1 -0  differ' "$T/out"
out_lacks forget
arbor diff "$a" "$a" --json; code 0
check test "$(grep -c '"kind":"turn"' "$T/out")" = 0
check test "$(grep -c '"kind":"file"' "$T/out")" = 0

it "shows what is different in the files, from the first to the second"
arbor diff "$a" "$b" --patch; code 0
printf -- '--- a/clock.c\n+++ b/clock.c\n@@ -1 +1 @@\n-float tick\n\\ No newline at end of file\n+int tick\n\\ No newline at end of file\n' >"$T/want"
sed -n '/^--- a\/clock/,/^  \/w/p' "$T/out" | sed '/^  /d' >"$T/got"
same "$T/want" "$T/got"
out_has '--- /dev/null'

it "compares conversations that have nothing in common, too"
session=$(id 04)
says 4a "" 20 'something else' | file 04
arbor sync
arbor diff "$(id 04)"; code 2; err_has 'name B'
arbor diff "$a" "$(id 04)"; code 0
out_has 'nothing in common'; out_has 'something else'; out_has 'make the clock right'

it "gives a conversation a page at a time"
arbor call claudecode.get_conversation "$b" --limit 2 --json; code 0
check test "$(wc -l <"$T/out")" = 3
out_has '"total":10'; out_has '"index":0'; out_has '"index":1'; out_lacks '"index":2'
arbor call claudecode.get_conversation "$b" --from 9 --json
check test "$(wc -l <"$T/out")" = 2
out_has '"index":9'; out_has 'Integers do not drift.'; out_has '"turn":2'
arbor call claudecode.get_conversation "$(id c)" --json; out_has '"total":4'; out_lacks integers

it "gives a block by its id, and says what an id is that is none"
arbor show "$(id 1d)" --json
block=$(sed -n 's/.*"blocks":\[{"id":"\([^"]*\)".*/\1/p' "$T/out")
arbor call claudecode.get_block "$block" --json; code 0
out_has '"text":"Integers do not drift."'; out_has '"kind":"text"'
arbor call claudecode.get_block "$a"; code 2; err_has 'no block'

it "says what the model would be sent on a branch"
arbor call claudecode.render_context "$b" --json; code 0
out_has '"messages":10,"left_out":0'
out_has '"role":"user"'; out_has 'Integers do not drift.'; out_lacks Floats
arbor log "$b" --as-sent --through --json; sed -n 's/.*"content"://p' "$T/out" >"$T/want"
arbor call claudecode.render_context "$b" --json; sed -n 's/.*"content"://p' "$T/out" >"$T/got"
same "$T/want" "$T/got"

it "and a part of that: the last turns, since something, as much as fits"
arbor call claudecode.render_context "$b" --turns 1 --json; code 0
out_has '"messages":6,"left_out":4'; out_has integers; out_lacks 'make the clock right'
arbor call claudecode.render_context "$b" --since "$(id 1a)" --json; out_has '"messages":6,"left_out":4'
arbor call claudecode.render_context "$b" --since "$(id b)" --json; out_has '"messages":6,"left_out":4'
arbor call claudecode.render_context "$b" --since "$(id d)" --json; code 1; err_has 'not on the way'
arbor bookmark "$(id 1a)" start; code 0
arbor call claudecode.render_context "$b" --since @start --json; out_has '"messages":6'
arbor call claudecode.render_context "$b" --budget 1000000 --json; out_has '"left_out":0'
tokens=$(sed -n 's/.*"left_out":0,"tokens":\([0-9]*\).*/\1/p' "$T/out")
arbor call claudecode.render_context "$b" --budget $((tokens - 1)) --json; out_has '"left_out":4'
arbor call claudecode.render_context "$b" --budget 10 --json; code 9; err_has 'the last turn alone'
arbor call claudecode.render_context "$(id f)" --before --json; out_lacks 'Floats drift.'; out_has '"tool_result"'

it "brings what a branch came to into another, as a note"
arbor merge "$b" "$a" --json; code 0
out_has '"done":"added"'; out_has 'Integers do not drift.'
arbor merge "$b" "$a" --json; out_has '"done":"there"'
arbor merge "$b" "$b"; code 2; err_has 'that is the branch itself'
arbor notes "$a"; out_has 'Integers do not drift.'; check test "$(wc -l <"$T/out")" = 1
arbor call claudecode.render_context "$a" --json; out_lacks 'Integers'
arbor merge "$b" "$a" Take integers --author ann --json; out_has 'Take integers'; out_lacks 'do not drift'
it "stores nothing of a text that is none"
printf 'keep\0lost' >"$T/in"; arbor merge "$b" "$a" - <"$T/in"; code 2; err_has 'it has a NUL in it'
: >"$T/in"; arbor merge "$b" "$a" - <"$T/in"; code 2; err_has 'is empty'; arbor merge "$b" "$a" ''; code 2; err_has 'is empty'

it "or as a prompt, and writes nothing then"
arbor merge "$b" "$c" --as prompt --json; code 0
out_has '"as":"prompt"'; out_has 'Integers do not drift.'; out_lacks '"note"'; err_has 'nothing was sent'
arbor notes "$c"; out_lacks Integers

it "prints a prompt as it is, for the next program, with as much of a title as is whole"
session=$(id 09); long=$(printf 'é%.0s' $(seq 150)); { says 9a "" 01 "x$long"; answers 9b 9a 02 'Two\nlines.'; } | file 09; arbor sync -q; code 0
arbor merge "$(id 09)" "$a" --as prompt; code 0; check test "$(sed 1d "$T/out")" = "
Two
lines."; check iconv -f utf-8 -t utf-16 -o /dev/null "$T/out"; check test "$(head -n 1 "$T/out" | wc -m)" -lt 170
it "takes sessions by their names, and tells where these are"
arbor adopt whole-numbers "$b" --working-dir "$T"; code 0
arbor branches whole-numbers; code 0; out_has whole-numbers
arbor branches "$a" --json; out_has '"names":["whole-numbers"]'
arbor tree "$a"; out_has '← whole-numbers'
arbor log "$a..whole-numbers"; code 0; out_has 'Integers do not drift.'
arbor diff whole-numbers "$a"; code 0
arbor call claudecode.render_context whole-numbers --turns 1 --json; code 0; out_has integers
it "compares what stands in one word with two dots, as git does"
arbor diff "$a" "$b" --json; code 0; cp "$T/out" "$T/apart"
arbor diff "$a..$b" --json; code 0; same "$T/apart" "$T/out"
arbor diff "$a...$b" --json; code 0; same "$T/apart" "$T/out"

it "compares what is named alone with what it shares something with, or else with the last"
arbor sync --source demo --store "$T/demo.db"; code 0
arbor diff b899e3df 24bf71fb --json --store "$T/demo.db"; cp "$T/out" "$T/apart"
arbor diff b899e3df --json --store "$T/demo.db"; code 0; same "$T/apart" "$T/out"
arbor diff 24bf71fb b899e3df --json --store "$T/demo.db"; cp "$T/out" "$T/apart"
arbor diff 24bf71fb --json --store "$T/demo.db"; code 0; same "$T/apart" "$T/out"
arbor diff f4ba36e6 @ --json --store "$T/demo.db"; cp "$T/out" "$T/apart"
arbor diff f4ba36e6 --json --store "$T/demo.db"; code 0; same "$T/apart" "$T/out"

it "takes a node behind a session that has it in another file"
arbor log 24bf71fb --json --store "$T/demo.db"; code 0; node=$(tail -n 1 "$T/out" | sed 's/.*"kind":"message","id":"\([^"]*\)".*/\1/')
arbor show "$node" --json --store "$T/demo.db"; code 0; cp "$T/out" "$T/apart"
arbor show "b899e3df@$node" --json --store "$T/demo.db"; code 0; same "$T/apart" "$T/out"
arbor show "b899e3df@$(printf %.8s "$node")" --json --store "$T/demo.db"; code 0; same "$T/apart" "$T/out"
arbor show "f4ba36e6@$node" --store "$T/demo.db"; code 1; err_has 'no node of this session'

it "says that a fork is not mirrored yet where only another folder is"
mkdir -p "$T/w2"
arbor fork b899e3df --cwd "$T/w2" --store "$T/demo.db"; code 0; err_has "'arbor sync'"
arbor sync --store "$T/demo.db"; code 0; arbor fork b899e3df --cwd "$T/w2" --store "$T/demo.db"; code 0; err_lacks 'not mirrored'
it "takes the turn of a compaction for what it begins with"
export ARBOR_HOME="$T/compacted"; arbor sync --source demo -q; code 0
arbor tree 8ec269a1 --json; turn=$(jq -r 'select(.kind == "turn" and .origin == "compaction") | .id' "$T/out")
arbor log "$turn" --json; code 0; check test "$(jq -r 'select(.kind == "message") | .blocks[0].text' "$T/out" | grep -c '^Run the tokenizer\|^This session is being continued')" = 2
# shellcheck disable=SC2086 # words
for verb in "log 8ec269a1@$turn" "log $turn --as-sent" "diff $turn 8ec269a1" "branches $turn" "merge $turn b899e3df"; do arbor $verb; code 0; done
the_end
