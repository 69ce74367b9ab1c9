#!/bin/bash
# A fork that is killed at any system call, or to which one fails, leaves a complete file or none, and says which; the
# conversation it is made of stays as it is.
#
# SCALE=long tries every call, else some of them; SEED says which. The loader's calls come first and are not told apart: being
# killed there leaves nothing either.
. test/harness/lib.sh
export ARBOR_HOME=$T/store ASAN_OPTIONS=detect_leaks=0
ID=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01 W=$T/work P=$T/.claude/projects
case ${SCALE:-short}:${MODE:-dev} in
long:*) every=1 ;;
full:*) every=4 ;;
*:asan) every=60 ;;
*) every=12 ;;
esac
RANDOM=${SEED:-1}
if ! command -v strace >/dev/null; then it 'kills forks'; skip 'strace is not installed'; the_end; fi

# Larger than what is written at once.
mkdir -p "$P/p" "$W"
for ((n = 1; n <= 60; n++)); do
	parent=null; [ $n = 1 ] || parent="\"$(printf '%08d' $((n - 1)))-0000-4000-8000-000000000000\""
	role=user more=''; [ $((n % 2)) = 1 ] || role=assistant more="\"model\":\"m\",\"id\":\"m$n\","
	printf '{"parentUuid":%s,"isSidechain":false,"type":"%s","uuid":"%08d-0000-4000-8000-000000000000","timestamp":"2026-11-15T10:00:%02d.000Z","cwd":"%s","sessionId":"%s","message":{%s"role":"%s","content":[{"type":"text","text":"%s"}]}}\n' \
		"$parent" $role $n $((n % 60)) "$W" $ID "$more" $role "$(head -c 20000 /dev/zero | tr '\0' x) $n"
done >"$P/p/$ID.jsonl"
cp "$P/p/$ID.jsonl" "$T/source"
arbor sync; code 0
cp -r "$ARBOR_HOME" "$T/clean"

strip() { sed -E 's/"sessionId":"[^"]*"//' "$1"; }
# In a shell of its own, which would say that it was killed.
fork_() { (strace -f -o "$T/trace" "$@" "$ARBOR" fork $ID named --cwd "$W" --json >"$T/out" 2>"$T/err"; exit $?) 2>/dev/null; }
others() { find "$P" -type f ! -name "$ID.jsonl"; }
again() { others | xargs -r rm; rm -rf "$ARBOR_HOME"; cp -r "$T/clean" "$ARBOR_HOME"; }
# What is there is complete; $1 = a file has to be there (1), must not (0), or may (any).
sound() {
	local file count=0
	while read -r file; do
		[ -n "$file" ] || continue
		case $file in
		*.tmp.[0-9]*) [ -n "${named_temp:-}" ] || fail "$file was left" ;; # of a file system that cannot do better
		*.jsonl) count=$((count + 1)); strip "$file" >"$T/is"; cmp -s "$T/is" "$T/want" || fail "$file is not complete" ;;
		*) fail "$file was left" ;;
		esac
	done < <(others)
	case $1 in any) [ $count -le 1 ] ;; *) [ $count = "$1" ] ;; esac || fail "$count files"
	cmp -s "$P/p/$ID.jsonl" "$T/source" || fail 'the conversation was written to'
}

it "writes one that nobody disturbs"
again; fork_ -e trace=none; check test $? = 0; others >"$T/made"; check test "$(wc -l <"$T/made")" = 1
strip "$(cat "$T/made")" >"$T/want"; check test "$(wc -l <"$T/want")" = 61; sound 1

calls=openat,mkdir,write,pwrite64,linkat,unlink,unlinkat,fsync,fdatasync,close,getrandom,fcntl,mmap
again; fork_ -e trace=$calls >/dev/null; total=$(grep -c '(' "$T/trace")

# At the Nth of these calls.
kills() {
	local n hits=0
	for ((n = 1 + RANDOM % every; n <= total; n += every)); do
		again; fork_ -e trace=$calls -e "inject=$calls:signal=KILL:when=$n" || hits=$((hits + 1))
		sound any
		arbor check; code 0
	done
	[ $hits -gt 0 ] || fail 'nobody was killed'
}
it "leaves a complete file or none when it is killed"
kills

# fails CALL ERROR: each of these calls in turn.
fails() {
	local n most status hits=0
	again; fork_ -e trace="$1"; most=$(grep -c "$1(" "$T/trace")
	for ((n = 1; n <= most; n++)); do
		again; fork_ -e trace="$1" -e "inject=$1:error=$2:when=$n"; status=$?
		if [ $status = 0 ]; then sound 1; continue; fi
		hits=$((hits + 1)); sound any
		[ $status -lt 64 ] || fail "$1 $2: ended with $status"
		[ -s "$T/err" ] || fail "$1 $2: it does not say why"
		[ "$1" != linkat ] || sound 0
	done
	[ $hits -gt 0 ] || fail "$1 $2 was not noticed"
}
it "says it when something fails, and leaves a complete file or none"
fails linkat ENOSPC; fails linkat EEXIST; fails write ENOSPC

it "is as careful where a file cannot be made without a name"
again; fork_ -e trace=openat; at=$(grep openat "$T/trace" | grep -n O_TMPFILE | head -n 1 | cut -d: -f1)
check test -n "$at"
again; fork_ -e trace=openat -e "inject=openat:error=EOPNOTSUPP:when=$at"; check test $? = 0; sound 1
the_end
