#!/bin/sh
# Walks the table: whatever has a verb has help, a manual page, completions and
# examples that run.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
mkdir "$T/bin" "$T/cwd" "$T/old" && ln -s "$ARBOR" "$T/bin/arbor"
PATH=$T/bin:$PATH
cp -R demo "$T/.claude" && cp -R demo "$T/old/.claude"
arbor sync; arbor sync --source demo --store "$T/cwd/other.db"
arbor call hub.methods; sed -n 's/.*"verb":"\([^"]*\)".*/\1/p' "$T/out" >"$T/verbs"
arbor complete ''; cut -f 1 "$T/out" >"$T/all"

it "has verbs to walk"
check test "$(wc -l <"$T/verbs")" -ge 6
while read -r v; do check grep -qx "$v" "$T/all"; done <"$T/verbs"

it "has help for each, with every option it takes"
while read -r v; do
	arbor help "$v"; code 0
	out_has "Usage: arbor $v"; out_has Examples:
	arbor complete "$v" --; cut -f 1 "$T/out" >"$T/options"
	check test -s "$T/options"
	arbor help "$v"
	while read -r o; do out_has "$o"; done <"$T/options"
done <"$T/all"

it "has help for each method, also for those that have no verb"
arbor call hub.methods; sed -n 's/.*"name":"\([^"]*\)".*/\1/p' "$T/out" >"$T/methods"
while read -r m; do
	arbor help "$m"; code 0
	out_has "Usage: arbor call $m"; out_has Examples:; out_lacks 'In a pipe'
done <"$T/methods"
arbor help arbor.tree_crate; code 1; err_has "did you mean 'arbor.tree_create'?"

it "says which columns go into a pipe, of those that print columns there"
for v in list search sources files; do
	arbor help $v; out_has 'In a pipe its columns are'
	arbor help --man $v; out_has 'In a pipe its columns are'
done
for v in show sync check export help; do arbor help $v; out_lacks 'In a pipe its columns are'; done

it "has a manual page for each that mandoc finds nothing wrong with"
tools/pages.sh "$ARBOR" "$T/pages" || fail 'no pages'
while read -r v; do
	check test -s "$T/pages/arbor-$v.1"
	check grep -q "^.Xr arbor-$v 1" "$T/pages/arbor.1"
done <"$T/all"
if command -v mandoc >/dev/null; then
	for page in "$T"/pages/*.1; do
		mandoc -T lint -W warning "$page" >"$T/lint" 2>&1 || { fail "${page##*/}"; show "$T/lint"; }
	done
else
	skip 'there is no mandoc'
fi

