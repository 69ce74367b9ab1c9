#!/bin/bash
# test/torture.sh [BUILD]: the tests of test/crash, and of real clients that are killed, at full length. An hour.
#
#   BUILD  folder of the build to torture, default build/release
#   SEED   first random number; printed, so that a failure can be had again
#   ONLY   run the tests whose name contains this
#
# Each test has a private HOME, as under test/run. Two run at a time: the random
# schedules beside all the others.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(cd "${1:-build/release}" && pwd) || exit 1
export SEED=${SEED:-$(($(date +%s) % 30000 + 1))}
logs=$(mktemp -d "${TMPDIR:-/tmp}/arbor-torture-XXXXXX")

run_one() { # TEST
	local name=${1##*/} home started=$SECONDS code
	name=${name%.sh}
	home=$(mktemp -d "$logs/home-XXXXXX")
	env -i PATH="$PATH" HOME="$home" TMPDIR="$home" LANG=C.UTF-8 ARBOR="$build/arbor" BUILD="$build" \
		MODE="${build##*/}" SCALE=long SEED="$SEED" ARBOR_SHARED="${ARBOR_SHARED:-$PWD/../shared}" "$1" >"$logs/$name.log" 2>&1 </dev/null
	code=$?
	chmod -R u+rwx "$home" 2>/dev/null
	rm -rf "$home"
	# A test that died has failed even if no line says so.
	[ $code = 0 ] || grep -q '^not ok ' "$logs/$name.log" || echo "not ok - $name ended with code $code" >>"$logs/$name.log"
	echo "== $name, $((SECONDS - started)) s"
	grep -E '^(ok|not ok|#) ' "$logs/$name.log" | sed 's/^/   /'
}

some() { # PATTERN: of the names, one after the other
	for t in test/crash/[0-9]*.sh test/real/50-*.sh; do
		# shellcheck disable=SC2053 # a pattern
		[[ $t == *${ONLY:-}* && $t == $1 ]] && run_one "$t"
	done
}

echo "torture of ${build##*/}, SEED=$SEED"
some '*schedules*' &
beside=$!
some '*/[2-9]*'
wait "$beside"
cat "$logs"/*.log | awk '/^ok .*# SKIP/ { s++; next } /^ok / { p++ } /^not ok / { f++ }
	END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }'
code=$?
rm -rf "$logs"
exit $code
