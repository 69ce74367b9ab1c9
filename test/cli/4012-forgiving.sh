#!/bin/sh
# Questions as people ask them: where no text has all words, less is asked for, and it is said what.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store" TZ=UTC
P=$T/claude/projects/-w
mkdir -p "$P"
lines() { [ "$(wc -l <"$T/out")" -eq "$1" ] || { fail "not $1 lines"; show "$T/out"; }; }
n=0
typed() { # TEXT
	n=$((n + 1))
	printf '{"type":"user","uuid":"00000000-0000-4000-8000-%012d","timestamp":"2026-01-02T03:04:%02d.000Z","message":{"role":"user","content":"%s"}}\n' "$n" "$n" "$1"
}
{
	typed 'telemetry is disabled by default'
	typed 'chain the git hooks that are there'
	typed 'retries of a stopped query'
	typed 'the walrus, the narwhal and the beluga'
	typed 'where did we go'
	typed 'we decide by hand'
} >"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e81.jsonl"
arbor sync --source "$T/claude"; code 0

it "leaves out words that say nothing, where no text has them all"
arbor search 'why do we chain git hooks'; code 0; lines 1; out_has 'that are there'
err_has 'no text has all of this; looked for chain git hooks instead'
arbor search 'where did we'; code 0; lines 1; err_lacks instead

it "takes other forms of words that texts have"
arbor search 'where did we decide to disable telemetry by default'; code 0; lines 1; out_has 'is disabled'
err_has 'instead'
arbor search 'retry queries stopping' --json; code 0; lines 1; out_has 'of a stopped query'
out_has '"asked":"retries query stopped"'
arbor search 'hook chaining'; code 0; out_has 'chain the git hooks'

it "lets one of several be missing at last, but none that nobody ever said"
arbor search 'walrus narwhal beluga hooks'; code 0; lines 1; out_has narwhal; err_has 'of which one may be missing instead'
arbor search 'walrus narwhal beluga zzqqxx'; code 1
arbor search 'walrus hooks'; code 1; err_has 'OR finds any of them'

it "takes conditions as they are, and queries that say more as they stand"
arbor search 'why do we chain git hooks role:user'; code 0; lines 1
arbor search 'why do we chain git hooks role:tool'; code 1
arbor search '"why chain" hooks'; code 1
arbor search 'chaining OR retrying'; code 1
arbor search 'chaining -git'; code 1

it "goes on with the same where a page ended"
arbor search 'why do we chain git hooks' --offset 1; code 1
it "looks inside of words on each page, and takes a star there for what may go on"
arbor search alru -n 1; code 0; lines 1
arbor search alru -n 1 --offset 1; code 1; err_has 'there is 1 hit, and --offset 1 is behind the last'
arbor search '*elug*'; code 0; lines 1; arbor search --inside '*elug'; code 1
it "says that a ! leaves out nothing"
arbor search '!walrus beluga'; code 0; lines 1; err_has "'!walrus': ! means nothing here"
arbor search 'walrus! beluga'; code 0; err_lacks 'means nothing'

it "gives what was typed twice within seconds twice"
{
	typed 'count the gulls'
	typed 'count the gulls'
	n=59; typed 'and the terns'
} >"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e82.jsonl"
typed 'count the gulls' | sed 's/03:04:60/03:14:00/' >>"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e82.jsonl"
arbor sync --source "$T/claude"; code 0
arbor search gulls; code 0; lines 3; err_has '3 hits'
arbor search gulls -n 1; err_has '1 of 3 hits'
arbor search gulls -n 1 --offset 2; lines 1

it "has room for the forms of many words"
words=
for a in a e i o u y; do for b in b d f g k l m; do words="$words v${a}x${b}n"; done; done
for w in $words; do typed "$w ${w}s ${w}ed ${w}ing ${w}es ${w}ned ${w}ning"; done >"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e85.jsonl"
arbor sync --source "$T/claude"; code 0
arbor search "$words"; code 1; err_has 'OR finds any of them'

it "asks for what a question is about, too, where few texts have all its words, and those come first"
{
	typed 'the gnus of the plain are on the run, so why do they fail'
	for i in 1 2 3 4; do typed "gnus fail $i"; done
	typed 'gnus fail'
	typed 'gnus'
} >"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e83.jsonl"
arbor sync --source "$T/claude"; code 0
arbor search 'why do the gnus fail' --json; code 0; lines 6; out_has '"asked":"gnus fail"'
check test "$(head -n 1 "$T/out" | grep -c 'of the plain')" -eq 1
err_has 'few texts have all of this; looked for gnus fail, too'
arbor search 'why do the gnus fail' --offset 1 -n 9; lines 5; err_has 'hits 2 to 6 of 6'
arbor search 'why do the gnus fail' --offset 3 -n 1; lines 1
arbor search 'the gnus fail "why"' ; lines 1; out_has 'of the plain'; err_lacks few
arbor search 'why do the gnus'; lines 1; err_lacks few
arbor search '(why gnus) OR (why fail)'; lines 1; err_lacks few
arbor search 'why do the gnus run' --json; lines 1; out_lacks '"asked"'; err_lacks few
for i in 1 2 3 4 5 6 7 8 9 10; do typed "so why do the terns fail $i"; done >"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e84.jsonl"
typed 'terns fail' >>"$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e84.jsonl"
arbor sync --source "$T/claude"; code 0
arbor search 'why do the terns fail' -n 20; lines 10; err_lacks few

the_end
