#!/bin/bash
# Conversations that were resumed, forked, rewound, compacted and rewritten in every way clients do it
# (test/oracle/lineage.mjs), brought in in random order and pieces, mean the same in the end (lineage.c); and that is what a
# program says that shares no code with Arbor, with exactly the branches that were made (lineage-check.mjs).
#
# Every run takes other seeds. SEED is the first one's: what failed can be had again. SCALE=long runs over 2,000 schedules.
. test/harness/lib.sh
seed=${SEED:-$(($(date +%s) / 10 % 10000000))}
case ${SCALE:-short}:${MODE:-dev} in
long:*) worlds=320 schedules=8 compared=320 ;;
*:asan) worlds=5 schedules=4 compared=0 ;;
*) worlds=12 schedules=4 compared=12 ;;
esac
last=$((seed + worlds - 1))
corpus=${ARBOR_SHARED:-../shared}/corpus/real-a.tar.zst
material=demo
if ! command -v node >/dev/null; then
	it "makes lineages"
	skip "there is no node; order and copies are NOT CHECKED"
	the_end
fi

it "makes lineages $seed to $last"
if [ "${SCALE:-short}" = long ] && [ -f "$corpus" ] && command -v zstd >/dev/null; then
	mkdir "$T/real"
	zstd -q -d --long=27 -c "$corpus" | tar -x -C "$T/real" && material=$T/real
fi
node test/oracle/lineage.mjs "$T/worlds" "$seed" "$last" "$material" || fail "the generator failed"
echo "# $(cat "$T"/worlds/*/story | wc -l) steps"

it "comes to the same tree by $((worlds * schedules)) schedules"
"$BUILD/tool/lineage" "$T/worlds" "$seed-$last" "$schedules" "$T" >"$T/log" 2>&1 || fail "a schedule went wrong"
sed 's/^/# /' "$T/log" | cut -c 1-400
# Runs in which nothing was stopped in the middle have shown little.
grep -q 'stopped=[1-9]' "$T/log" || fail "nothing was stopped"
grep -q ' withdrawn=[1-9]' "$T/log" || fail "nothing was withdrawn"

it "has the messages and branches that were made"
if [ $compared = 0 ]; then
	skip "compared with the oracle in dev mode only"
else
	node test/oracle/lineage-check.mjs "$ARBOR" "$T/worlds" "$seed" $((seed + compared - 1)) >"$T/log" 2>&1 || fail "some differ"
	sed 's/^/# /' "$T/log" | cut -c 1-400 | tail -n 40
fi
the_end
