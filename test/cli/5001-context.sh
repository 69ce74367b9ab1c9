#!/bin/sh
# What the model is sent, by the judgement of what the client really sent (test/oracle): 65
# conversations written by hand and resumed by it, and every request of the captures.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
oracle=test/oracle
captures=../shared/fixtures/claude-2.1.197

it "has an oracle to ask"
if ! command -v node >/dev/null; then
	skip "there is no node; contexts are NOT CHECKED"
	the_end
fi
check node $oracle/resumes.mjs unpack "$T/resumes"

# FIXTURES ANSWERS
compare() {
	node $oracle/arbor-context.mjs "$ARBOR" "$1" "$2" >"$T/computed" || fail "arbor ended with $?"
	node $oracle/context.mjs "$1" "$T/computed" "$2" >"$T/out" || fail "some differ"
	[ "$_bad" = 0 ] || show "$T/out"
}

it "sends what the client sent when it resumed"
compare "$T/resumes" "$T/resumes/answers.tsv"
out_has '65 contexts compared, 0 differ'

it "notices a context that differs"
sed 's/"role":"user"/"role":"assistant"/' "$T/computed" >"$T/wrong"
node $oracle/context.mjs "$T/resumes" "$T/wrong" "$T/resumes/answers.tsv" >"$T/out" && fail "it does not"

it "sends what the client sent in every capture"
if [ ! -d "$captures" ]; then
	skip "there is no $captures; its 318 contexts are NOT CHECKED"
else
	compare "$captures" $oracle/answers.tsv
	out_has '318 contexts compared, 0 differ'
fi
the_end
