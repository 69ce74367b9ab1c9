#!/bin/sh
# train.sh BUILD ORDER: what people do most, done with a program that counts which ways it takes, so that
# the compiler knows (see PROFILE in the Makefile). Counts are added to files beside the objects; into ORDER goes
# how the linker is to lay the program out (tools/order.sh).
#
# Conversations are those of demo/, many times over and each time with other ids, and made-up ones
# with all that can be odd about files. Nothing is measured here and nothing depends on what comes out.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
build=$PWD/${1:?usage: tools/train.sh BUILD ORDER}
order=$PWD/${2:?usage: tools/train.sh BUILD ORDER}
echo "RUN $1: trained with what people do"

work=$(mktemp -d "${TMPDIR:-/tmp}/arbor-train-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/claude"
"$build/tool/replicate" demo "$work/claude" 60
"$build/tool/mktree" "$work/odd" 1 20 4000000
forget() { find "$build" -name '*.gcda' -exec rm -f {} +; }

cd "$work/home"
# A search may find nothing (1), and odd files may not all be read (3); what else fails says why, and trains nobody.
arbor() {
	code=0
	env -i PATH="$PATH" HOME="$work/home" "$build/arbor" "$@" --store "$work/arbor.db" >"$work/out" 2>&1 || code=$?
	case $code in
	0 | 1 | 3) ;;
	*)
		cat "$work/out" >&2
		echo "train: 'arbor $*' ended with code $code" >&2
		exit 1
		;;
	esac
}

mirror() {
	arbor sync --source "$work/claude"
	arbor sync --source "$work/claude"
	arbor sync --source "$work/odd"
}
search() {
	while read -r query; do
		for _ in 1 2 3; do arbor search --limit 10 "$query"; done
		arbor search --json --limit 10 "$query"
	done <"$work/queries"
}
cat >"$work/queries" <<-'QUERIES'
	integer
	price
	the
	test
	webshop
	money
	parseExpression
	is_error
	nothingsaysthis
	integer cents
	price table
	"integer cents"
	"the tests"
	pars*
	con*
	int*
	pric*
	test*
	the*
	price OR cents
	error OR test
	the OR tests
	integer OR money
	price -cents
	NEAR(integer cents, 5)
	role:user price
	role:assistant the
	tool:Bash test
	after:2026-01-01 price
	before:2027-01-01 test
	is:error test
QUERIES

# What a search runs is asked for while nothing else is counted.
mirror
forget
search
arbor usage daily
"$top/tools/order.sh" "$build" >"$order"

rm "$work"/arbor.db*
forget
mirror
search
for _ in 1 2 3; do
	for period in daily monthly session model project; do arbor usage $period --json; done
	arbor list
	arbor projects
	arbor stats
	arbor show @
	arbor tree @
	arbor log @
	arbor log @ --as-sent
	arbor branches @
	arbor files @
	arbor todos
	arbor related money.ts
	arbor context webshop
	arbor export history.jsonl
done
arbor check
