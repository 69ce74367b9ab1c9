#!/bin/bash
# Agents as a person follows them: words as they come, questions where they come up, Ctrl-C, coming back.
# shellcheck disable=SC2016 # scripts are written, not expanded
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py
mkdir -p "$T/work"; root=$PWD; cd "$T/work" || exit 1
printf '#!/bin/sh\nexec "%s" answer "$("%s" approvals --json | jq -r .id)" "$@"\n' "$ARBOR" "$ARBOR" >"$T/answer"; chmod +x "$T/answer"
asked='y yes, n no, e edit, a always, s stop, and Enter:'
# STEP... -- ARG...: what the terminal got is in $T/out, without colours in $T/seen.
typed() {
	"$root/test/harness/typed.py" 80x24 "$@" >"$T/out" 2>"$T/err"
	rc=$?
	sed 's/\x1b\[[0-9;]*m//g' "$T/out" >"$T/seen"
}
chat() { local steps=(); while [ "$1" != -- ]; do steps+=("$1"); shift; done; shift; typed "${steps[@]}" -- "$ARBOR" "$@"; }
seen() { grep -qF -- "$1" "$T/seen" || { fail "the terminal lacks '$1'"; show "$T/seen"; show "$T/err"; }; }
unseen() { ! grep -qF -- "$1" "$T/seen" || { fail "the terminal has '$1'"; show "$T/seen"; }; }
state() { "$ARBOR" call claudecode.streams '{"limit":1}' | jq -r .state; }
until_state() { for ((n = 0; n < 400; n++)); do [ "$(state)" = "$1" ] && return; sleep 0.05; done; fail "it is $(state), wanted $1"; }
last() { "$ARBOR" approvals --all -n 1 --json | jq -r "$1"; }

it "makes a session that is not there, in this folder, and says so"
arbor chat one 'think It is all the same to me'; code 0; err_has 'a new session in this folder: one'
out_has 'It is all the same to me'; out_has '(thinking)'; out_has 'done, 3 tokens in, 5 out, $0.25'
check test "$("$ARBOR" call claudecode.get one | jq -r .working_dir)" = "$T/work"
arbor chat one 'say again'; code 0; err_lacks 'new session'
arbor chat 'bad name' 'say x'; code 2
arbor chat new </dev/null; code 2; arbor chat new ' '; code 2; arbor chat new '' --json; code 2; arbor chats --json; ! grep -q '"new"' "$T/out" || fail 'it was made'

it "takes the beginning of a name for no name where one could be made"
arbor chat on 'say x'; code 1; err_has "no session is called 'on': the whole name of 'one', or 'arbor new on' first"
arbor chat "$("$ARBOR" chats --json | jq -r .id)" 'say x'; code 0
arbor new on; code 0; arbor chat on 'say short'; code 0; check test "$("$ARBOR" streams -n 1 --json | jq -r .name)" = on; arbor delete on; code 0

it "wraps words at the width of the terminal, and not in a pipe"
words=$(printf 'words %.0s' $(seq 40))
chat -- chat one "say $words"; code 0
check test "$(awk 'length > 79' "$T/seen" | wc -l)" = 0; check test "$(grep -c '^words.*words$' "$T/seen")" = 3
arbor chat one "say $words"; out_has "${words% }"

it "asks where it comes up, with all of the input, and lets it run"
chat "wait:$asked" 'type:y\r' -- chat one "tool touch $(printf 'a%.0s' $(seq 100))"; code 0
seen '? Bash wants to run'; seen "$(printf 'a%.0s' $(seq 71))"; seen 'ran touch'
check test "$(last '[.decision, .by] | join(" ")')" = 'allow person'

it "denies with a reason, and can end the turn"
chat "wait:$asked" 'type:n\r' 'wait:why?' 'type:not there\r' -- chat one 'tool touch b'; code 0
seen 'not there'; check test "$(last .message)" = 'not there'
chat "wait:$asked" 'type:s\r' -- chat one 'tool touch b'; code 3; seen stopped; unseen 'ran touch'

