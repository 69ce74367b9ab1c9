#!/bin/bash
# Many programs at one store: while files are appended to and rewritten, two
# syncs and eight readers run in loops, and none ever fails. And several syncs
# that find no store all make one together.
. test/harness/lib.sh
S=$T/claude STORE=$T/s.db
case ${SCALE:-short}:${MODE:-dev} in
long:*) seconds=60 rounds=100 schedules=100 step=1 bytes=4000000 ;;
full:tsan) seconds=5 rounds=4 schedules=5 step=15 bytes=4000000 ;;
full:asan) seconds=5 rounds=8 schedules=5 step=9 bytes=4000000 ;;
full:*) seconds=8 rounds=15 schedules=10 step=5 bytes=4000000 ;;
*:tsan | *:asan) seconds=4 rounds=2 schedules=2 step=29 bytes=500000 ;;
*) seconds=5 rounds=4 schedules=3 step=19 bytes=1500000 ;;
esac
# A tracked race ends the program; it must not look like one of ours.
export TSAN_OPTIONS="halt_on_error=1 exitcode=66"
# Without the lines that were withdrawn: which versions were seen depends on when it looked.
dump() { "$ARBOR" dump --logical --store "$1" >"$T/dump.all" && grep -v "^withdrawn " "$T/dump.all"; }

make_tree() { # DIR SEED FILES BYTES
	"$BUILD/tool/mktree" "$@" || exit 1
	[ "${SCALE:-short}" != short ] || rm -f "$1"/projects/-home-user-odd/*[bc].jsonl # large ones
}

# Runs a command until $T/stop is there. Counts, and keeps the first complaint.
loop() { # NAME COMMAND...
	local name=$1 i=0 code
	shift
	while [ ! -e "$T/stop" ]; do
		"$ARBOR" "$@" --store "$STORE" >"$T/loop-$name.out" 2>"$T/loop-$name.err"
		code=$?
		i=$((i + 1))
		echo "$i" >"$T/loop-$name.count"
		[ "${SCALE:-short}" != short ] || sleep 0.1 # the slowest, twice, are waited for
		if [ $code != 0 ] || grep '^arbor:' "$T/loop-$name.err" | grep -qv 'is not JSON of a record' || grep -q Sanitizer "$T/loop-$name.err"; then
			{
				echo "run $i of 'arbor $*': code $code"
				head -n 30 "$T/loop-$name.err"
			} >"$T/loop-$name.bad"
			break
		fi
	done
	echo "$i" >"$T/loop-$name.count"
}

# Whether each command has run twice: on a slow machine that takes longer than the time given.
all_ran_twice() {
	local l
	for l in "${loops[@]}"; do
		[ "$(cat "$T/loop-$l.count" 2>/dev/null || echo 0)" -ge 2 ] || [ -e "$T/loop-$l.bad" ] || return 1
	done
}

# Changes the tree until it is time: appends, torn appends, rewrites in place,
# replacements by a temporary file. No renames: they would make keys differ.
change_files() {
	local end=$((SECONDS + seconds)) i=0 f
	local jsonl=("$S"/projects/*/*.jsonl) whole=("$S"/plans/*.md "$S"/tasks/*/*.json)
	while [ "$SECONDS" -lt "$end" ] || { [ "$SECONDS" -lt $((end + 120)) ] && ! all_ran_twice; }; do
		i=$((i + 1))
		f=${jsonl[RANDOM % ${#jsonl[@]}]}
		case $((RANDOM % 12)) in
		0) printf '{"torn":%d' "$i" >>"$f" ;;
		1) printf ',"and":"mended"}\n' >>"$f" ;;
		2) printf '{"rewritten":%d}\n' "$i" >"$f" ;;
		3) [ $((i % 16)) != 0 ] || { head -c $((RANDOM * 20)) "${jsonl[0]}" >"$f.lock" && mv "$f.lock" "$f"; } ;;
		*) printf '{"i":%d,"text":"%0*d"}\n' "$i" $((RANDOM % 4000)) 1 >>"$f" ;;
		esac
		f=${whole[RANDOM % ${#whole[@]}]}
		case $((RANDOM % 3)) in
		0) printf 'version %d\n' "$i" >"$f" ;;
		1) printf 'and %d\n' "$i" >>"$f" ;;
		*) [ $((i % 8)) != 0 ] || { printf 'replaced %d\n' "$i" >"$f.lock" && mv "$f.lock" "$f"; } ;;
		esac
		[ $((i % 50)) != 0 ] || { rm "$f" && sleep 0.02 && printf 'again %d\n' "$i" >"$f"; }
		[ $((i % 5)) != 0 ] || sleep 0.001
	done
	echo "$i"
}

