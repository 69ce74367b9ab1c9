#!/usr/bin/env bash
# What was typed, as history.jsonl has it, also when that is gone.
. test/harness/lib.sh
export ARBOR_HOME=$T/store TZ=UTC
S=$T/claude
cp -r demo "$S"
H=$S/history.jsonl
arbor sync --source "$S"; code 0
lines() { check test "$(wc -l <"$T/out")" -eq "$1"; }
typed() { check test "$(cut -f 3 "$T/out" | tr '\n' '|')" = "$1"; }

it "lists what was typed, the newest first"
arbor history; code 0; lines 9
check test "$(head -n 1 "$T/out")" = "$(printf '2026-11-12T19:12:53.082Z\t/home/dev/dotfiles\t/exit')"
check test "$(cut -f 1 "$T/out" | sort -r | cmp - <(cut -f 1 "$T/out") && echo sorted)" = sorted
arbor history -n 2; lines 2; err_has '2 of 9; -n 0 lists all'
arbor history -n 1 --json
out_is '{"v":1,"at":"2026-11-12T19:12:53.082Z","project":"/home/dev/dotfiles","text":"/exit","session":"0ea33764-9f05-462f-a1d4-51fb8fdac471","root":"claude"}'

it "finds words by their beginning, whatever their case, and signs as they are"
arbor history PROM bash; code 0; typed 'Start a bashrc with a short prompt and a safe rm|'
arbor history 'load errors'; typed 'Does it load without errors?|'
arbor history '?'; typed 'Does it load without errors?|why is the build so slow?|'
arbor history '?' '.'; code 1
arbor history '?' it; typed 'Does it load without errors?|'
arbor history nothing of the kind; code 1; err_has 'nothing was typed, or nothing like that'

it "lists those of a project, a session, or since a time"
for project in webshop /home/dev/webshop /home/dev/webshop/; do
	arbor history --project $project; code 0; typed 'explain the layout of this repository|/init|'
done
arbor history --project /home; lines 9
arbor history --project webs; code 1; err_has "no session of this project: 'webs'; did you mean /home/dev/webshop?"
arbor history --session 2d703fcd; code 0; typed '/exit|why is the build so slow?|'
arbor history --session 2D703FCD-6ad3; lines 2
arbor history --session zzzz; code 2
arbor history --since 2026-10-19; lines 7
arbor history --since 2026-10-19T14:00:00Z; lines 6
arbor history --since 1d --project webshop; code 1
arbor history --since whenever; code 2; err_has 'such as 2026-11-15, yesterday, 7d'

it "gives programs texts with line ends, and what was pasted"
printf '{"display":"two\\nlines [Pasted text #1]","pastedContents":{"1":{"id":1,"type":"text","content":"needle"}},"timestamp":1794600000000,"project":"/p","sessionId":"s"}\n' >>"$H"
arbor sync --source "$S"
arbor history needle -0; check test "$(od -An -c "$T/out" | tr -d ' \n')" = 'two\nlines[Pastedtext#1]\0'
arbor history needle --json; out_has '"pasted":{"1":{"id":1,"type":"text","content":"needle"}}'
arbor history needle; out_has 'two␊lines'
arbor history --project p; code 0; lines 1  # though no session is kept of it

it "counts lines it cannot understand, but not one that is being written"
printf 'nonsense\n{"display":7}\n\n{"display":"no time"}\n{"display":"torn' >>"$H"
arbor sync --source "$S"; arbor history -n 2; code 0; err_has '2 lines of the history cannot be understood'
typed 'no time|two␊lines [Pasted text #1]|'
printf '"}' >>"$H"; arbor sync --source "$S"; arbor history torn; code 0; typed 'torn|'

it "reads the newest version alone when the history was cut"
printf '{"display":"start anew","timestamp":1794700000000}\n' >"$H"
arbor sync --source "$S"; arbor history; typed 'start anew|'

it "joins the histories of several folders by time"
mkdir "$T/second" && cp demo/history.jsonl "$T/second/" && arbor sync --source "$T/second"
arbor history; lines 10; check test "$(head -n 1 "$T/out" | cut -f 3)" = 'start anew'

it "still answers when the file is gone, and says so"
rm -r "$H" "$T/second"; mkdir "$T/second"; arbor sync --source "$S"
arbor history; code 0; lines 10; err_has 'history.jsonl is gone'
arbor history --json anew; out_has '"vanished_at":"20'
the_end
