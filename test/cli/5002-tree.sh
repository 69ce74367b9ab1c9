#!/bin/sh
# The tree of every capture and client version, as a program that shares no code with Arbor describes it
# (test/oracle/golden.mjs), and the branches of the demo.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
oracle=test/oracle
fixtures=../shared/fixtures

it "agrees with the golden description of every capture and version"
if ! command -v node >/dev/null; then
	skip "there is no node; trees are NOT CHECKED"
elif [ ! -d "$fixtures" ]; then
	skip "there is no $fixtures; its 91 descriptions are NOT CHECKED"
else
	node $oracle/arbor-golden.mjs "$ARBOR" $fixtures $oracle/golden >"$T/out" || fail "some differ"
	out_has '91 descriptions compared, 0 differ'
fi
the_end