RANDOM=${SEED:-1}
it "two syncs and eight readers never fail while files change"
make_tree "$S" 3 8 $bytes
arbor sync --source "$S" --store "$STORE"
code 0
loops=(sync1 sync2 sources1 sources2 dump1 dump2 export1 export2 check1 check2)
loop sync1 sync --source "$S" &
loop sync2 sync --source "$S" --force &
loop sources1 sources &
loop sources2 versions history.jsonl &
loop dump1 dump --logical &
loop dump2 dump --logical &
loop export1 export history.jsonl --format raw &
loop export2 export plans/plan-0.md --format raw --generation 1 &
loop check1 check &
loop check2 check &
changes=$(change_files)
touch "$T/stop"
wait
total=0
for l in "${loops[@]}"; do
	if [ -e "$T/loop-$l.bad" ]; then
		fail "$l"
		show "$T/loop-$l.bad"
	fi
	c=$(cat "$T/loop-$l.count")
	[ "$c" -ge 2 ] || fail "$l ran only $c times"
	total=$((total + c))
done
echo "# $changes changes, $total commands ($(for l in "${loops[@]}"; do printf '%s %s, ' "$l" "$(cat "$T/loop-$l.count")"; done)in $seconds s)"

it "afterwards the store is what a fresh one is"
arbor sync --source "$S" --store "$STORE"
code 0
arbor check --store "$STORE"
code 0
"$ARBOR" sync --quiet --source "$S" --store "$T/fresh.db" || fail "fresh sync"
dump "$STORE" >"$T/a"
dump "$T/fresh.db" >"$T/b"
same "$T/a" "$T/b"
arbor sources --store "$STORE"
grep -q "$(printf '\tgone\t')" "$T/out" && fail "something that exists is marked as vanished"

it "several syncs that find no store make one together"
make_tree "$T/small" 4 6 $((bytes * 3 / 4))
"$ARBOR" sync --quiet --source "$T/small" --store "$T/fresh2.db" || fail "fresh sync"
dump "$T/fresh2.db" >"$T/a"
for ((r = 0; r < rounds && _bad == 0; r++)); do
	rm -rf "$T/new"
	pids=()
	for ((i = 0; i < 6; i++)); do
		"$ARBOR" sync --source "$T/small" --store "$T/new/deep/s.db" >/dev/null 2>"$T/first-$i.err" &
		pids+=($!)
	done
	for ((i = 0; i < 6; i++)); do
		wait "${pids[i]}" || {
			fail "round $r, sync $i: code $?"
			show "$T/first-$i.err"
		}
	done
	dump "$T/new/deep/s.db" >"$T/b" 2>&1
	same "$T/a" "$T/b"
	arbor check --store "$T/new/deep/s.db"
	code 0
done
echo "# $r rounds of 6"

it "a sync that says it is done is done, whatever the others still do"
make_tree "$T/large" 5 10 $((bytes * 6))
"$ARBOR" sync --quiet --source "$T/large" --store "$T/fresh3.db" || fail "fresh sync"
dump "$T/fresh3.db" >"$T/a"
for ((r = 0; r < rounds / 3 + 1 && _bad == 0; r++)); do
	rm -rf "$T/new"
	pids=()
	for ((i = 0; i < 3; i++)); do
		"$ARBOR" sync --source "$T/large" --store "$T/new/s.db" >/dev/null 2>"$T/first-$i.err" &
		pids+=($!)
	done
	wait -n "${pids[@]}" || fail "round $r: code $?: $(cat "$T"/first-?.err)"
	kill -9 "${pids[@]}" 2>/dev/null # the others never finish
	wait "${pids[@]}" 2>/dev/null
	dump "$T/new/s.db" >"$T/b" 2>&1
	same "$T/a" "$T/b"
done

it "several programs open an empty store at the same moment"
for ((r = 0; r < rounds * 4 && _bad == 0; r++)); do
	rm -rf "$T/new"
	pids=()
	mkdir -p "$T/none/projects"
	for ((i = 0; i < 6; i++)); do
		"$ARBOR" sync --source "$T/none" --store "$T/new/s.db" >/dev/null 2>"$T/first-$i.err" &
		pids+=($!)
	done
	for ((i = 0; i < 6; i++)); do
		wait "${pids[i]}" || {
			fail "round $r, sync $i: code $?"
			show "$T/first-$i.err"
		}
	done
done