it "lets the input be changed, and says when that is none"
EDITOR='sed -i s/touch/echo/' chat "wait:$asked" 'type:e\r' -- chat one 'tool touch b'; code 0; seen 'ran echo b'
EDITOR='sed -i s/{/x/' chat "wait:$asked" 'type:e\r' 'wait:no JSON object' "wait:$asked" 'type:y\r' -- chat one 'tool touch b'
code 0; seen 'ran touch b'; check test -z "$(ls "${TMPDIR:-/tmp}"/arbor-input-* 2>/dev/null)"

it "asks no more for what is always allowed, and says who answered"
chat "wait:$asked" 'type:a\r' -- chat one 'tool touch c'; code 0; seen 'ran touch c'
chat -- chat one 'tool touch c'; code 0; unseen "$asked"; seen 'allowed by a rule'; seen 'ran touch c'
arbor rules; out_has 'Bash(touch c)'

it "takes nothing for an answer that is none, nor what was typed before"
chat 'type:y\r' "wait:$asked" 'type:\r' "wait:$asked" 'type:maybe\r' "wait:$asked" 'type:n\r' 'wait:why?' 'type:\r' -- chat one 'tool touch d'
code 0; unseen 'ran touch d'

it "takes a letter or the whole word for an answer, and no sentence that begins like one"
none='that is none of these; nothing was answered'
chat "wait:$asked" 'type:you should not do that\r' "wait:$none" 'type:absolutely not\r' "wait:$none" 'type:yeah\r' "wait:$none" 'type:a y\r' "wait:$none" \
	"type:yes$(printf ' %.0s' $(seq 4050))but not so\r" "wait:$none" 'type: No \r' 'wait:why?' 'type:\r' -- chat one 'tool touch h'
code 0; unseen 'ran touch h'; arbor rules; out_lacks 'touch h'
chat "wait:$asked" 'type: YES \r' -- chat one 'tool touch h'; code 0; seen 'ran touch h'
chat "wait:$asked" 'type:stop\r' -- chat one 'tool touch h'; code 3

it "takes an editor that was left without a change for no answer"
EDITOR=true chat "wait:$asked" 'type:e\r' 'wait:nothing was changed; nothing was answered' "wait:$asked" 'type:n\r' 'wait:why?' 'type:\r' -- chat one 'tool touch i'
code 0; unseen 'ran touch i'; check test "$(last .decision)" = deny

it "needs no more memory the longer a question waits, however much it shows"
printf '#!/bin/sh\nsed -n "s/VmRSS:[^0-9]*\\([0-9]*\\) kB/\\1/p" "/proc/$(pgrep -f "^$1 chat big")/status"\n' >"$T/rss"; chmod +x "$T/rss"
ASAN_OPTIONS=quarantine_size_mb=1 \
chat "wait:$asked" "run:sleep 3; $T/rss $ARBOR >$T/rss.1; sleep 4; $T/rss $ARBOR >$T/rss.2" 'type:n\r' 'wait:why?' 'type:\r' -- chat big 'tool big 3000000'; code 0
check test "$(cat "$T/rss.2")" -lt $(($(cat "$T/rss.1") + 8000))

it "takes it back when somebody else answers, or the client wants to know no more"
chat "wait:$asked" "run:$T/answer allow" 'wait:ran touch e' -- chat one 'tool touch e'; code 0
chat "wait:$asked" "run:'$ARBOR' interrupt one" 'wait:stopped' -- chat one 'tool touch e'; code 3; seen 'nobody has to answer any more'

it "asks what a person is asked, and for a plan"
chat 'wait:your own words' 'type:2\r' -- chat one 'question Which one?'; code 0; seen '1  The first  is old'; seen '{"Which one?": "The second"}'
chat 'wait:your own words' 'type:Both\r' -- chat one 'question Which one?'; seen '{"Which one?": "Both"}'
chat 'wait:your own words' 'type:\r' -- chat one 'question Which one?'; seen 'no answer was given'
chat 'wait:y yes, n no, e edit, s stop, and Enter:' 'type:a\r' "wait:cannot be answered always" 'type:y\r' -- chat one 'plan First this'; seen 'ExitPlanMode wants this plan approved'; code 0; seen 'First this'; seen 'ran ExitPlanMode'; arbor rules; out_lacks ExitPlanMode

