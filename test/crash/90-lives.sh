#!/bin/bash
# Trees and nodes live as they are meant to: random commands over days and weeks, given to a store and to a model of a few
# arrays, lead to the same states, dates and claims (lives.c). And several programs that make, claim, release and read
# at once lose nothing (grove.c).
#
# Every run takes other seeds. SEED is the first one's: what failed can be had again. SCALE=long runs over 5,000 sequences.
. test/harness/lib.sh
seed=${SEED:-$(($(date +%s) / 10 % 10000000))}
case ${SCALE:-short}:${MODE:-dev} in
long:*) sequences=5500 seconds=60 ;;
*:asan) sequences=30 seconds=4 ;;
*) sequences=150 seconds=4 ;;
esac
last=$((seed + sequences - 1))

it "agrees with a model in sequences $seed to $last"
"$BUILD/tool/lives" "$seed-$last" 80 "$T" >"$T/log" 2>&1 || fail "a sequence went wrong"
sed 's/^/# /' "$T/log" | tail -n 100
# Sequences in which nothing was refused or went have shown little.
grep -q 'refused=[1-9][0-9]' "$T/log" || fail "hardly anything was refused"
grep -q 'moved=[1-9][0-9]' "$T/log" || fail "hardly anything moved"

it "loses nothing that eight programs do at once"
"$BUILD/tool/grove" "$T/grove.db" 8 $seconds "$seed" >"$T/log" 2>&1 || fail "something was lost, or shown that should not be"
sed 's/^/# /' "$T/log" | tail -n 40
arbor check --store "$T/grove.db"; code 0
the_end
