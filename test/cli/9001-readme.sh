#!/bin/sh
# What the README and other pages show works: each block of commands after a line
# <!-- test --> is run, in order, in one folder that holds demo/. A block after
# <!-- output --> is what the commands before it print; one after <!-- file NAME --> is a file in HOME. A block after
# <!-- terminal --> is a command behind a $, and the screen of 80 columns that it leaves, whatever the year is.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh

mkdir "$T/bin" "$T/cwd" && ln -s "$ARBOR" "$T/bin/arbor" && cp -R demo "$T/cwd/demo"
# Blocks for a folder of one's own find one; those for the demo name it. Whoever
# reads the README has run `make run` before.
cp -R demo "$T/.claude"
arbor sync
PATH=$T/bin:$PATH
export ARBOR_CLAUDE="$PWD/test/harness/claude.py" # agents are driven with a client that does what it is told

# Behind a month and a day stands the time, or in another year that.
dateless() { sed 's/\([A-Z][a-z][a-z] [ 0-9][0-9]\) \([0-9][0-9]:[0-9][0-9]\| [0-9][0-9][0-9][0-9]\)/\1 TIME/' "$1"; }

screen() { # BLOCK
	(cd "$T/cwd" && TZ=UTC TERM=dumb "$BUILD/tool/pty" 80x24 sh -c "$(sed -n '1s/^\$ //p' "$1")") </dev/null 2>&1 |
		tr -d '\r' >"$T/out"
	sed 1d "$1" >"$T/wanted" && dateless "$T/wanted" >"$T/expected" && dateless "$T/out" >"$T/shown"
	check test -s "$T/expected"
	diff "$T/expected" "$T/shown" | sed 's/^/# /'
	same "$T/expected" "$T/shown"
}

run_page() { # PAGE
	# Writes the blocks as $T/blocks/NN.test and NN.output.
	rm -rf "$T/blocks" && mkdir "$T/blocks"
	[ ! -f "$1" ] || awk -v to="$T/blocks" '
		/^<!-- (test|output|terminal) -->$/ { kind = $2; next }
		/^<!-- file [^ ]* -->$/ { kind = "file"; name = $3; next }
		/^```/ && inside { inside = 0; kind = ""; close(file); next }
		/^```/ && kind != "" { inside = 1; file = sprintf("%s/%02d.%s", to, ++n, kind); printf "" >file
			if (kind == "file") print name >(file ".name"); next }
		inside { print >file; next }
		NF { kind = "" }' "$1"
	if [ -z "$(ls "$T/blocks")" ]; then
		it "runs the commands of $1"
		skip "$1 has no block that is marked as a test"
	fi
	for block in "$T"/blocks/*; do
		number=$(basename "$block" | cut -c 1-2)
		case $block in
		*.name) ;;
		*.file)
			file=$T/$(cat "$block.name")
			mkdir -p "$(dirname "$file")" && cp "$block" "$file" && chmod u+x "$file" ;;
		*.test)
			it "runs block $number of $1: $(head -n 1 "$block")"
			rc=0
			(cd "$T/cwd" && bash -euo pipefail "$block") >"$T/out" 2>"$T/err" </dev/null || rc=$?
			code 0 ;;
		*.output)
			it "prints what block $number of $1 shows"
			same "$block" "$T/out" ;;
		*.terminal)
			it "shows on a terminal what block $number of $1 shows"
			screen "$block" ;;
		esac
	done
}

for page in README.md docs/TREES.md docs/HANDLES.md docs/RENDERING.md docs/EXTENDING.md docs/RPC.md docs/LIVE.md; do run_page $page; done
the_end
