#!/bin/sh
# lint.sh: everything that can be found without running the program. `make lint`
# calls it after both compilers have built all of it without a warning.
#
# Goes on after a finding, so that one run shows them all; fails when there was
# one. The flags come from the Makefile in ARBOR_CFLAGS.
set -u
cd "$(dirname "$0")/.." || exit 1

flags=${ARBOR_CFLAGS:-"-std=gnu17 -D_GNU_SOURCE -Iinclude -Isrc -Ibuild/gen -isystem build/sqlite"}
out=build/lint
rm -rf "$out" && mkdir -p "$out"
failed=

# step NAME COMMAND...: runs it and shows what it says when it fails.
step() {
	name=$1
	shift
	start=$(date +%s)
	if "$@" >"$out/$name.log" 2>&1; then
		printf '  ok    %-9s %3d s\n' "$name" "$(($(date +%s) - start))"
	else
		printf '  FOUND %-9s %3d s\n' "$name" "$(($(date +%s) - start))"
		sed 's/^/    /' "$out/$name.log"
		failed="$failed $name"
	fi
}

c_files() { find src test fuzz bench tools examples -name '*.c' | sort; }
scripts() { find .ci tools test bench demo -name '*.sh' -o -path .ci/run -o -path test/run | sort; }

# One file at a time on every core. The warnings' flags are the compilers' work.
tidy() {
	# shellcheck disable=SC2016 # the inner shell expands
	c_files | xargs -P "$(nproc)" -n 1 sh -c '
		flags=$1 out=$2 file=$3
		log=$out/tidy-$(echo "$file" | tr / -)
		# shellcheck disable=SC2086 # a list of flags
		clang-tidy --quiet "$file" -- $flags -DARBOR_VERSION=\"0\" -Itest/harness -w >"$log" 2>"$log.err" || {
			cat "$log"
			grep -q "error:" "$log" || cat "$log.err"
			exit 1
		}' _ "$(printf '%s\n' "$flags" | tr ' ' '\n' | grep -v '^-W\|^-f\|^-O\|^-g\|^-M\|^$' | tr '\n' ' ')" "$out"
}

# cppcheck takes the headers along with the files that include them.
#   unusedStructMember, unusedFunction and the like are style: not enabled.
cpp_check() {
	cppcheck --quiet --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem --std=c11 --template=gcc -j "$(nproc)" \
		-D_GNU_SOURCE '-DARBOR_VERSION="0"' -Iinclude -Isrc -Itest/harness src test fuzz bench tools examples
}

shell_check() {
	# -x follows what a script includes; paths are from the project's folder.
	# SC2012: ls on files we made ourselves. SC2015: A && B || C is meant so.
	scripts | xargs shellcheck -x --source-path=SCRIPTDIR --source-path=. --exclude=SC2012,SC2015
}

# The pages that the program prints of itself.
manuals() {
	tools/pages.sh build/dev/arbor "$out/man" || return 1
	tools/man3.sh include/arbor.h >"$out/man/arbor.3"
	for page in "$out"/man/*.[13]; do
		mandoc -T lint -W warning "$page" || return 1
	done
}

step layers tools/check-layers.sh
step banned tools/check-banned.sh
step globals tools/check-globals.sh build/dev
step headers tools/check-headers.sh
step shell shell_check
step manuals manuals
step cppcheck cpp_check
step tidy tidy

if [ -n "$failed" ]; then
	echo "lint: findings in:$failed"
	exit 1
fi
echo "lint: nothing found"
