#!/bin/sh
# The logical dump does not depend on the way the bytes came in; check finds
# what is damaged.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
dump() { # STORE FILE
	arbor dump --logical --store "$1"; code 0
	mv "$T/out" "$2"
}

it "describes every file by its newest bytes"
arbor sync --source demo --store "$T/once.db"; code 0
dump "$T/once.db" "$T/once"
check test "$(grep -c '^source ' "$T/once")" -eq 29
sum=$(sha256sum <demo/history.jsonl | cut -d ' ' -f 1)
check grep -q "^source local claude history.jsonl history.jsonl bytes=$(wc -c <demo/history.jsonl) lines=9 .*sha256=$sum$" \
	"$T/once"
arbor dump --logical=mirror --store "$T/once.db"; code 0; same "$T/once" "$T/out"

it "describes the tree: every message once, with what it follows"
count() { grep -c "^$1 " "$T/once"; }
check test "$(count message)" -ge 100
check test "$(count branch)" -eq 1
check test "$(count turn)" -ge 30
check test "$(count agent)" -eq 1
check test "$(count head)" -eq "$(count session)"
check test "$(grep '^message ' "$T/once" | cut -d ' ' -f 2 | sort | uniq -d | wc -l)" -eq 0
grep -o ' prev=[^- ][^ ]*' "$T/once" | cut -d = -f 2 | sort -u >"$T/prev"
grep '^message ' "$T/once" | cut -d ' ' -f 2 | sort >"$T/messages"
check test "$(comm -23 "$T/prev" "$T/messages" | wc -l)" -eq 0
check test "$(grep '^usage ' "$T/once" | cut -d ' ' -f 2 | sort | uniq -d | wc -l)" -eq 0
sum=$(sed -n 's/^usage .* output=\([0-9]*\) .*/\1/p' "$T/once" | awk '{ n += $1 } END { print n }')
check test "$sum" -gt 0

it "is the same after line by line, with a sync after each"
mkdir "$T/grown"
(cd demo && find . -type d) | while read -r d; do mkdir -p "$T/grown/$d"; done
long=projects/-home-dev-parser/8ec269a1-ca31-4f24-a5bc-0232f19c3c63.jsonl
while IFS= read -r line; do
	printf '%s\n' "$line" >>"$T/grown/$long"
	arbor sync -q --source "$T/grown" --store "$T/grown.db"; code 0
done <"demo/$long"
for lines in 1 2 3 7 20 1000; do
	(cd demo && find . -name '*.jsonl' -o -name '*.txt' -o -name '*@v*' | grep -v "$long") | while read -r f; do
		head -n $lines "demo/$f" >"$T/grown/$f"
	done
	arbor sync -q --source "$T/grown" --store "$T/grown.db"; code 0
done
cp -R demo/. "$T/grown/"
arbor sync --source "$T/grown" --store "$T/grown.db"; code 0
dump "$T/grown.db" "$T/grown.dump"
same "$T/once" "$T/grown.dump"

it "is the same after pieces that end in the middle of a line or a character"
mkdir "$T/torn" && (cd demo && find . -type d) | while read -r d; do mkdir -p "$T/torn/$d"; done
for bytes in 1 100 3333 3334 20011 9999999; do
	(cd demo && find . -type f) | while read -r f; do head -c $bytes "demo/$f" >"$T/torn/$f"; done
	arbor sync -q --source "$T/torn" --store "$T/torn.db"; code 0
done
dump "$T/torn.db" "$T/torn.dump"
same "$T/once" "$T/torn.dump"

it "is the same whatever order the folders came in"
mkdir "$T/order"
for d in tasks todos plans sessions projects/-home-dev-webshop file-history projects/-home-dev-dotfiles history.jsonl projects; do
	mkdir -p "$(dirname "$T/order/$d")" && cp -R "demo/$d" "$(dirname "$T/order/$d")/"
	arbor sync -q --source "$T/order" --store "$T/order.db"; code 0
done
dump "$T/order.db" "$T/order.dump"
same "$T/once" "$T/order.dump"

