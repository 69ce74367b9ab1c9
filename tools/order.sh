#!/bin/sh
# order.sh BUILD: how the linker is to lay out the program: what the counts of BUILD say was run stands side by side.
#
# A search is over in milliseconds, and what it runs is a quarter of the program. Where that lies scattered among the rest, the
# system has to find more pages of it, and the processor as much more of it in memory, behind another program's data. So the
# functions that were run come first, whatever folder they are in. Which they are is asked of gcov; where there is none, the
# order is the linker's own.
#
# The linker's own script is added to (INSERT), and what matches here is not looked at again there. The compiler appends
# endings to names: take.lto_priv.0.
set -eu
build=${1:?usage: tools/order.sh BUILD}

# "Function 'take'" and in the next line how much of it was run.
functions_run() {
	find "$build" -name '*.gcda' | sort | while read -r counts; do
		"${GCOV:-gcov}" -n -f -o "${counts%/*}" "$counts" 2>/dev/null || :
	done | awk -F "'" '
		/^Function / { name = $2; next }
		/^Lines executed:/ && name != "" && !/:0\.00%/ { print name }
		{ name = "" }' | sort -u
}

echo 'SECTIONS'
echo '{'
echo '  .text.first : {'
functions_run | while read -r name; do
	echo "    *(.text.$name .text.$name.* .text.hot.$name .text.hot.$name.*)"
done
echo '  }'
echo '}'
echo 'INSERT BEFORE .text;'
