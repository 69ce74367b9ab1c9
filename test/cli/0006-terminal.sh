#!/bin/sh
# What a person sees: widths, colours, the pager, progress, Ctrl-C.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
ARBOR=$BUILD/tool/fixture
esc=$(printf '\033')
plain() { sed "s/$esc\\[[0-9;]*m//g" "$T/out"; }
long=$(printf %0200d 7)

it "prints a table as wide as the terminal, with a header"
for screen in 80x50 120x50 200x50; do
	on_terminal items "$long" -n 4; code 0
	plain >"$T/plain"
	check test "$(wc -l <"$T/plain")" -eq 5
	check grep -q '^ID ' "$T/plain"
	check test "$(wc -L <"$T/plain")" -eq "${screen%x*}"
	check grep -q '…' "$T/plain"
done
screen=40x50 on_terminal items "$long"; code 0; check test "$(plain | wc -L)" -le 48
screen=200x50
on_terminal items; plain >"$T/plain"
check grep -q '12.3 MB' "$T/plain"; check grep -q '2026-11-1[456] [0-2][0-9]:' "$T/plain"

it "takes COLUMNS where the terminal has no size, else 80"
screen=0x0 on_terminal items "$long"; check test "$(plain | wc -L)" -eq 80
COLUMNS=100 screen=0x0 on_terminal items "$long"; check test "$(plain | wc -L)" -eq 100
COLUMNS=100 screen=90x50 on_terminal items "$long"; check test "$(plain | wc -L)" -eq 90

it "measures wide and combining characters"
screen=80x50 on_terminal items '汉字汉字汉字汉字汉字汉字汉字汉字汉字汉字e
'; check test "$(plain | wc -L)" -le 80

screen=80x24
it "uses colour on a terminal, unless told not to"
on_terminal items; check grep -q "$esc\\[35m" "$T/out"
on_terminal items --color never; check test "$(grep -c "$esc" "$T/out")" -eq 0
NO_COLOR=1 on_terminal items; check test "$(grep -c "$esc" "$T/out")" -eq 0
NO_COLOR='' on_terminal items; check grep -q "$esc\\[35m" "$T/out"
dumb() { TERM=dumb "$BUILD/tool/pty" 80x24 "$ARBOR" "$@" >"$T/out" 2>"$T/err"; }
dumb items; check test "$(grep -c "$esc" "$T/out")" -eq 0
dumb items --color always; check grep -q "$esc\\[35m" "$T/out"

# A pager that tells how it was called, and shows what it gets.
cat >"$T/my pager" <<'END'
#!/bin/sh
echo "PAGER($*) LESS=$LESS"
cat
END
cat >"$T/quitter" <<'END'
#!/bin/sh
head -n 2 >/dev/null
echo QUIT
END
sed 's/PAGER/OTHER/' "$T/my pager" >"$T/pager2"
chmod +x "$T/my pager" "$T/quitter" "$T/pager2"

it "starts a pager only when the output is longer than the screen"
export PAGER="$T/pager2"
on_terminal items -n 20; code 0; out_lacks OTHER
on_terminal items -n 30; code 0; out_has 'OTHER() LESS=FRX'; check test "$(plain | wc -l)" -eq 32
screen=80x100 on_terminal items -n 30; out_lacks OTHER
arbor items -n 30; out_lacks OTHER

it "takes ARBOR_PAGER before PAGER, splits it at blanks, and uses no shell"
ln -s "$T/my pager" "$T/pager1"
ARBOR_PAGER="$T/pager1 -x  ; \$(echo)" on_terminal items -n 30; code 0
# shellcheck disable=SC2016 # nobody expands it
out_has 'PAGER(-x ; $(echo))'
LESS=-S on_terminal items -n 30; out_has 'LESS=-S'

it "asks less for colours where LESS does not, and no other program"
mkdir "$T/bin" && cp "$T/my pager" "$T/bin/less"
LESS=-S PAGER="$T/bin/less +1" on_terminal items -n 30; out_has 'PAGER(-R +1) LESS=-S'
LESS=-S PAGER="$T/bin/less" on_terminal items -n 30 --color never; out_has 'PAGER() LESS=-S'
PAGER="$T/bin/less" on_terminal items -n 30; out_has 'PAGER() LESS=FRX'
LESS=-S PAGER="$T/pager1" on_terminal items -n 30; out_has 'PAGER() LESS=-S'

it "prints directly when there is no pager, or none is wanted"
PAGER=/nowhere/pager on_terminal items -n 30; code 0; check test "$(plain | wc -l)" -eq 31
for none in cat ''; do
	PAGER=$none on_terminal items -n 30; code 0; check test "$(plain | wc -l)" -eq 31
done
on_terminal items -n 30 --no-pager; code 0; out_lacks OTHER; check test "$(plain | wc -l)" -eq 31
for words in 'items --help --no-pager' 'items --no-pager -h' '--no-pager --help'; do
	# shellcheck disable=SC2086 # words
	on_terminal $words; code 0; out_lacks OTHER
