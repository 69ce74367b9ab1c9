#!/bin/bash
# Random histories of a folder against a model that remembers every byte:
# test/crash/schedule.c says what must hold. SEED is the first one's.
. test/harness/lib.sh
seed=${SEED:-1}
case ${SCALE:-short}:${MODE:-dev} in
long:*) batches=25 each=200 ;;
full:asan) batches=4 each=15 ;;
full:*) batches=6 each=25 ;;
*:asan) batches=1 each=6 ;;
*) batches=1 each=20 ;;
esac

for ((b = 0; b < batches; b++)); do
	first=$((seed + b * each)) last=$((seed + b * each + each - 1))
	it "schedules $first to $last keep every version of every file"
	"$BUILD/tool/schedule" "$first-$last" 35 "$T" >"$T/log" 2>&1 || fail "a schedule went wrong"
	# A batch in which nothing was ever interrupted has shown little.
	grep -q 'kills=[1-9][0-9]* cancelled=[1-9]' "$T/log" || fail "nothing was interrupted"
	sed "s|^|# |" "$T/log"
done
the_end
