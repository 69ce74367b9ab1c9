#!/bin/bash
# Memory does not depend on the size of a file or of a line.
. test/harness/lib.sh
S=$T/claude STORE=$T/s.db
most=153600 # KB: 150 MB; how much of it is used depends on which threads are ahead of others
if [ "${SCALE:-short}" = long ]; then file=700000000 line=200000000; else file=60000000 line=20000000; fi
big=projects/-a/00000000-0000-4000-8000-000000000001.jsonl
long=projects/-a/00000000-0000-4000-8000-000000000002.jsonl

# Runs arbor and requires that it stayed small.
small() { # ARG...
	"$BUILD/tool/peak" "$ARBOR" "$@" --store "$STORE" >"$T/out" 2>"$T/err"
	rc=$?
	code 0
	local kb
	kb=$(sed -n 's/^peak //p' "$T/err")
	echo "# $1: $((kb / 1024)) MB at most"
	[ "${kb:-999999}" -le "$most" ] || fail "$1 needed $kb KB, allowed are $most"
}

mkdir -p "$S/projects/-a"
it "a file of $((file / 1000000)) MB and a line of $((line / 1000000)) MB need little memory"
case ${MODE:-dev} in
asan | tsan)
	skip "a sanitizer needs memory of its own"
	the_end
	;;
esac
"$BUILD/tool/mktree" -l "$S/$big" 1 "$file" 900 || exit 1
"$BUILD/tool/mktree" -l "$S/$long" 2 "$line" || exit 1
small sync --source "$S"

it "come back as they were"
for f in "$big" "$long"; do
	small export "$f" --format raw
	same "$T/out" "$S/$f"
done
rm -f "$T/out"

it "can be appended to, rewritten near the end and checked in as little"
printf '{"more":1}\n' >>"$S/$big"
printf 'x' >>"$S/$long"
small sync --source "$S"
printf 'edited' | dd of="$S/$big" bs=1 seek=$((file - 100000)) conv=notrunc status=none
small sync --source "$S" --force
"$ARBOR" export "$big" --format raw --store "$STORE" | cmp -s - "$S/$big" || fail "$big differs"
"$ARBOR" export "$long" --format raw --store "$STORE" | cmp -s - "$S/$long" || fail "$long differs"
small check
small dump --logical
the_end