done

it "is silent and content when the pager is left early"
PAGER="$T/quitter" on_terminal items -n 5000; code 0; out_is QUIT

it "pages help, too"
on_terminal help items; code 0; out_has OTHER

it "works with less"
if command -v less >/dev/null; then
	PAGER=less on_terminal items -n 10; code 0; check test "$(plain | wc -l)" -eq 11
	rc=0
	TERM=xterm PAGER=less "$BUILD/tool/pty" -i q 80x24 "$ARBOR" items -n 4000 >"$T/out" 2>&1 || rc=$?
	code 0; out_has item-1; out_lacks item-3000
else
	skip 'there is no less'
fi
unset PAGER

it "shows how far it is on a terminal, and leaves no trace"
on_terminal slow -n 12; code 0
check grep -q '^.*slowly  *[0-9]*%  [█░]*  .* MB/s  *0:0[01] left' "$T/out"
# What stands behind the last erasure is the result alone.
awk -v RS="$esc\\\\[K" 'END { print }' "$T/out" | sed "s/$esc\\[[0-9;]*m//g" >"$T/last"
check grep -q '^id: ' "$T/last"
check test "$(grep -c '%' "$T/last")" -eq 0

it "shows no progress for what is done at once, with -q, or into a file"
on_terminal slow -n 2; out_lacks %
on_terminal slow -n 8 -q; out_lacks %
arbor slow -n 8; check test ! -s "$T/err"
rc=0
"$BUILD/tool/pty" -e "$T/err" 80x24 "$ARBOR" slow -n 8 >"$T/out" || rc=$?
code 0; check test ! -s "$T/err"

it "stops at Ctrl-C with 130"
rc=0
TERM=xterm "$BUILD/tool/pty" -i "$(printf '\003')" 80x24 "$ARBOR" slow -n 100 >"$T/out" 2>&1 || rc=$?
code 130; out_has 'arbor: slow: stopped'

# ---- Views ---------------------------------------------------------------------------