it "ends the turn with Ctrl-C, at work and at a question"
chat 'run:sleep 1' 'type:\x03' 'wait:stopping this turn' -- chat one 'wait for it'; code 3; seen stopped
chat "wait:$asked" 'type:\x03' 'wait:stopping this turn' -- chat one 'tool touch f'; code 3; unseen 'ran touch f'
check test "$(state)" = cancelled

it "leaves it at work with a second one, and says how to come back"
chat 'wait:left' 'type:\x03' 'wait:stopping this turn' 'type:\x03' -- chat one 'leave'; code 130
seen "it goes on until its turn has ended: 'arbor attach one' follows it, 'arbor stop one' ends it"; unseen '^C'; check test "$(state)" = running
chat 'wait:left' 'type:\x03' -- attach one; code 130; seen '> leave'; check test "$(state)" = running
arbor stop one; code 0; until_state cancelled
chat -- attach one; code 3; seen stopped

it "takes every line for a prompt when none is given"
chat 'wait:> ' 'type:say first\r' 'wait:done,' 'wait:> ' 'type:say second\r' 'wait:done,' 'wait:> ' 'type:\x04' -- chat one; code 0
seen first; seen second
arbor chat one </dev/null; code 2; err_has 'PROMPT is missing'
arbor chat one ' '; code 2; err_has 'PROMPT is missing'

it "throws a line away with Ctrl-C, and leaves with a second one"
chat 'wait:> ' 'type:say half a lin' 'run:sleep 0.3' 'type:\x03' 'wait:Ctrl-C once more leaves' 'wait:> ' 'type:say whole\r' 'wait:done,' 'wait:> ' \
	'type:\x03' 'wait:once more' 'type:\x03' -- chat one; code 130
seen whole; check test "$("$ARBOR" streams -n 1 --json | jq -r .prompt)" = 'say whole'

it "only leaves when the program is told to end"
"$ARBOR" chat one 'wait for it' >"$T/piped" 2>&1 & pid=$!
until_state running; for ((n = 0; n < 400; n++)); do "$ARBOR" poll one --json | grep -q user_message && break; sleep 0.05; done
kill $pid; wait $pid; check test $? = 143; check grep -q "it goes on: 'arbor attach one' follows it" "$T/piped"
sleep 0.5; check test "$(state)" = running; arbor stop one; until_state cancelled

it "goes on with what was interrupted"
chat 'wait:left' "run:kill -9 \$(sqlite3 '$ARBOR_HOME/arbor.db' 'SELECT lease_pid FROM run WHERE ended_at IS NULL')" -- chat one leave
code 3; seen 'interrupted: the process that ran it is gone'; seen "'arbor continue one' goes on"
arbor continue one 'say better'; code 0; out_has better

it "tells a pipe and an agent how to answer instead of asking"
"$ARBOR" chat one 'tool touch g' >"$T/piped" 2>&1 & pid=$!
for ((n = 0; n < 400; n++)); do grep -q "it waits: 'arbor answer" "$T/piped" && break; sleep 0.05; done
id=$(sed -n "s/.*arbor answer \([0-9a-f]*\) .*/\1/p" "$T/piped"); arbor answer "$id" allow; code 0
wait $pid; check grep -q 'ran touch g' "$T/piped"; ! grep -q $'\033' "$T/piped" || fail 'there are escapes'
CLAUDECODE=1 chat "wait:it waits: 'arbor answer" "run:$T/answer deny" -- chat one 'tool touch g'; code 0; unseen "$asked"

it "gives events to programs, fails as the agent did, and lists what there is"
arbor chat one 'say it' --json; code 0; check test "$(jq -r .type "$T/out" | tail -n 1)" = complete
arbor chat one 'exit 3' --json; code 3; check test "$(jq -r .type "$T/out" | tail -n 1)" = error; check test ! -s "$T/err"
arbor attach one --json; code 3
arbor chat one 'stderr it broke'; code 3; out_has 'failed: claude ended with code 1 before it was done: it broke'
arbor chats; code 0; out_has one; arbor streams -n 3; code 0; out_has failed
chat -- poll one -n 2; code 0; seen '1  start'; seen 'one is failed; go on with --after'
arbor poll one --json; code 0; check test "$(jq .over "$T/out")" = true
arbor queue one 'say x'; code 10
the_end