it "is the same after rewriting and restoring, vanishing and returning"
f=$T/order/history.jsonl
echo changed >"$f"
arbor sync -q --source "$T/order" --store "$T/order.db"; code 0
dump "$T/order.db" "$T/changed"
check test "$(diff "$T/once" "$T/changed" | grep -c '^>')" -eq 1
rm -r "$T/order/tasks"
cp demo/history.jsonl "$f"
arbor sync -q --source "$T/order" --store "$T/order.db"; code 0
cp -R demo/tasks "$T/order/"
arbor sync -q --source "$T/order" --store "$T/order.db"; code 0
dump "$T/order.db" "$T/order.dump"
same "$T/once" "$T/order.dump"

it "is the same after several syncs at once"
for i in 1 2 3; do
	"$ARBOR" sync -q --source demo --store "$T/race.db" 2>"$T/race-$i" &
	eval "p$i=\$!"
done
# shellcheck disable=SC2154 # set by eval
for p in "$p1" "$p2" "$p3"; do wait "$p" || { fail 'one of them failed'; cat "$T"/race-?; }; done
dump "$T/race.db" "$T/race.dump"
same "$T/once" "$T/race.dump"

it "says that these stores are whole"
for s in once grown torn order race; do
	arbor check --store "$T/$s.db"; code 0; out_has 'ok: 29 files'
	arbor check -q --store "$T/$s.db"; code 0; check test ! -s "$T/out"
done

# Packed blocks are zstd frames and begin with its magic number.
frames() { LC_ALL=C grep -obUaP '\x28\xb5\x2f\xfd' "$1" | cut -d: -f1; }
flip() { # FILE OFFSET
	old=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
	# shellcheck disable=SC2059 # the format is made here
	printf "\\$(printf %o $((old ^ 64)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

it "finds a changed byte in every packed block, and ends with 4"
if [ "$(frames "$T/once.db" | wc -l)" -ge 29 ]; then
	found=0
	for at in $(frames "$T/once.db"); do
		cp "$T/once.db" "$T/maybe.db"
		flip "$T/maybe.db" $((at + 30))
		arbor check --store "$T/maybe.db"
		# SQLite leaves old bytes behind in unused parts of its pages: to
		# change those is no damage.
		[ "$rc" != 0 ] || continue
		found=$((found + 1))
		mv "$T/maybe.db" "$T/bad.db"
		code 4; err_has 'damaged: '; err_has ' problem'; check test ! -s "$T/out"
	done
	check test $found -eq 29
else
	skip 'this grep finds no bytes, or blocks are packed otherwise'
fi

it "exports nothing wrong from a damaged block, and the others as they are"
if [ -e "$T/bad.db" ]; then
	"$ARBOR" sources --store "$T/bad.db" | awk -F '\t' '{ print $NF }' >"$T/list"
	failures=0
	while read -r f; do
		arbor export "$f" --store "$T/bad.db"
		if [ "$rc" = 0 ]; then same "demo/$f" "$T/out"; else code 4; failures=$((failures + 1)); fi
	done <"$T/list"
	check test $failures -ge 1 -a $failures -le 2
	arbor dump --logical --store "$T/bad.db"; code 4
else
	skip 'there is no damaged store'
fi

it "finds missing blocks, missing bytes and wrong lengths"
if command -v sqlite3 >/dev/null; then
	damage() { # SQL
		cp "$T/once.db" "$T/bad.db"
		sqlite3 "$T/bad.db" "PRAGMA foreign_keys=OFF; $1" || fail "$1"
		arbor check --store "$T/bad.db"; code 4; err_has 'damaged: '
	}
	damage 'DELETE FROM block WHERE generation = (SELECT max(generation) FROM block)'
	damage 'DELETE FROM block_data WHERE id = (SELECT max(id) FROM block_data)'
	damage 'UPDATE generation SET length = length + 1 WHERE id = 1'
	damage 'UPDATE block SET hash = hash + 1 WHERE generation = 2'
	damage 'UPDATE block SET length = length - 1 WHERE generation = 3'
	damage 'UPDATE block_data SET bytes = zeroblob(length(bytes)) WHERE id = 4'
else
	skip 'there is no sqlite3'
fi

it "finds a store that was cut"
for size in 200000 4096 5000; do
	cp "$T/once.db" "$T/bad.db" && truncate -s $size "$T/bad.db"
	arbor check --store "$T/bad.db"; check test "$rc" = 4 -o "$rc" = 5
	check test ! -s "$T/out"
done

it "changes nothing when it checks"
cp "$T/once.db" "$T/before.db"
arbor check --store "$T/once.db"; code 0
same "$T/before.db" "$T/once.db"

the_end
