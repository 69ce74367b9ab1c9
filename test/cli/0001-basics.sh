#!/bin/sh
# What every command has in common: help, arguments, output, exit codes.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
demo=$PWD/demo
cp -R demo "$T/.claude"
commands='list show log tree search pick agents files usage stats related context projects history plans todos sync sources versions export rebuild dump check call completion help'

# On PATH under its own name, as examples call it.
mkdir "$T/bin" && ln -s "$ARBOR" "$T/bin/arbor"
PATH=$T/bin:$PATH

it "prints its version"
for form in --version version; do
	arbor $form; code 0
	out_is "arbor $(cat VERSION)"
done

it "shows help for the program, with every command and the usual exit codes, short"
for form in help --help -h ''; do
	# shellcheck disable=SC2086 # nothing is an argument, too
	arbor $form; code 0
	for c in $commands; do check grep -qE " $c( |\$)" "$T/out"; done
	out_has 'Exit codes: 0 done; 1 nothing found; 2 '
	check test "$(wc -l <"$T/out")" -lt 24 # a screen, and the next prompt
	check test "$(wc -L <"$T/out")" -le 80
done

it "explains topics, every exit code among them"
arbor help exit-codes; code 0
for e in 0 1 2 3 4 5 6 7 8 9 10 11 70 130; do
	check grep -qE "^ +$e  [a-z]" "$T/out"
done
arbor help environment; code 0
for v in ARBOR_HOME CLAUDE_CONFIG_DIR XDG_DATA_HOME PAGER NO_COLOR; do out_has $v; done
# shellcheck disable=SC2016 # backquotes are text
grep -o '`[A-Z_]*`' docs/SETTINGS.md | grep -o 'ARBOR_[A-Z_]*' | sort -u >"$T/vars"; check test -s "$T/vars"
while read -r v; do out_has "$v"; done <"$T/vars"
arbor help places; code 0
# shellcheck disable=SC2016
sed -n 's/^| `\([a-z._]*\)` | .* | \(yes\|no\) | .*/\1/p' docs/SETTINGS.md >"$T/keys"; check test "$(wc -l <"$T/keys")" -gt 15
while read -r key; do check grep -qE "( |^)$key(,| |\$)" "$T/out"; done <"$T/keys"
arbor help output; code 0; out_has '--json'
arbor help envirnment; code 2; err_has "did you mean 'environment'?"

it "shows help for every command, examples first, in two ways"
for c in $commands; do
	arbor "$c" --help; code 0
	mv "$T/out" "$T/first"
	check grep -qE '^ +arbor' "$T/first"
	check test "$(grep -n '^Examples:' "$T/first" | cut -d: -f1)" -lt \
		"$(grep -n '^Usage: arbor ' "$T/first" | cut -d: -f1)"
	check grep -q -- '--store FILE' "$T/first"
	arbor help "$c"; code 0
	same "$T/first" "$T/out"
	arbor "$c" -h; code 0
	same "$T/first" "$T/out"
	check test "$(wc -L <"$T/out")" -le 80
done

it "shows help even when the rest of the line is wrong"
arbor export --help; code 0
arbor sync one two three --help; code 0

it "gives examples that work"
examples() { # of the help on stdin
	sed -n 's/^  \(arbor [^:]*\)$/\1/p'
}
mkdir "$T/old" "$T/cwd" && cp -R demo "$T/old/.claude"
demo_here "$T/here"
arbor sync --source "$demo" --store "$T/cwd/other.db"; code 0
for c in help $commands; do
	if [ "$c" = help ]; then set --; else set -- "$c"; fi
	"$ARBOR" help "$@" | examples | sed "s|/mnt/old|$T/old|" >"$T/examples"
	check test -s "$T/examples"
	# Examples may want a store and may change it: a fresh one each time.
	while read -r line; do
		rm -rf "$T/store" && ARBOR_HOME=$T/store "$ARBOR" sync -q --source "$T/here"
		# A watch never ends by itself: a second is enough to see that it began. A screen needs a
		# terminal, and somebody who presses Enter.
		case $line in
		*--watch*) least='timeout -s INT 1' good=124 ;;
		*--plain*) least='' good=0 ;;
		*' pick '*) least="env TERM=xterm $BUILD/tool/pty -i $(printf '\r') 80x24" good=0 ;;
		*) least='' good=0 ;;
		esac
		rc=0
		# shellcheck disable=SC2086 # several words, or none
		(cd "$T/cwd" && ARBOR_HOME=$T/store $least bash -c "$line") >"$T/out" 2>"$T/err" </dev/null || rc=$?
		[ $rc = $good ] || { fail "'$line' ended with $rc"; show "$T/err"; }
	done <"$T/examples"
done
arbor sync; code 0

it "says what is wrong with a command, and what may have been meant"
arbor help nosuch; code 2; err_has "no such command or topic 'nosuch'; 'arbor help' lists them"
arbor help exit-code; code 2; err_has "no such command or topic 'exit-code'; did you mean 'exit-codes'?"
arbor help sycn; code 2; err_has "did you mean 'sync'?"
arbor sycn; code 2; err_has "unknown command 'sycn'; did you mean 'sync'?"
arbor source; code 2; err_has "did you mean 'sources'?"
arbor frobnicate; code 2; err_has "'arbor help'"; err_lacks 'did you mean'
arbor help frobnicate; code 2
arbor ''; code 2
arbor -q; code 2; err_has 'which command'
arbor; code 0; out_has 'Usage: arbor VERB'
arbor help sync sources; code 2

it "takes the options of every command before it, too"
arbor --store "$T/before.db" sync --source demo; code 0
arbor --store="$T/before.db" -q sources; code 0; out_has history.jsonl
arbor -q --store "$T/before.db" export history.jsonl; code 0; same demo/history.jsonl "$T/out"

