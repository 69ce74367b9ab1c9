#!/bin/sh
# What README and guides show works: each block of commands after a line
# <!-- test --> is run, in order, in one folder that holds demo/. A block after
# <!-- output --> is what the commands before it print.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh

# Writes the blocks of a page as $T/blocks/PAGE-NN.test and PAGE-NN.output.
mkdir "$T/blocks"
blocks_of() { # PAGE NAME
	awk -v to="$T/blocks/$2-" '
	/^<!-- (test|output) -->$/ { kind = $2; next }
	/^```/ && inside { inside = 0; kind = ""; close(file); next }
	/^```/ && kind != "" { inside = 1; file = sprintf("%s%02d.%s", to, ++n, kind); printf "" >file; next }
	inside { print >file; next }
	NF { kind = "" }' "$1"
}
for page in README.md docs/HANDLES.md docs/RENDERING.md; do
	name=$(basename "$page" .md)
	[ ! -f "$page" ] || blocks_of "$page" "$name"
done

if [ -z "$(ls "$T/blocks")" ]; then
	it "runs the commands of README.md"
	skip 'no page has a block that is marked as a test'
	the_end
fi

mkdir "$T/bin" "$T/cwd" && ln -s "$ARBOR" "$T/bin/arbor" && cp -R demo "$T/cwd/demo"
# Blocks for a folder of one's own find one; those for the demo name it. Whoever
# reads the README has run `make run` before.
cp -R demo "$T/.claude"
arbor sync
PATH=$T/bin:$PATH
for block in "$T"/blocks/*; do
	number=$(basename "$block")
	page=${number%%-*}.md
	number=${number#*-}
	number=${number%.*}
	case $block in
	*.test)
		it "runs block $number of $page: $(head -n 1 "$block")"
		rc=0
		(cd "$T/cwd" && bash -euo pipefail "$block") >"$T/out" 2>"$T/err" </dev/null || rc=$?
		code 0 ;;
	*.output)
		it "prints what block $number of $page shows"
		same "$block" "$T/out" ;;
	esac
done

the_end