it "prints what can be typed, also behind groff"
check grep -q '^\.Dl arbor show @\\(ti1$' "$T/pages/arbor-show.1"
! grep -n '~' "$T"/pages/*.1 || fail 'a tilde becomes an accent'

it "prints the same pages tomorrow"
check grep -q '^\.Dd [A-Z][a-z]* [0-9]*, 20[0-9][0-9]$' "$T/pages/arbor.1"
cp "$T/pages/arbor.1" "$T/first"
if command -v faketime >/dev/null; then faketime '+400 days' "$ARBOR" help --man >"$T/out"; else arbor help --man; fi
same "$T/first" "$T/out"

it "mentions each in the completions of every shell"
for shell in bash zsh fish; do
	arbor completion $shell; code 0
	while read -r v; do check grep -qw -- "$v" "$T/out"; done <"$T/all"
done
arbor completion tcsh; code 2; err_has 'none of bash, zsh, fish'

it "prints completions that their shells understand"
tried=
for shell in bash zsh fish; do
	command -v $shell >/dev/null || continue
	tried="$tried $shell"
	$shell -n "$T/pages/arbor.$shell" || fail "$shell -n"
done
[ -n "$tried" ] || skip 'there is no shell to ask'
echo "# tried:$tried"

# What bash would offer for a line; its last word is being typed.
offered() {
	# shellcheck disable=SC2016 # the inner shell expands
	bash -c 'compopt() { :; }; source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _arbor; printf "%s\n" "${COMPREPLY[@]}"' \
		_ "$T/pages/arbor.bash" arbor "$@" >"$T/out" 2>"$T/err"
	check test ! -s "$T/err"
}

it "completes verbs, options, values, files and names of what is kept, in bash"
offered sou; out_is sources
offered export --gen; out_is --generation
offered export --format ''; out_is raw
offered export --format = r; out_is raw
offered sync --color a; out_has auto; out_has always
offered --store x sou; out_is sources
(cd "$T/cwd" && offered sync --source oth; out_has other.db)
"$ARBOR" sources -0 | tr '\0' '\n' | head -n 1 >"$T/id"
offered export "$(cut -c 1-10 "$T/id")"; same "$T/id" "$T/out"
offered call hub.ha; out_is hub.hash
offered call arbor.tree_create --ow; out_is --owner
offered help hub.ha; out_is hub.hash
offered list --project web; out_is webshop
offered list --project = web; out_is webshop
offered list --project =; out_has /home/dev/webshop
offered list -p /home/dev/p; out_is /home/dev/parser
offered help ex; out_has export; out_has exit-codes

it "says nothing and makes nothing when it cannot complete"
for words in '' 'nonsense' 'nonsense x' 'export x' 'export --generation' '--store' 'call nonsense.x --'; do
	# shellcheck disable=SC2086 # several words
	arbor complete --store "$T/no/store.db" $words; code 0; check test ! -s "$T/err"
	ARBOR_HOME=$T/no arbor complete export x; code 0; check test ! -s "$T/err"; check test ! -s "$T/out"
done
check test ! -e "$T/no"

it "gives examples that run, for every method"
mkdir -p "$T/.config/arbor"
printf '{ "hubs": { "notes": { "command": ["%s"] } } }\n' "$PWD/examples/notes/notes.py" >"$T/.config/arbor/settings.json"
arbor call hub.schema
grep -o '"command":"[^"\\]*\(\\.[^"\\]*\)*"' "$T/out" | sed 's/^"command":"//; s/"$//; s/\\\(.\)/\1/g' >"$T/examples"
check test "$(wc -l <"$T/examples")" -ge 10
export ARBOR_HOME="$T/full"
rm -r "$T/.claude"; demo_here "$T/.claude"
arbor sync -q; code 0; plant_trees
unset ARBOR_HOME
export ARBOR_CLAUDE="$PWD/test/harness/claude.py"
n=0
while read -r line; do
	# Another one each time: an agent of the example before may be about to close the last.
	rm -rf "$T/store.$n"; n=$((n + 1)); cp -R "$T/full" "$T/store.$n"
	line=$(printf '%s\n' "$line" | sed "s|/mnt/old|$T/old|")
	# A watch never ends by itself: a second is enough to see that it began.
	case $line in *--watch*) least='timeout -s INT 1' good=124 ;; *) least='' good=0 ;; esac
	(cd "$T/cwd" && ARBOR_HOME=$T/store.$n $least bash -c "exec arbor $line") >"$T/out" 2>"$T/err" </dev/null
	rc=$?
	[ $rc = $good ] || { fail "'arbor $line' ended with $rc"; show "$T/err"; }
done <"$T/examples"
rm "$T/.config/arbor/settings.json"

it "starts as fast as a program can"
# A regression would open the store or read a file here; that is what is looked for,
# not a time.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	for args in --version --help 'sync --help' 'help export'; do
		# shellcheck disable=SC2086 # several arguments
		ASAN_OPTIONS=detect_leaks=0 strace -f -e trace=openat,execve,clone,clone3 -o "$T/trace" "$ARBOR" $args >/dev/null 2>&1
		! grep -E 'arbor\.db|\.claude' "$T/trace" || fail "$args opens files"
		check test "$(grep -c 'execve\|clone' "$T/trace")" -eq 1
	done
else
	skip 'there is no strace that works here'
fi
the_end
