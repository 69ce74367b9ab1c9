#!/bin/sh
# A search finds every line that holds the word or phrase, and no other, by the judgement of an
# oracle that shares no code with Arbor (test/oracle).
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
oracle=test/oracle

it "has an oracle to ask"
if ! command -v node >/dev/null; then
	skip "there is no node; recall and precision are NOT CHECKED"
	the_end
fi
node $oracle/extract.mjs draw demo 1 100 >"$T/words" || fail "no words"
node $oracle/extract.mjs expect demo "$T/words" >"$T/expected" || fail "no lines"
check test "$(wc -l <"$T/words")" -gt 140

it "reads lines the oracle's way"
mkdir -p "$T/odd/projects/p"
cat >"$T/odd/projects/p/00000000-0000-4000-8000-000000000001.jsonl" <<'END'
{"type":"user","uuid":"u1","message":{"content":"Zürich and foo_bar_baz"},"toolUseResult":"hidden"}
not json at all: zurich
{"type":"summary","summary":"ZURICH"}{"type":"user","uuid":"u4","message":{"content":[{"type":"text","text":"zürichs"}]}}
{"type":"progress","data":{"message":"zurich"}}
{"type":"assistant","uuid":"u5","message":{"content":[{"type":"tool_use","name":"Grep","input":{"a":["zurich"]}},
{"type":"assistant","uuid":"u6","message":{"content":[{"type":"tool_use","name":"Grep","input":{"a":["zurich"]}}]}}
{"type":"progress","uuid":"u7","data":{"type":"agent_progress","message":{"type":"user","message":{"content":[{"type":"text","text":"ba"},{"type":"tool_result","content":"    41→qux\n    42→bar"}]}}}}
END
printf 'x\tzurich\nx\tzürichs\nx\tfoo_bar\nx\tbar\nx\tba\nx\tgrep\nx\thidden\nx\t42\nx\t"qux bar"\n' >"$T/odd/words"
node $oracle/extract.mjs expect "$T/odd" "$T/odd/words" >"$T/out"
at() { head -n $(($1 - 1)) "$T/odd/projects/p/00000000-0000-4000-8000-000000000001.jsonl" | wc -c; } # where a line begins
out_is '{"number":1,"query":"zurich","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":1,"offset":0,"uuid":"u1"}
{"number":3,"query":"foo_bar","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":1,"offset":0,"uuid":"u1"}
{"number":4,"query":"bar","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":1,"offset":0,"uuid":"u1"}
{"number":1,"query":"zurich","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":3,"offset":'"$(at 3)"',"uuid":null}
{"number":2,"query":"zürichs","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":3,"offset":'"$(at 3)"',"uuid":"u4"}
{"number":6,"query":"grep","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":6,"offset":'"$(at 6)"',"uuid":"u6"}
{"number":1,"query":"zurich","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":6,"offset":'"$(at 6)"',"uuid":"u6"}
{"number":5,"query":"ba","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":7,"offset":'"$(at 7)"',"uuid":"u7"}
{"number":9,"query":"\"qux bar\"","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":7,"offset":'"$(at 7)"',"uuid":"u7"}
{"number":4,"query":"bar","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":7,"offset":'"$(at 7)"',"uuid":"u7"}'

# The lines expected, as arbor would have printed them for the nth query.
mkdir "$T/found"
awk -v dir="$T/found" -F '[:,]' '{ print >>(dir "/" $2) }' "$T/expected"

it "is content with a complete answer"
node $oracle/recall.mjs demo "$T/words" "$T/found" >"$T/out" || { fail "it is not"; show "$T/out"; }
out_has '100 %'
out_lacks 'missed:'

it "notices a line that does not hold the word"
cp "$T/found/1" "$T/first"
cat "$T/found/2" >>"$T/found/1"
node $oracle/recall.mjs demo "$T/words" "$T/found" >"$T/out" && fail "it does not"
out_has "wrong: $(head -n 1 "$T/words" | cut -f2) (rare) at projects/"
cp "$T/first" "$T/found/1"

it "notices a word that was not found"
: >"$T/found/1"
node $oracle/recall.mjs demo "$T/words" "$T/found" >"$T/out" && fail "it does not"
out_has "missed: $(head -n 1 "$T/words" | cut -f2) (rare) in projects/"

it "finds every line that holds a query, and no other"
arbor sync --source demo
code 0
$oracle/recall.sh "$ARBOR_HOME/arbor.db" demo 1 100 >"$T/out" 2>&1 || fail "recall.sh ended with $?"
[ "$_bad" = 0 ] || sed 's/^/# /' "$T/out"

it "agrees with it on letters of all kinds"
mkdir "$T/letters-found"
node $oracle/letters.mjs test/table/letters.txt "$T/letters" >"$T/letters-words" || fail "no queries"
arbor sync --source "$T/letters" --store "$T/letters.db"
code 0
n=0
while IFS='	' read -r _ query; do
	n=$((n + 1))
	"$ARBOR" search --store "$T/letters.db" --json --limit 0 "$query" >"$T/letters-found/$n" 2>/dev/null
done <"$T/letters-words"
node $oracle/recall.mjs "$T/letters" "$T/letters-words" "$T/letters-found" >"$T/out" || fail "they differ"
[ "$_bad" = 0 ] || sed 's/^/# /' "$T/out"
the_end
