#!/usr/bin/env bash
# Choosing a conversation on a screen, as a person does it, and the lines for other pickers.
. test/harness/lib.sh
export ARBOR_HOME=$T/store
cp -r demo "$T/claude"
esc=$'\033' up=$'\033[A' down=$'\033[B' enter=$'\r'
newest=d4861786-f226-4170-a3f5-719f14be0776

# STEP... SIZE [ARG]...: what is seen in $T/seen, what is printed in $T/out.
pick() {
	local steps=()
	while [ "${1#-}" != "$1" ]; do steps+=("$1" "$2"); shift 2; done
	rc=0
	TERM=${term-xterm} "$BUILD/tool/screen" -o "$T/out" -e "$T/err" "${steps[@]}" "$1" "$ARBOR" pick "${@:2}" >"$T/seen" || rc=$?
	! grep '!!' "$T/seen" || fail "${steps[*]}: $(grep -m 1 '!!' "$T/seen")"
}
seen() { grep -qF -- "$1" "$T/seen" || { fail "the screen lacks '$1'"; show "$T/seen"; }; }
unseen() { ! grep -qF -- "$1" "$T/seen" || { fail "the screen has '$1'"; show "$T/seen"; }; }
nothing() { check test ! -s "$T/out"; check test ! -s "$T/err"; }

it "says what to do while there is nothing, and that it needs a terminal"
pick 80x24; code 1; err_has sync
arbor sync --source "$T/claude"; code 0
rc=0; setsid -w "$ARBOR" pick >"$T/out" 2>"$T/err" </dev/null || rc=$?
code 2; err_has 'arbor: pick: there is no terminal; --plain prints lines for other pickers'
term=dumb pick 80x24; code 2; err_has -- '--plain'

it "lists the sessions last touched, and prints the id of the one that is taken"
pick -p first -k "$enter" 80x24; code 0; out_is $newest; check test ! -s "$T/err"
seen '❯ type what was said'; seen 'dotfiles       Measure how long my shell takes to start'
seen '/home/dev/dotfiles  main'; seen "$newest  "; seen '• Go ahead with step 1'; seen '1/15 sessions'
pick -k "$down$down$up$down$enter" 80x24; code 0; third=$(cat "$T/out")
arbor list -0 -n 3; check test "$(tr '\0' '\n' <"$T/out" | tail -n 1)" = "$third"

it "finds while one types, the last word unfinished, and shows what is around it"
pick -k 'integer cen' -p typed -k "$enter" 200x50; code 0; out_is a142ef82-8817-4271-a6f0-ba29c1d2a50a
seen '❯ integer cen_'; seen 'Integer cents. Sketch the migration'
seen '│ How should we store prices in the orders table?'; seen 'and 2 more here'; seen '1/4 sessions'
pick -k 'integer cents' -k "$enter" 80x24; code 0; out_is a142ef82-8817-4271-a6f0-ba29c1d2a50a
pick -k 'qqqxqqq' -p typed -k "$enter" -k "$esc" 80x24; code 130; nothing
seen "nothing found for 'qqqxqqq'"; seen '0 found'; unseen 'Measure how long'
pick -k 'integer cents' -k $'\025' -p cleared -k "$enter" 80x24; seen '1/15 sessions'; out_is $newest

it "takes what was typed before Enter, however fast it came"
pick -k "integer cents$enter" 80x24; code 0; out_is a142ef82-8817-4271-a6f0-ba29c1d2a50a

it "begins with the words it is given, in a project"
pick -p begun -k "$enter" 80x24 integer cents; code 0; out_is a142ef82-8817-4271-a6f0-ba29c1d2a50a
seen '❯ integer cents_'
pick -p begun -k "$enter" 80x24 --project parser; code 0; seen '/5 sessions'; unseen webshop
pick 80x24 --project nosuchthing; code 1; err_has 'no session of this project'

it "prints what was found, or the command that resumes, when asked to"
pick -k 'integer cents' -p hits -k "$enter" 80x24 --print hit; code 0; seen ' hits '
hit=$(cat "$T/out"); arbor show "$hit"; code 0; out_has 'Integer cents. Sketch the migration'
pick -k "$enter" 80x24 --print resume; code 0; out_is "arbor resume $newest --cwd ."

it "leaves with 130 and prints nothing"
for key in "$esc" $'\003' $'\007' $'\004'; do pick -k "$key" 80x24; code 130; nothing; done

it "gives the terminal back when it is ended"
for signal in 1 2 15; do pick -s $signal 80x24; code $((128 + signal)); nothing; done
# Also when it crashes. Sanitizers have their own ways to end.
if [ "${BUILD##*/}" = dev ]; then pick -s 6 80x24; code 134; fi

it "edits the line, and pasted text acts on nothing"
pick -k 'cents integer' -k $'\027' -p word -k "$esc" 80x24; check grep -qx '❯ cents' "$T/seen"
pick -k 'centz' -k $'\177s' -p fixed -k "$esc" 80x24; seen '❯ cents_'
pick -k 'ents' -k $'\001c' -p front -k "$esc" 80x24; seen '❯ cents'
pick -k "${esc}[200~integer"$'\n\003'"cents${esc}[201~" -p pasted -k "$esc" 80x24; code 130; seen '❯ integer cents_'
pick -k "${esc}[99;5u${esc}[<0;1;1M" -p unknown -k "$esc" 80x24; seen '❯ type what was said'