it "says what is wrong with an option, and what may have been meant"
arbor sync --sorce x; code 2; err_has "'--sorce'; did you mean '--source'?"
arbor sources --stor x; code 2; err_has "did you mean '--store'?"
arbor sources --nothing-like-it; code 2; err_lacks 'did you mean'
arbor sources -z; code 2; err_has "'-z'"
arbor sync --source; code 2; err_has 'needs a value'
arbor sync --force=yes; code 2; err_has 'takes no value'
arbor sources --store ''; code 2; err_has '--store: may not be empty'

it "says what is wrong with the number of arguments"
arbor export; code 2; err_has 'usage: arbor export'
arbor export a b; code 2; err_has 'too many'
arbor sync demo; code 2; err_has "too many arguments; did you mean '--source demo'?"
arbor check a; code 2; err_has 'usage: arbor check'
arbor usage dayly; code 2; err_has "arbor: usage: BY: 'dayly' is none of hourly, daily, weekly, monthly, session, model, project, agent, blocks; did you mean 'daily'?"
arbor completion foo; code 2; err_has "arbor: completion: 'foo' is none of bash, zsh, fish"
# shellcheck disable=SC2046 # many words are the point
arbor sources $(seq 1 3000); code 2; err_has 'too many'

it "takes options in every usual form and place"
arbor sources --store="$T/cwd/other.db"; code 0; mv "$T/out" "$T/first"
arbor sources --store "$T/cwd/other.db"; code 0; same "$T/first" "$T/out"
arbor sources --store nowhere.db --store "$T/cwd/other.db"; code 0
same "$T/first" "$T/out"
arbor export --format=raw history.jsonl; code 0; same demo/history.jsonl "$T/out"
arbor export history.jsonl --format raw; code 0; same demo/history.jsonl "$T/out"
arbor export -q history.jsonl -v; code 0; same demo/history.jsonl "$T/out"
arbor export -qv history.jsonl; code 0; same demo/history.jsonl "$T/out"

it "takes everything after -- as an argument"
arbor export -- history.jsonl; code 0; same demo/history.jsonl "$T/out"
arbor export -- --help; code 1; err_has "'--help'"
arbor export -- -q -v; code 2

it "prints errors on stderr only, one line, after its name"
arbor versions nothing-like-it; code 1
for args in 'frobnicate' 'sync --nope' 'export' 'export nothing' 'dump' 'sync --source nowhere' \
	'sources --store nowhere.db' 'check --store nowhere.db' 'help nope'; do
	# shellcheck disable=SC2086 # several arguments
	arbor $args
	check test "$rc" -ne 0
	check test ! -s "$T/out"
	check test "$(wc -l <"$T/err")" -eq 1
	check grep -q '^arbor: ' "$T/err"
done

it "ends with the code that help lists: 1 nothing found, 2 usage"
arbor versions nothing-like-it; code 1
arbor sources --store "$T/none/arbor.db"; code 1; err_has "'arbor sync --store $T/none/arbor.db' makes one"
ARBOR_HOME=$T/none arbor sources; code 1; err_has "'arbor sync' makes one"
check test ! -e "$T/none"
arbor dump; code 2

it "ends with 7 when it may not, 9 when something is too large"
ln -s loop "$T/loop"
arbor sources --store "$T/loop/arbor.db"; code 7
arbor sync --source "$T/loop"; code 7
arbor sources --store "$(printf %05000d 1)"; code 9

it "ends with 8 and says so when its output cannot be written"
if [ -w /dev/full ]; then
	for args in help --version 'sync --help' sources 'versions history.jsonl' 'export history.jsonl' 'dump --logical' \
		check; do
		rc=0
		# shellcheck disable=SC2086 # several arguments
		"$ARBOR" $args >/dev/full 2>"$T/err" || rc=$?
		code 8; err_has 'standard output'
	done
else
	skip 'there is no /dev/full'
fi

it "is silent when a reader of its output goes away"
i=0
mkdir -p "$T/many/projects/p"
while [ $i -lt 2000 ]; do i=$((i + 1)); echo x >"$T/many/projects/p/a-long-name-to-fill-a-pipe-$i.jsonl"; done
arbor sync -q --source "$T/many" --store "$T/many.db"; code 0
"$ARBOR" sources --store "$T/many.db" 2>"$T/err" | head -n 1 >"$T/out"
out_has 'a-long-name'
check test ! -s "$T/err"
"$ARBOR" export history.jsonl 2>"$T/err" | true
check test ! -s "$T/err"

it "stops at Ctrl-C with 130, keeps what it has, and completes it next time"
mkdir -p "$T/big/projects/p"
echo '{"type":"user"}' >"$T/big/projects/p/small.jsonl"
truncate -s 60G "$T/big/projects/p/big.jsonl"
rc=0
# In the foreground: elsewhere timeout sends its signal twice.
timeout --foreground --preserve-status -s INT 1 "$ARBOR" sync --source "$T/big" --store "$T/big.db" >"$T/out" 2>"$T/err" || rc=$?
code 130; err_has 'what was read so far is kept'; err_lacks 'files,'
arbor check --store "$T/big.db"; code 0
truncate -s 100000 "$T/big/projects/p/big.jsonl"
arbor sync --source "$T/big" --store "$T/big.db"; code 0
arbor export projects/p/big.jsonl --store "$T/big.db"; code 0; same "$T/big/projects/p/big.jsonl" "$T/out"
arbor export projects/p/small.jsonl --store "$T/big.db"; code 0; same "$T/big/projects/p/small.jsonl" "$T/out"

the_end
