#!/bin/bash
# System calls that fail: every kind of call a sync makes, made to fail at its
# Nth time. Whatever fails, the program ends by itself with a documented code
# and says why; when it says it succeeded, everything is there; the store is
# sound; and the next sync completes it.
#
# strace counts N for each thread, so one run may make several threads fail. The
# calls of the dynamic loader come first and are left out. SCALE=long tries
# every N, else some of them; SEED says which.
. test/harness/lib.sh
S=$T/claude STORE=$T/s.db
# The leak checker cannot work under strace.
export ASAN_OPTIONS=detect_leaks=0
case ${SCALE:-short}:${MODE:-dev} in
long:*) samples=100000 ;;
full:asan) samples=2 ;;
full:*) samples=5 ;;
*:asan) samples=1 ;;
*) samples=2 ;;
esac

# Without the lines that were withdrawn: which versions were seen depends on when it looked.
dump() { "$ARBOR" dump --logical --store "$STORE" >"$T/dump.all" && grep -v "^withdrawn " "$T/dump.all"; }
fresh_store() {
	rm -f "$STORE" "$STORE"-*
	[ "$stage" = first ] || cp "$T/base.db" "$STORE"
}
traced() { # OPTION...
	strace -f --seccomp-bpf -o "$T/trace" "$@" "$ARBOR" sync --source "$S" --store "$STORE" >"$T/out" 2>"$T/err"
}

# How often one thread at most makes a call, and how often the loader does.
count_calls() { # CALL
	awk -v call="$1(" '
		!main { main = $1 }
		$1 == main && index($2, "prlimit64(") == 1 && !loaded { loaded = n[main] + 1 }
		index($2, call) == 1 { if (++n[$1] > most) most = n[$1] }
		END { print most + 0, (loaded ? loaded : 1) }' "$T/calls"
}

judge() { # CALL:ERROR:WHEN CODE
	local code=$2
	case $code in
	0 | 3 | 6 | 7 | 8) ;;
	4) # SQLite takes a disk that cannot be read for a damaged one
		[[ $1 == pread64:EIO:* ]] || fail "$1: calls the store damaged: $(tail -n 1 "$T/err")" ;;
	*) fail "$1: ended with code $code: $(tail -n 3 "$T/err")" ;;
	esac
	[ "$code" = 0 ] || grep -q '^arbor: .' "$T/err" || fail "$1: code $code and not a word"
	if [ -e "$STORE" ]; then
		if [ "$code" = 0 ]; then
			dump >"$T/dump" 2>"$T/err2" || fail "$1: dump: $(cat "$T/err2")"
			cmp -s "$T/dump" "$T/after" || fail "$1: it said it succeeded, and something is missing"
		fi
		"$ARBOR" check --store "$STORE" >/dev/null 2>"$T/err2" || fail "$1: check: $(cat "$T/err2")"
	fi
	"$ARBOR" sync --source "$S" --store "$STORE" >/dev/null 2>"$T/err2" || fail "$1: the next sync: $(cat "$T/err2")"
	dump >"$T/dump" 2>"$T/err2" || fail "$1: dump: $(cat "$T/err2")"
	cmp -s "$T/dump" "$T/after" || fail "$1: not what it would have been (code $code: $(tail -n 1 "$T/err"))"
}

inject() { # CALL ERROR WHEN
	local code
	fresh_store
	traced -e trace="$1" -e inject="$1:error=$2:when=$3"
	code=$?
	runs=$((runs + 1))
	codes[code]=$((${codes[code]:-0} + 1))
	judge "$1:$2:$3" "$code"
}

sweep() { # CALL ERROR [ONCE|ON]: lets it fail once at N, or from N on
	local most first step n
	read -r most first < <(count_calls "$1")
	[ "$most" -ge "$first" ] || return 0
	step=$(((most - first) / samples + 1))
	for ((n = first + RANDOM % step; n <= most; n += step)); do
		inject "$1" "$2" "$n${3:+$3}"
	done
}