it "moves by pages and to both ends"
pick -k "${esc}[6~" -p page -k "${esc}[F" -p end -k "${esc}[H" -k "$enter" 80x24; code 0; out_is $newest
seen '11/15'; seen '15/15'

it "shows and hides the preview, and moves in it"
pick -k $'\t' -p hidden -k "$esc" 80x24; unseen '• Go ahead'; unseen '────'
pick -k 'tokenizer' -k "${esc}[1;2B${esc}[1;2B${esc}[1;2A" -p moved -k "$esc" 80x24; code 130

it "follows the size of the terminal, however small"
pick -r 200x50 -p wide -r 20x6 -p small -r 1x1 -p tiny -r 3x2 -r 80x24 -p back -k "$enter" 80x24; code 0; out_is $newest
check test "$(sed -n '/^== wide/,/^== small/p' "$T/seen" | grep -c '│')" -eq 48
check test "$(sed -n '/^== small/,/^== tiny/p' "$T/seen" | wc -L)" -le 20
for size in 1x1 2x2 5x2 2x5 5x3 20x6 300x100; do pick -k 'integer cents' -p "$size" -k "$enter" $size; code 0; done

it "ends by Enter and by a signal in the smallest window"
for size in 1x1 5x2 2x5; do
	pick -p "$size" -k "$enter" $size; code 0; out_is $newest
	pick -p "$size" -s 15 $size; code 143
done

it "comes back after it was stopped"
pick -s 20 -p back -k "$enter" 80x24; code 0; out_is $newest; seen 'Measure how long'
pick -s 19 -s 18 -p back -k "$enter" 80x24; code 0; seen 'Measure how long'

it "has colours as everything has"
colours() { TERM=xterm "$BUILD/tool/pty" -i "$esc" 80x24 sh -c "\"\$0\" pick $1 >/dev/null" "$ARBOR" >"$T/raw" 2>&1; grep -c "$esc\\[[0-9;]*[1-9]m" "$T/raw"; }
check test "$(colours '')" -gt 0
check test "$(colours '--color never')" -eq 0
check test "$(NO_COLOR=1 colours '')" -eq 0
check test "$(NO_COLOR=1 colours '--color always')" -gt 0

it "prints lines for other pickers"
arbor pick --plain; code 0
check test "$(wc -l <"$T/out")" -eq 15
check test "$(head -n 1 "$T/out" | cut -f 1,3,4)" = "$newest	/home/dev/dotfiles	Measure how long my shell takes to start"
check grep -qE '^[-0-9a-f]{36}	20[0-9-]*T[0-9:.]*Z	/' "$T/out"
arbor pick --plain integer cents; code 0; check test "$(cut -f 1 "$T/out" | sort | uniq -d | wc -l)" -eq 0
check test "$(head -n 1 "$T/out" | cut -f 4,5)" = 'How should we store prices in the orders table?	Integer cents. Sketch the migration'
arbor pick --plain --print hit integer cents; check test "$(wc -l <"$T/out")" -gt 4
arbor pick --plain --color always -n 2; check test "$(wc -l <"$T/out")" -eq 2; out_lacks "$esc"
arbor pick --plain cent; code 0; cp "$T/out" "$T/unfinished"; arbor pick --plain cents; same "$T/out" "$T/unfinished" # as on the screen
arbor pick --plain qqqxqqq; code 1; err_has 'nothing found'
arbor pick --plain -n 100000 cents; code 0
long=$(printf 'qqqxqqq%.0s ' {1..2000}); arbor pick --plain "$long"; code 1; err_has 'nothing found'
pick 80x24 "$long"; code 9; err_has 'too many words to begin with'
arbor pick --json; code 2

it "has every session in which something was said, however often in another, and says when there are more"
mkdir -p "$T/many/projects/-w"
id=77777777-0000-4000-8000-0000000000
for n in 10 11 12 13 14 15; do
	for m in $(seq 1 $((n == 10 ? 30 : 1))); do
		printf '{"type":"user","uuid":"u%s%s","sessionId":"s","cwd":"/w","timestamp":"2026-11-%s00:00:00Z","message":{"role":"user","content":"the quokka of %s-%s"}}\n' \
			$n "$m" "${n}T" $n "$m"
	done >"$T/many/projects/-w/$id$n.jsonl"
done
arbor --store "$T/many.db" sync --source "$T/many"; code 0
arbor --store "$T/many.db" pick --plain quokka -n 6; code 0; check test "$(cut -f 1 "$T/out" | sort -u | wc -l)" -eq 6
check test "$(wc -l <"$T/out")" -eq 6; err_lacks more
arbor --store "$T/many.db" pick --plain quokka -n 5; check test "$(wc -l <"$T/out")" -eq 5
err_has 'there are more than these 5 sessions; --limit shows more'
arbor --store "$T/many.db" pick --plain -n 5; err_has 'more than these 5 sessions'
arbor --store "$T/many.db" search quokka --each 2 -n 100; check test "$(wc -l <"$T/out")" -eq 7

it "shows titles first, and no handles"
pick -k 'integer cents' -p found -k "$esc" 200x50; seen 'How should we store prices in the …  Integer cents. Sketch the migration'; unseen '::'
the_end
