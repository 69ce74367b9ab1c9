#!/bin/sh
# tools/run.sh ARBOR: mirror what is there, say what came of it and what to try
# next. Behind `make run`.
#
# Claude Code's folder goes into the default store. Where there is none, demo/
# goes into a store of its own below build/, so that the two never mix.
set -eu

arbor=${1:?usage: tools/run.sh ARBOR}
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
if [ "$top" = "$PWD" ]; then top=''; else top=$top/; fi
claude=${CLAUDE_CONFIG_DIR:-$HOME/.claude}

# As a word of a shell command, quoted only where it has to be.
word() {
	case $1 in
	*[!A-Za-z0-9_./-]*)
		printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;;
	*) printf %s "$1" ;;
	esac
}

# With the home folder written as people write it.
short() {
	tilde='~'
	case $1 in
	"$HOME"/*) printf %s "$tilde/${1#"$HOME"/}" ;;
	*) printf %s "$1" ;;
	esac
}

if [ -d "$claude/projects" ]; then
	what=$(short "$claude")
	set -- --source "$claude"
	option=''
else
	what="the demo (there is no $(short "$claude")/projects)"
	ARBOR_HOME=${top}build/demo
	export ARBOR_HOME
	# The label keeps it the same folder when the project has moved.
	set -- --source "${top}demo" --label claude
	option=" --store $(word "$ARBOR_HOME/arbor.db")"
fi
store=${ARBOR_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/arbor}/arbor.db

echo "Mirroring $what"
code=0
"$arbor" sync "$@" || code=$?
# 3: some files could not be read; each was named, the others are kept.
case $code in
0 | 3) ;;
*) exit "$code" ;;
esac

list=$(mktemp)
trap 'rm -f "$list"' EXIT
empty=0
"$arbor" sources >"$list" 2>/dev/null || empty=$?
if [ "$empty" != 0 ]; then
	echo "There is nothing to keep yet: no session has been written."
	exit "$code"
fi

# Sums over the columns id, kind, size, generations, state, path.
tab=$(printf '\t')
awk -F "$tab" '
	function many(n, one) { return n " " one (n == 1 ? "" : "s") }
	function human(n, unit) {
		unit = "B"
		if (n >= 1e3) { n /= 1e3; unit = "kB" }
		if (n >= 1e3) { n /= 1e3; unit = "MB" }
		if (n >= 1e3) { n /= 1e3; unit = "GB" }
		return sprintf(unit == "B" ? "%d %s" : "%.1f %s", n, unit)
	}
	{ files++; total += $3; kind[$2]++ }
	END {
		main = kind["transcript"] + 0
		agents = kind["subagent"] + 0
		printf "\nKept:  %s, %s: %s, %s, %s\n", many(files, "file"),
			human(total), many(main, "session"),
			many(agents, "sub-agent"),
			many(files - main - agents, "other")
	}' "$list"
echo "Store: $(short "$store")"

if [ "$("$arbor" list --limit 1 2>/dev/null | wc -l)" -gt 0 ]; then
	printf '\nThe last conversations:\n'
	"$arbor" list --limit 10 --no-pager
fi

me=$(word "$arbor")
printf '\nNow try:\n'
echo "  $me list$option"
echo "  $me search WORDS$option"
echo "  $me show @$option"
echo "  $me help"
exit "$code"
