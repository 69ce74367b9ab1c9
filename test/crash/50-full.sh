#!/bin/bash
# A full disk: a clear error, code 8, a store that is whole and holds what it
# held; and once there is room, the same command completes the work.
. test/harness/lib.sh
S=$T/claude
"$BUILD/tool/mktree" "$S" 6 12 6000000 || exit 1
"$BUILD/tool/mktree" "$T/other" 7 12 6000000 || exit 1
# Without the lines that were withdrawn: which versions were seen depends on when it looked.
dump() { "$ARBOR" dump --logical --store "$1" >"$T/dump.all" && grep -v "^withdrawn " "$T/dump.all"; }

arbor sync --source "$S" --store "$T/whole.db"
[ "$rc" = 0 ] || exit 1
dump "$T/whole.db" >"$T/after"
stops=0
size=$(($(wc -c <"$T/whole.db") / 1024))

# A sync that did not fit: what must be true of it.
did_not_fit() { # STORE
	stops=$((stops + 1))
	[ "$rc" = 8 ] || { fail "code $rc, wanted 8"; show "$T/err"; }
	err_has 'arbor: '
	grep -qiE 'full|space|too large|write' "$T/err" || { fail "the message does not say what is wrong"; show "$T/err"; }
	[ -s "$1" ] || return 0
	arbor check --store "$1"
	code 0
}
is_complete() { # STORE
	arbor check --store "$1"
	code 0
	dump "$1" >"$T/now"
	same "$T/now" "$T/after"
}
completes() { # STORE
	arbor sync --source "$S" --store "$1"
	code 0
	is_complete "$1"
}
limited() { # KB STORE
	(
		ulimit -f "$1"
		exec "$ARBOR" sync --source "$S" --store "$2"
	) >"$T/out" 2>"$T/err"
	rc=$?
}

it "files that may not grow: the first load stops with code 8 at any size"
for ((kb = 16; kb < size; kb = kb * 3 / 2)); do
	rm -f "$T"/s.db*
	limited "$kb" "$T/s.db"
	# Near the end all of it may fit into the database and its log.
	if [ "$rc" != 0 ]; then did_not_fit "$T/s.db"; else is_complete "$T/s.db"; fi
	[ "$_bad" = 0 ] || break
done
echo "# it did not fit $stops times"
[ "$stops" -ge 8 ] || fail "it fitted too often"

it "and completes when they may"
completes "$T/s.db"

it "files that may not grow: a later sync stops too, and keeps what there was"
cp "$T/s.db" "$T/base.db"
cp "$T/after" "$T/before"
(cd "$T/other" && find . -name '*.jsonl' -size +30k) | while read -r f; do cat "$T/other/$f" >"$S/$f"; done
cp "$T/base.db" "$T/w.db"
arbor sync --source "$S" --store "$T/w.db"
code 0
dump "$T/w.db" >"$T/after"
limited "$((size / 2))" "$T/s.db"
did_not_fit "$T/s.db"
first=projects/-home-user-p0/00000000-0000-4000-8000-000000000000.jsonl
"$ARBOR" export "$first" --format raw --generation 1 --store "$T/s.db" >"$T/x" 2>"$T/err" || fail "$(cat "$T/err")"
"$ARBOR" export "$first" --format raw --store "$T/base.db" >"$T/y"
same "$T/x" "$T/y"
completes "$T/s.db"

it "a disk that is really full"
mkdir "$T/disk"
if mount -t tmpfs -o size=1m none "$T/disk" 2>"$T/err"; then
	trap 'umount "$T/disk" 2>/dev/null' HUP INT TERM
	for mb in 1 2; do
		rm -f "$T"/disk/*
		mount -o remount,size="${mb}m" "$T/disk"
		arbor sync --source "$S" --store "$T/disk/s.db"
		did_not_fit "$T/disk/s.db"
	done
	it "a disk that is really full, with a store on it"
	# Room for the store and not for what comes.
	mount -o remount,size=64m "$T/disk"
	rm -f "$T"/disk/* && cp "$T/base.db" "$T/disk/s.db"
	mount -o remount,size="$((size + 300))k" "$T/disk"
	arbor sync --source "$S" --store "$T/disk/s.db"
	did_not_fit "$T/disk/s.db"
	arbor dump --logical --store "$T/disk/s.db"
	code 0
	"$ARBOR" export "$first" --format raw --generation 1 --store "$T/disk/s.db" 2>"$T/err" | cmp -s - "$T/y" ||
		fail "what was there can no longer be read: $(cat "$T/err")"
	it "a disk that is no longer full"
	mount -o remount,size=64m "$T/disk"
	completes "$T/disk/s.db"
	umount "$T/disk"
else
	skip "no disk can be mounted here: $(head -n 1 "$T/err")"
fi

it "output that does not fit is not taken for success"
if [ -w /dev/full ]; then
	"$ARBOR" dump --logical --store "$T/base.db" >/dev/full 2>"$T/err"
	rc=$?
	code 8
	err_has 'arbor: '
	"$ARBOR" export "$first" --format raw --store "$T/base.db" >/dev/full 2>"$T/err"
	rc=$?
	code 8
else
	skip "there is no /dev/full here"
fi
the_end
