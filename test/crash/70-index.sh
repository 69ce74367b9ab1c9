#!/bin/bash
# kill -9 and SIGINT at any moment of a sync: sessions, lines, keys and words are
# then those of a shorter store, and the next sync makes them what they would have
# been. What 20-kill.sh is for the archive, this is for what is read from it.
#
# Moments are drawn from the time an undisturbed sync takes, the least of three: other programs run, too. A kill
# counts when it left something unread; while these are too few there are more, or they would have proven nothing.
. test/harness/lib.sh
S=$T/claude STORE=$T/s.db
case ${SCALE:-short}:${MODE:-dev} in
long:*) kills=200 bytes=20000000 ;;
full:asan) kills=8 bytes=3000000 ;;
full:*) kills=30 bytes=4000000 ;;
*:asan) kills=4 bytes=2000000 ;;
*) kills=10 bytes=3000000 ;;
esac
RANDOM=${SEED:-1}

derived() { "$BUILD/tool/derived" "$1"; }
drop_store() { rm -f "$STORE" "$STORE"-*; }
sync_store() { "$ARBOR" sync --source "$S" --store "$STORE" >"$T/out" 2>"$T/err"; }

# time_sync [STORE]: how long it takes from nothing, or from that.
time_sync() {
	local from took
	ms=
	for _ in 1 2 3; do
		drop_store
		[ -z "${1:-}" ] || cp "$1" "$STORE"
		from=$(date +%s%N)
		sync_store || fail "sync: $(cat "$T/err")"
		took=$((($(date +%s%N) - from) / 1000000 + 1))
		ms=$((${ms:-$took} < took ? ms : took))
	done
}

# Ends one sync with a signal somewhere in its first $ms.
end_one() { # SIGNAL
	local at=$(((RANDOM * 32768 + RANDOM) % (ms * 1000)))
	"$ARBOR" sync --source "$S" --store "$STORE" >"$T/out" 2>"$T/err" &
	local pid=$!
	sleep "$(printf '%d.%06d' $((at / 1000000)) $((at % 1000000)))"
	kill -"$1" "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

# How far a killed sync had come: nothing may be wrong with what is there but that
# keys of it are missing, which come last.
look_after() {
	[ -s "$STORE" ] || return 0
	derived "$STORE" >"$T/now" 2>"$T/err"
	! grep '^!' "$T/now" | grep -qv ' keys, ' || fail "after a kill: $(grep '^!' "$T/now" | head -3)"
	if grep -q 'unread=1' "$T/now" || grep -q '^! .* keys, ' "$T/now"; then hits=$((hits + 1)); fi
}

# $1 is the store to begin with, if any; $T/after is what it must become.
end_many() {
	local i k wanted=$((kills / 5 + 1))
	hits=0
	for ((i = 0; _bad == 0 && (i < kills || (hits < wanted && i < kills * 16)); )); do
		drop_store
		[ -z "$1" ] || cp "$1" "$STORE"
		for ((k = RANDOM % 3; k >= 0; k--)); do # sometimes the next one is ended too
			end_one "$([ $((RANDOM % 4)) = 0 ] && echo INT || echo KILL)"
			look_after
			i=$((i + 1))
		done
		sync_store || fail "sync after a kill: $(cat "$T/err")"
		derived "$STORE" >"$T/now" 2>"$T/err" || fail "after kill $i: $(cat "$T/err") $(grep '^!' "$T/now" | head -3)"
		cmp -s "$T/now" "$T/after" || fail "after kill $i: $(diff "$T/now" "$T/after" | head -4)"
	done
	echo "# $i ended, $hits in the middle of reading, within $ms ms"
	[ "$hits" -ge "$wanted" ] || fail "only $hits of $i hit; nothing is proven"
}

it "survives kills while a store is first read"
"$BUILD/tool/mktree" "$S" 1 12 "$bytes" || exit 1
"$BUILD/tool/mktree" "$T/other" 2 12 "$bytes" || exit 1
time_sync
derived "$STORE" >"$T/after" || fail "not sound: $(grep '^!' "$T/after" | head)"
end_many ''

it "survives kills while sessions grow and are read anew"
drop_store
sync_store || fail "sync: $(cat "$T/err")"
mv "$STORE" "$T/base.db"
i=0
while IFS= read -r f; do
	i=$((i + 1))
	if [ $((i % 2)) = 0 ]; then cat "$T/other/$f" >>"$S/$f"; else cat "$T/other/$f" >"$S/$f"; fi
done < <(cd "$T/other" && find . -type f -size +8k -name '*.jsonl' | sed 's|^\./||' | sort)
time_sync "$T/base.db"
cp "$T/after" "$T/before"
derived "$STORE" >"$T/after" || fail "not sound: $(grep '^!' "$T/after" | head)"
cmp -s "$T/before" "$T/after" && fail "nothing had changed"
end_many "$T/base.db"

it "is what a store is that never saw the older files"
drop_store
sync_store || fail "sync: $(cat "$T/err")"
derived "$STORE" >"$T/now"
same "$T/now" "$T/after"

it "needs little memory for lines that ask for much"
case ${MODE:-dev} in
asan | tsan) skip "a sanitizer needs memory of its own" ;;
*)
	mkdir -p "$T/hostile/projects/-a"
	n=0
	hostile() { # what stands in the content of a line
		n=$((n + 1))
		{ printf '{"type":"user","uuid":"u","message":{"content":' && cat && printf '}}\n'; } \
			>"$T/hostile/projects/-a/0000000$n-0000-4000-8000-000000000000.jsonl"
	}
	{ printf '[1' && yes ',1' | head -n 20000000 | tr -d '\n' && printf ']'; } | hostile
	{ printf '"' && seq 1000000 6000000 | tr '\n' ' ' && printf '"'; } | hostile
	"$BUILD/tool/peak" "$ARBOR" sync --source "$T/hostile" --store "$T/hostile.db" >"$T/out" 2>"$T/err"
	rc=$?
	code 0
	kb=$(sed -n 's/^peak //p' "$T/err")
	echo "# $((kb / 1024)) MB at most"
	[ "${kb:-999999}" -le 256000 ] || fail "it needed $kb KB"
	derived "$T/hostile.db" >"$T/now" || fail "not sound: $(grep '^!' "$T/now" | head)"
	;;
esac
the_end