it "a store below the folder it mirrors is not read, and stays whole"
cp -r "$T/small" "$T/around"
own=$T/around/projects/x/s.db
arbor sync --source "$T/around" --store "$own"
code 0
arbor sync --source "$T/around" --store "$own"
code 0
err_has 'the store itself'
ln "$own" "$T/around/plans/link.md" # the same file by another name
for ((r = 0; r < 3 && _bad == 0; r++)); do
	pids=()
	for ((i = 0; i < 4; i++)); do
		(for ((k = 0; k < 5; k++)); do "$ARBOR" sync --quiet --source "$T/around" --store "$own" || exit; done) \
			>/dev/null 2>"$T/first-$i.err" &
		pids+=($!)
	done
	for ((i = 0; i < 50; i++)); do printf '{"i":%d}\n' "$i" >>"$T/around/history.jsonl" && sleep 0.005; done
	for ((i = 0; i < 4; i++)); do
		wait "${pids[i]}" || {
			fail "round $r, sync $i: code $?"
			show "$T/first-$i.err"
		}
	done
	arbor check --store "$own"
	code 0
done
arbor dump --logical --store "$own"
out_lacks 's.db'

it "syncs of several folders fill one store together"
rm -rf "$T/new"
pids=()
for ((i = 0; i < 4; i++)); do
	cp -r "$T/small" "$T/small$i"
	"$ARBOR" sync --source "$T/small$i" --store "$T/new/s.db" >/dev/null 2>"$T/first-$i.err" &
	pids+=($!)
done
for ((i = 0; i < 4; i++)); do wait "${pids[i]}" || fail "sync $i: code $?: $(cat "$T/first-$i.err")"; done
dump "$T/fresh2.db" | grep '^source' | sed 's/.* //' | sort | sed 'p;p;p' >"$T/a"
dump "$T/new/s.db" | grep '^source' | sed 's/.* //' | sort >"$T/b"
same "$T/a" "$T/b"
[ "$(dump "$T/new/s.db" | grep '^source' | cut -d ' ' -f 3 | sort -u | wc -l)" = 4 ] || fail "there should be four roots"

it "one that is stopped at any of its locks does not mind another making the store"
export ASAN_OPTIONS=detect_leaks=0 # the leak checker cannot work under strace
if strace -f -o "$T/trace" -e trace=fcntl "$ARBOR" sync --source "$T/none" --store "$T/count.db" >"$T/out" 2>&1; then
	locks=$(grep -c 'fcntl(' "$T/trace")
	for ((i = 1 + RANDOM % step; i <= locks && _bad == 0; i += step)); do
		rm -rf "$T/new"
		strace -f -o "$T/trace" -e trace=fcntl -e "inject=fcntl:delay_exit=150000:when=$i" \
			"$ARBOR" sync --source "$T/none" --store "$T/new/s.db" >/dev/null 2>"$T/first.err" &
		pid=$!
		sleep 0.05
		arbor sync --source "$T/small" --store "$T/new/s.db"
		code 0
		wait "$pid" || {
			fail "stopped at lock $i of $locks: code $?"
			show "$T/first.err"
		}
		arbor check --store "$T/new/s.db"
		code 0
	done
else
	skip "strace does not work here: $(head -n 1 "$T/out")"
fi

it "readers go on while another program makes and drops tables"
if [ "${MODE:-dev}" = dev ]; then
	rm -f "$T/stop"
	while [ ! -e "$T/stop" ]; do
		echo 'CREATE TABLE made(a);'
		read -r -t 0.003 </dev/zero # a moment
		echo 'DROP TABLE made;'
		for _ in 1 2 3 4 5 6 7 8; do echo 'SELECT 1;'; done
	done | sqlite3 -cmd '.timeout 5000' "$STORE" >/dev/null 2>&1 &
	bad=0
	for ((i = 0; i < 100; i++)); do
		for verb in check 'search the'; do
			# shellcheck disable=SC2086 # two words
			"$ARBOR" $verb --store "$STORE" >"$T/out" 2>"$T/err" || [ $? = 1 ] || { bad=$((bad + 1)) && cp "$T/err" "$T/bad.err"; }
		done
	done
	touch "$T/stop"
	wait
	[ "$bad" = 0 ] || { fail "$bad of 200 failed" && show "$T/bad.err"; }
	arbor check --store "$STORE"; code 0
else
	skip "a sanitizer is slower than what changes here"
fi

it "schedules with several syncs in one process hold"
"$BUILD/tool/schedule" "9000-$((9000 + schedules - 1))" 25 "$T" >"$T/log" 2>&1 || {
	fail "a schedule went wrong"
	sed 's/^/# /' "$T/log"
}
the_end
