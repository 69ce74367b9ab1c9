#!/bin/sh
# check-headers.sh: each header compiles alone, with both compilers, strictly.
#
# The flags are those of the build; the Makefile hands them over in
# ARBOR_CFLAGS. Prints what the compilers say; fails when they say anything.
set -eu
cd "$(dirname "$0")/.."

flags=${ARBOR_CFLAGS:-"-std=gnu17 -D_GNU_SOURCE -Iinclude -Isrc -Ibuild/gen -isystem build/sqlite -Wall -Wextra -Wpedantic"}

bad=0
for compiler in gcc clang; do
	for header in include/*.h src/*/*.h test/harness/*.h; do
		[ -e "$header" ] || continue
		# An unused static inline function is what a header is for.
		# shellcheck disable=SC2086 # a list of flags
		printf '#include "%s"\nextern int only_the_header;\n' "$header" |
			$compiler $flags -I. -Itest/harness -Werror -Wno-unused-function -x c -fsyntax-only - || {
			echo "$header: does not compile alone with $compiler"
			bad=1
		}
	done
done
exit $bad
