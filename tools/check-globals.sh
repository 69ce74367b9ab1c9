#!/bin/sh
# check-globals.sh [BUILD]: the library has no writable data.
#
# Looks at the object files of BUILD (default build/dev) except src/face. What
# is constant but needs relocation (.data.rel.ro) is fine. Prints the object
# and the symbol of each violation.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/dev}

objects=$(find "$build/src" -name '*.o' ! -path '*/face/*' 2>/dev/null | sort)
[ -n "$objects" ] || { echo "check-globals: no objects in $build/src"; exit 1; }

# shellcheck disable=SC2086 # a list of files; none has a blank in its name
objdump -t $objects | awk '
/file format/ { object = $1; sub(/:$/, "", object); next }
{
	# address, seven flag characters, section, size, name
	rest = substr($0, index($0, " ") + 9)
	split(rest, field, /[ \t]+/)
	section = field[1]
	if (section ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && section !~ /^\.data\.rel\.ro/ &&
	    field[2] !~ /^0+$/) {
		printf "%s: writable: %s in %s\n", object, field[3], section
		bad = 1
	}
}
END { exit bad }'
