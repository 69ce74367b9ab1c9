#!/bin/bash
# Random histories in which things are purged: test/crash/purges.c says what must hold. And a purge, a sync
# and readers at one store, all at once. SEED is the first one's.
. test/harness/lib.sh
seed=${SEED:-1}
case ${SCALE:-short}:${MODE:-dev} in
long:*) batches=10 each=200 seconds=40 ;;
full:asan) batches=1 each=8 seconds=4 ;;
full:*) batches=1 each=20 seconds=4 ;;
*:asan) batches=1 each=5 seconds=3 ;;
*) batches=1 each=12 seconds=3 ;;
esac

for ((b = 0; b < batches; b++)); do
	first=$((seed + b * each)) last=$((seed + b * each + each - 1))
	it "schedules $first to $last leave nothing of what was purged, and everything else"
	"$BUILD/tool/purges" "$first-$last" 40 "$T" >"$T/log" 2>&1 || fail "a schedule went wrong"
	# A batch in which no purge was ever cut short has shown little.
	grep -q 'killed=[1-9][0-9]* halfway=[1-9]' "$T/log" || fail "no purge was killed halfway"
	cut -c 1-400 "$T/log" | sed "s|^|# |"
done

S=$T/claude STORE=$T/s.db
line() { printf '{"type":"user","uuid":"%08d-0000-4000-8000-00000000000%d","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"canary%dx%04dy and some words"}}\n' "$2" "$1" "$1" "$2"; }
file() { echo "$S/projects/p/0000000$1-0000-4000-8000-000000000000.jsonl"; }

# Runs a command until $T/stop is there; keeps the first complaint.
loop() { # NAME COMMAND...
	local name=$1 i=0 code
	shift
	while [ ! -e "$T/stop" ]; do
		"$ARBOR" "$@" --store "$STORE" >"$T/loop-$name.out" 2>"$T/loop-$name.err"
		code=$?
		i=$((i + 1))
		if [ $code -gt 1 ] || grep -q 'Sanitizer\|locked\|busy' "$T/loop-$name.err"; then
			{ echo "run $i of 'arbor $*': code $code" && head -n 30 "$T/loop-$name.err"; } >"$T/loop-$name.bad"
			break
		fi
	done
	echo "$i" >"$T/loop-$name.count"
}

it "purges, syncs and searches at once never fail, and nothing comes back"
mkdir -p "$S/projects/p"
for f in 1 2 3; do for ((n = 1; n <= 30; n++)); do line "$f" "$n"; done >"$(file "$f")"; done
"$ARBOR" sync --quiet --source "$S" --store "$STORE" || fail "the first sync"
loops=(sync force search check)
loop sync sync --source "$S" &
loop force sync --force --source "$S" &
loop search search canary1x0001y &
loop check check &
end=$((SECONDS + seconds)) n=30 purged=0
while [ "$SECONDS" -lt "$end" ]; do
	n=$((n + 1))
	for f in 1 2 3; do line "$f" "$n" >>"$(file "$f")"; done
	cat "$(file 1)" >"$(file 4)" # a copy of it all
	for f in 1 2; do # two at once
		k=$((1 + purged * 2 + f)) word=$(printf "canary%dx%04dy" "$f" "$((1 + purged * 2 + f))")
		[ "$k" -le 30 ] || continue
		id=$("$ARBOR" search "$word" --json --store "$STORE" 2>/dev/null | sed -n 's/.*"message":"\([^"]*\)".*/\1/p' | head -n 1)
		[ -n "$id" ] || id=$("$ARBOR" search "$word" --json --store "$STORE" 2>/dev/null | sed -n 's/.*"id":"\([^"]*\)".*/\1/p' | head -n 1)
		[ -n "$id" ] || continue
		echo "$word" >>"$T/purged"
		"$ARBOR" purge "$id" --yes --store "$STORE" >"$T/purge-$f.out" 2>"$T/purge-$f.err" || { fail "purging $id: $(cat "$T/purge-$f.err")"; } &
		pids+=($!)
	done
	for p in "${pids[@]}"; do wait "$p"; done
	pids=() purged=$((purged + 1))
done
touch "$T/stop"
wait
for l in "${loops[@]}"; do
	[ ! -e "$T/loop-$l.bad" ] || { fail "$l" && show "$T/loop-$l.bad"; }
	[ "$(cat "$T/loop-$l.count")" -ge 1 ] || fail "$l did not run"
done
arbor sync --force --source "$S" --store "$STORE"; code 0
arbor check --store "$STORE"; code 0
[ "$(wc -l <"$T/purged")" -ge 2 ] || fail "only $(wc -l <"$T/purged") were purged"
while read -r word; do
	arbor search "$word" --store "$STORE"; code 1
	! "$ARBOR" export "$(file 4 | sed "s|$S/||")" --with-gaps --store "$STORE" | grep -q "$word and" || fail "$word is in the copy"
	! grep -aq "$word" "$STORE" || fail "$word is in the file"
done <"$T/purged"
arbor search canary3x0030y --store "$STORE"; code 0
echo "# $(wc -l <"$T/purged") purged, $(for l in "${loops[@]}"; do printf '%s %s, ' "$l" "$(cat "$T/loop-$l.count")"; done)in $seconds s"
the_end
