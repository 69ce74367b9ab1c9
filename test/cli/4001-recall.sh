#!/bin/sh
# A search finds every line that holds the word, by the judgement of an oracle that
# shares no code with Arbor (test/oracle).
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
oracle=test/oracle

it "has an oracle to ask"
if ! command -v node >/dev/null; then
	skip "there is no node; recall is NOT CHECKED"
	the_end
fi
node $oracle/extract.mjs draw demo >"$T/words" || fail "no words"
node $oracle/extract.mjs expect demo "$T/words" >"$T/expected" || fail "no lines"
check test "$(wc -l <"$T/words")" -gt 150

it "reads lines the oracle's way"
mkdir -p "$T/odd/projects/p"
cat >"$T/odd/projects/p/00000000-0000-4000-8000-000000000001.jsonl" <<'END'
{"type":"user","uuid":"u1","message":{"content":"Zürich and foo_bar_baz"},"toolUseResult":"hidden"}
not json at all: zurich
{"type":"summary","summary":"ZURICH"}{"type":"user","uuid":"u4","message":{"content":[{"type":"text","text":"zürichs"}]}}
{"type":"progress","data":{"message":"zurich"}}
{"type":"assistant","uuid":"u5","message":{"content":[{"type":"tool_use","name":"Grep","input":{"a":["zurich"]}},
{"type":"assistant","uuid":"u6","message":{"content":[{"type":"tool_use","name":"Grep","input":{"a":["zurich"]}}]}}
END
printf 'x\tzurich\nx\tzürichs\nx\tfoo_bar\nx\tbar\nx\tba\nx\tgrep\nx\thidden\n' >"$T/odd/words"
node $oracle/extract.mjs expect "$T/odd" "$T/odd/words" >"$T/out"
at() { head -n $(($1 - 1)) "$T/odd/projects/p/00000000-0000-4000-8000-000000000001.jsonl" | wc -c; } # where a line begins
out_is '{"word":"zurich","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":1,"offset":0,"uuid":"u1"}
{"word":"foo_bar","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":1,"offset":0,"uuid":"u1"}
{"word":"bar","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":1,"offset":0,"uuid":"u1"}
{"word":"zurich","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":3,"offset":'"$(at 3)"',"uuid":null}
{"word":"zürichs","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":3,"offset":'"$(at 3)"',"uuid":"u4"}
{"word":"grep","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":6,"offset":'"$(at 6)"',"uuid":"u6"}
{"word":"zurich","session":"00000000-0000-4000-8000-000000000001","path":"projects/p/00000000-0000-4000-8000-000000000001.jsonl","line":6,"offset":'"$(at 6)"',"uuid":"u6"}'

# The lines expected, as arbor would have printed them for the nth word.
mkdir "$T/found"
awk -v dir="$T/found" 'NR == FNR { split($0, row, "\t"); nth[row[2]] = FNR; next }
	{ split($0, part, "\""); print >>(dir "/" nth[part[4]]) }' "$T/words" "$T/expected"

it "is content with a complete answer"
node $oracle/recall.mjs demo "$T/words" "$T/found" >"$T/out" || { fail "it is not"; show "$T/out"; }
out_has '100 %'
out_lacks 'missed:'

it "notices a word that was not found"
: >"$T/found/1"
node $oracle/recall.mjs demo "$T/words" "$T/found" >"$T/out" && fail "it does not"
out_has "missed: $(head -n 1 "$T/words" | cut -f2) (rare) in projects/"

it "finds every line that holds a word"
arbor sync --source demo
code 0
$oracle/recall.sh "$ARBOR_HOME/arbor.db" demo >"$T/out" 2>&1 || fail "recall.sh ended with $?"
[ "$_bad" = 0 ] || sed 's/^/# /' "$T/out"
the_end