# One kind of fault, told as one test.
faults() { # NAME CALL,CALL... ERROR,ERROR... [+]
	local call error
	it "$stage sync: $1"
	runs=0 codes=()
	for call in ${2//,/ }; do
		for error in ${3//,/ }; do sweep "$call" "$error" "${4:-}"; done
	done
	local told='' code
	for code in "${!codes[@]}"; do told+=", code $code: ${codes[code]}"; done
	echo "# $stage: $1: $runs runs$told"
}

all_faults() {
	fresh_store
	strace -f -o "$T/calls" "$ARBOR" sync --source "$S" --store "$STORE" >/dev/null 2>&1
	faults "files that cannot be opened" openat,openat2 EIO,EACCES,EMFILE
	faults "no more file descriptors from some moment on" openat,openat2 EMFILE +
	# ASan reads its own options with read(2), and would forget them.
	if [ "${MODE:-dev}" = asan ]; then faults "reads that fail" pread64 EIO; else faults "reads that fail" pread64,read EIO; fi
	faults "reads that fail from some moment on" pread64 EIO +
	faults "writes that fail" pwrite64 EIO,ENOSPC
	faults "a disk that is full from some moment on" pwrite64,ftruncate,fallocate ENOSPC +
	faults "writes that do not reach the disk" fdatasync,fsync EIO,ENOSPC
	faults "files that cannot be cut" ftruncate EIO,ENOSPC
	faults "files that cannot be looked at" newfstatat,fstat,statx EIO,EACCES
	faults "folders that cannot be listed" getdents64 EIO
	faults "messages that cannot be written" write EIO,ENOSPC
	faults "threads that cannot be started" clone3,clone EAGAIN
	faults "no threads at all from some moment on" clone3,clone EAGAIN +
	# A sanitizer maps memory for itself, and dies when it cannot.
	[ "${MODE:-dev}" = asan ] || faults "memory that cannot be mapped" mmap ENOMEM
	# A lock that cannot be given back is waited for, 30 s each time.
	[ "${SCALE:-short}" != long ] || samples=8 faults "locks that cannot be had" fcntl EIO,ENOLCK
}

it "strace can make a system call fail"
if ! strace -f --seccomp-bpf -o "$T/trace" -e trace=openat -e inject=openat:error=EIO:when=1000 true 2>"$T/err"; then
	skip "strace does not work here: $(head -n 1 "$T/err"); NO FAULT WAS TESTED"
	the_end
fi

RANDOM=${SEED:-1}
"$BUILD/tool/mktree" "$S" 5 6 150000 || exit 1
rm -f "$S"/projects/-home-user-odd/*[bc].jsonl # large ones: the same calls, a thousand times
stage=first
fresh_store
arbor sync --source "$S" --store "$STORE"
code 0
dump >"$T/after"
cp "$STORE" "$T/base.db"

it "says it is done only when its log is on the disk"
fresh_store
traced -y -e trace=pwrite64,fdatasync,fsync,write || fail "$(cat "$T/err")"
awk '/ pwrite64\([0-9]+<[^>]*-wal>/ { written = 1; waiting = 1 }
	/ f(data)?sync\([0-9]+<[^>]*-wal>.* = 0$/ { waiting = 0 }
	/ write\(2</ { told = 1; exit }
	END { exit !(written && told && !waiting) }' "$T/trace" || fail "it did not wait"
all_faults

# A second one, of files that have grown, were rewritten, renamed, deleted.
stage=second
p=$S/projects
for f in "$p"/*/*5-0000-4000-8000-000000000000.jsonl; do head -c 300000 /dev/urandom | base64 >>"$f"; done
for f in "$p"/*/*4-0000-4000-8000-000000000000.jsonl; do head -c 3000 "$p/../history.jsonl" >"$f"; done
printf '{"more":1}\n' >>"$S/history.jsonl"
printf 'other' >"$S/tasks/list-0/0.json"
mv "$S/plans/plan-0.md" "$S/plans/renamed.md"
mv "$p"/-home-user-p0/00000000-*.jsonl "$p/-home-user-p1/"
rm "$S/tasks/list-1/1.json"
mkdir "$S/tasks/new" && printf 'new' >"$S/tasks/new/1.json"
fresh_store
arbor sync --source "$S" --store "$STORE"
code 0
dump >"$T/before"
mv "$T/before" "$T/after"
all_faults
the_end