cat >"$T/show" <<'END'
{"kind":"session","id":"5abf9052-efc9-4b6d-8bd2-b863c3dbcb97","title":"Fix the total","project":"/home/dev/webshop","started":"2026-11-15T18:18:33Z","updated":"2026-11-15T19:00:00Z","prompts":2,"messages":14,"tools":5}
{"kind":"message","id":"1abf9052-efc9-4b6d-8bd2-b863c3dbcb97","role":"user","at":"2026-11-15T18:18:33Z","blocks":[{"id":"a","kind":"text","text":"The total in the checkout is wrong by a cent when there are three items at 0.10 with tax; please find out why."}]}
{"kind":"event","id":"e","type":"turn_duration","text":"12 s"}
{"kind":"message","id":"2abf9052-efc9-4b6d-8bd2-b863c3dbcb97","role":"assistant","model":"claude-opus","blocks":[{"id":"b","kind":"thinking","text":"Floats."},{"id":"c","kind":"tool_use","name":"Bash","tool_id":"t1","input":{"command":"grep -rn total src/\nsecond line","description":"Find"}},{"id":"d","kind":"tool_use","name":"Task","tool_id":"t2","input":{"a":[1,2]}}]}
{"kind":"message","id":"3abf9052-efc9-4b6d-8bd2-b863c3dbcb97","role":"user","blocks":[{"id":"f","kind":"tool_result","tool_id":"t1","text":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n"},{"id":"g","kind":"tool_result","tool_id":"t2","error":true,"text":"no\tsuch file"},{"id":"h","kind":"image"}]}
END
screen=80x100

it "has colours that do not depend on the terminal's own, where there are many"
TERM=xterm-256color "$BUILD/tool/pty" 80x100 "$ARBOR" show "$T/show" >"$T/out" 2>"$T/err"
out_has "${esc}[1;38;5;28muser${esc}[0m  ${esc}[38;5;98m1abf9052${esc}[0m"
TERM=xterm COLORTERM=truecolor "$BUILD/tool/pty" 80x100 "$ARBOR" show "$T/show" >"$T/out" 2>"$T/err"
out_has "${esc}[1;38;5;28muser"

it "shows a conversation to read"
on_terminal show "$T/show"; code 0
out_has "${esc}[1;35muser${esc}[0m  ${esc}[35m1abf9052${esc}[0m"
out_has "${esc}[1massistant"
out_has "${esc}[2mFloats.${esc}[0m"
out_has "${esc}[31mno      such file"
plain >"$T/plain"
check grep -qx 'Fix the total' "$T/plain"
check grep -q '^● Bash  grep -rn total src/ …$' "$T/plain"
check grep -qx '● Task  {"a":\[1,2\]}' "$T/plain"
check grep -qx '  … 3 more lines (--full)' "$T/plain"
check grep -qx '· turn_duration  12 s' "$T/plain"
check test "$(wc -L <"$T/plain")" -le 80
on_terminal show "$T/show" --full; plain >"$T/plain"; check grep -qx '  13' "$T/plain"
check test "$(grep -c -- --full "$T/plain")" -eq 0

it "cuts what follows a part that was shown whole"
sed '1s/"kind":"session"/&,"part":true/' "$T/show" | cat - "$T/show" >"$T/both"
on_terminal show "$T/both"; plain >"$T/plain"
check test "$(grep -cx '  13' "$T/plain")" -eq 1
check test "$(grep -cx '  … 3 more lines (--full)' "$T/plain")" -eq 1

it "writes a conversation into a pipe whole, without colours"
arbor show "$T/show"; code 0
out_has 'when there are three items at 0.10 with tax; please find out why.'
out_has '  13'; out_has '5abf9052-efc9-4b6d-8bd2-b863c3dbcb97'; out_lacks "$esc"; out_lacks '…'
out_has 'grep -rn total src/␊second line'

cat >"$T/search" <<'END'
{"id":"1abf9052-efc9-4b6d-8bd2-b863c3dbcb97","message":"1abf9052-efc9-4b6d-8bd2-b863c3dbcb97","session":"5abf9052-efc9-4b6d-8bd2-b863c3dbcb97","title":"Fix the total","project":"/home/dev/webshop","at":"2026-11-15T18:18:33Z","in":"prompt","score":1200,"snippet":"The total in the checkout is wrong\n by a cent when there are three items at 0.10 with tax; please find out why and fix it, and add a test for it. And then some more words, so that this needs more than three lines on a terminal.","marks":[{"start":4,"length":5},{"start":17,"length":8}]}
{"id":"2abf9052-efc9-4b6d-8bd2-b863c3dbcb97","message":"1abf9052-efc9-4b6d-8bd2-b863c3dbcb97","session":"5abf9052-efc9-4b6d-8bd2-b863c3dbcb97","title":"Fix the total","project":"/home/dev/webshop","at":"2026-11-15T18:18:33Z","in":"thinking","score":1,"snippet":"…total","marks":[{"start":3,"length":5}]}
{"id":"3abf9052-efc9-4b6d-8bd2-b863c3dbcb97","message":"1abf9052-efc9-4b6d-8bd2-b863c3dbcb97","session":"6abf9052-efc9-4b6d-8bd2-b863c3dbcb97","title":"Another","project":"/home/dev/parser","at":"2026-11-15T18:18:33Z","in":"output","score":1,"snippet":"grand total","marks":[{"start":6,"length":5},{"start":-3,"length":5},{"start":9,"length":99},{"start":1,"length":1}]}
END

it "shows hits below their sessions, what was found standing out"
on_terminal search "$T/search"; code 0
out_has "The ${esc}[1;4;31mtotal${esc}[0m in the ${esc}[1;4;31mcheckout${esc}[0m is wrong by"
out_has "…${esc}[1;4;31mtotal${esc}[0m"
plain >"$T/plain"
check test "$(grep -c '^5abf9052  Fix the total  webshop  Nov 1[56] ' "$T/plain")" -eq 1
check test "$(grep -c '^6abf9052  Another  parser' "$T/plain")" -eq 1
check grep -q '^  3abf9052  output   grand total$' "$T/plain"
check test "$(wc -L <"$T/plain")" -le 80

it "shows each session once when its hits alternate with others, the best first"
{ sed -n 3p "$T/search"; sed -n 1p "$T/search"; sed -n 3p "$T/search"; sed -n 2p "$T/search"; } >"$T/alternate"
on_terminal search "$T/alternate"; code 0; plain >"$T/plain"
check test "$(grep -c '^[56]abf9052' "$T/plain")" -eq 2
check test "$(grep -o '^ *[0-9]abf9052' "$T/plain" | tr -d '\n')" = '6abf9052  3abf9052  3abf90525abf9052  1abf9052  2abf9052'
arbor search "$T/alternate"; check test "$(cut -c 1 "$T/out" | tr -d '\n')" = 3132
arbor search --json "$T/alternate"; check test "$(cut -c 14 "$T/out" | tr -d '\n')" = 3132
yes "$T/alternate" | head -n 150 | xargs cat >"$T/many"
on_terminal search --no-pager "$T/many"; plain >"$T/plain"
check test "$(grep -c '^  [123]abf9052' "$T/plain")" -eq 600
check test "$(grep -c '^[56]abf9052' "$T/plain")" -eq 6

it "writes hits into a pipe as every other table"
arbor search "$T/search"; code 0
check test "$(wc -l <"$T/out")" -eq 3; check test ! -s "$T/err"
check grep -q "^1abf9052-efc9-4b6d-8bd2-b863c3dbcb97	5abf9052" "$T/out"
the_end
