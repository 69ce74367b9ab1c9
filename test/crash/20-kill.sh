#!/bin/bash
# kill -9 at any moment of a sync: the store is sound, nothing that was in it is
# gone, and the next sync completes it as if nothing had happened.
#
# Moments are drawn from the time an undisturbed sync takes. A kill counts when
# it left a store that has begun and is not done; while these are too few there are
# more, and if they stay so the test says it, because it would have proven nothing.
. test/harness/lib.sh
S=$T/claude STORE=$T/s.db
case ${SCALE:-short}:${MODE:-dev} in
long:*) kills=100 bytes=40000000 ;;
full:asan) kills=6 bytes=10000000 ;;
full:*) kills=13 bytes=16000000 ;;
*:asan) kills=3 bytes=3000000 ;;
*) kills=5 bytes=6000000 ;;
esac
RANDOM=${SEED:-1}

# Without the lines that were withdrawn: which versions were seen depends on when it looked.
dump() { "$ARBOR" dump --logical --store "$1" >"$T/dump.all" && grep -v "^withdrawn " "$T/dump.all"; }
drop_store() { rm -f "$STORE" "$STORE"-*; }
sync_store() { "$ARBOR" sync --source "$S" --store "$STORE" >"$T/out" 2>"$T/err"; }
# How long a sync takes that nobody disturbs, in ms.
time_sync() {
	local from to
	from=$(date +%s%N)
	sync_store || fail "sync: $(cat "$T/err")"
	to=$(date +%s%N)
	ms=$(((to - from) / 1000000 + 1))
}

# Kills one sync somewhere in its first $ms. When it was done before that, the
# machine has become faster, and the next moments are drawn from less.
kill_one() {
	local at=$(((RANDOM * 32768 + RANDOM) % (ms * 1000)))
	"$ARBOR" sync --source "$S" --store "$STORE" >"$T/out" 2>"$T/err" &
	local pid=$!
	sleep "$(printf '%d.%06d' $((at / 1000000)) $((at % 1000000)))"
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	[ $? = 137 ] || ms=$((ms * 9 / 10 + 1))
}

# Several programs find what the killed one left, all at once.
look_after_kill() {
	[ -e "$STORE" ] || return 0
	"$ARBOR" check --store "$STORE" >"$T/check1" 2>&1 &
	local one=$!
	"$ARBOR" check --store "$STORE" >"$T/check2" 2>&1 &
	local two=$!
	dump "$STORE" >"$T/dump" 2>"$T/err" || fail "dump after a kill: $(cat "$T/err")"
	wait "$one" || fail "check after a kill: $(cat "$T/check1")"
	wait "$two" || fail "check after a kill: $(cat "$T/check2")"
	if ! cmp -s "$T/dump" "$T/before" && ! cmp -s "$T/dump" "$T/after"; then hits=$((hits + 1)); fi
}

# $1 is the store to begin with, if any; $T/before and $T/after are its dumps.
kill_many() {
	hits=0
	local i k wanted=$((kills / 4 + 1))
	for ((i = 0; i < kills || (hits < wanted && i < kills * 16); )); do
		drop_store
		[ -z "$1" ] || cp "$1" "$STORE"
		for ((k = RANDOM % 3; k >= 0; k--)); do # sometimes the next one is killed too
			kill_one
			look_after_kill
			i=$((i + 1))
		done
		sync_store || fail "sync after a kill: $(cat "$T/err")"
		dump "$STORE" >"$T/dump"
		cmp -s "$T/dump" "$T/after" || fail "after kill $i the store is not what it would have been"
		[ -z "$1" ] || old_versions "$STORE"
		[ "$_bad" = 0 ] || return
	done
	"$ARBOR" check --store "$STORE" >/dev/null 2>"$T/err" || fail "$(cat "$T/err")"
	[ "$i" -ge "$kills" ] || fail "only $i kills"
	echo "# $i kills, the last within $ms ms, $hits in the middle of the work"
	[ "$hits" -ge "$wanted" ] || fail "only $hits of $i kills hit; nothing is proven"
}

# What the store had before is still in it as generation 1.
old_versions() {
	local f
	for f in "${rewritten[@]}"; do
		"$ARBOR" export "$f" --format raw --generation 1 --store "$1" 2>"$T/err" | cmp -s - "$T/old/$f" ||
			fail "$f: its first version is lost: $(cat "$T/err")"
	done
}

"$BUILD/tool/mktree" "$S" 1 40 $bytes || exit 1
"$BUILD/tool/mktree" "$T/other" 2 40 $bytes || exit 1

it "survives kills during the first load"
time_sync
dump "$STORE" >"$T/after"
: >"$T/before"
kill_many ''

it "survives kills while files have grown or been rewritten"
drop_store
sync_store || fail "sync: $(cat "$T/err")"
mv "$STORE" "$T/base.db"
cp "$T/after" "$T/before"
mkdir "$T/old"
rewritten=() i=0
while IFS= read -r f; do
	i=$((i + 1))
	if [ $((i % 2)) = 0 ]; then
		cat "$T/other/$f" >>"$S/$f"
	else
		mkdir -p "$(dirname "$T/old/$f")" && cp "$S/$f" "$T/old/$f"
		cat "$T/other/$f" >"$S/$f"
		[ $((i % 16)) != 1 ] || rewritten+=("$f")
	fi
done < <(cd "$T/other" && find . -type f -size +8k -name '*.jsonl' | sed 's|^\./||' | sort)
cp "$T/base.db" "$STORE"
time_sync
dump "$STORE" >"$T/after"
cmp -s "$T/before" "$T/after" && fail "nothing had changed"
[ ${#rewritten[@]} -gt 0 ] || fail "nothing was rewritten"
old_versions "$STORE"
kill_many "$T/base.db"

it "stops when asked, says so, and goes on the next time"
stopped=0
for ((i = 0; _bad == 0 && (i < kills || (stopped == 0 && i < kills * 4)); i++)); do
	drop_store
	cp "$T/base.db" "$STORE"
	"$ARBOR" sync --source "$S" --store "$STORE" >"$T/out" 2>"$T/err" &
	pid=$!
	sleep "0.$(printf '%03d' $((20 + RANDOM % ms % 900)))"
	kill -"$([ $((i % 2)) = 0 ] && echo TERM || echo INT)" "$pid" 2>/dev/null
	wait "$pid"
	rc=$?
	case $rc in
	0 | 143) ;; # done already; or not yet listening
	130)
		stopped=$((stopped + 1))
		err_has 'stopped'
		;;
	*) fail "code $rc: $(cat "$T/err")" ;;
	esac
	"$ARBOR" check --store "$STORE" >/dev/null 2>"$T/err" || fail "check: $(cat "$T/err")"
	sync_store || fail "sync: $(cat "$T/err")"
	dump "$STORE" >"$T/dump"
	same "$T/dump" "$T/after"
done
echo "# stopped $stopped of $i"
[ "$stopped" -gt 0 ] || fail "none was stopped in time"
the_end
