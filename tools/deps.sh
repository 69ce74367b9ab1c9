#!/bin/sh
# deps.sh build|test|real|lint|bench: install what is missing, and say so.
#
# Debian packages come from apt-get (with sudo only when not root), SQLite's
# source from npm. Nothing is touched when everything is there.
set -eu
cd "$(dirname "$0")/.."

# One at a time: make -j may want several sets at once.
mkdir -p build
exec 9>build/deps.lock
flock 9

say() { printf 'deps: %s\n' "$*"; }

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		say "not root and no sudo here; please run as root: $*"
		exit 1
	fi
}

# need PACKAGE TEST...: remember PACKAGE when the test fails.
missing=
need() {
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}
have() { command -v "$1"; }
header() { printf '#include <%s>\n' "$1" | cc -E - ; }

install_missing() {
	[ -n "$missing" ] || return 0
	say "installing Debian packages:$missing"
	if ! command -v apt-get >/dev/null; then
		say "no apt-get here; please install these or their like by hand:$missing"
		exit 1
	fi
	as_root apt-get update -qq
	# shellcheck disable=SC2086 # a list of packages
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
	missing=
}

# fetch_npm FROM TO: what FROM/package-lock.json pins. The copy of it in TO says that it is there.
fetch_npm() {
	mkdir -p "$2"
	cp "$1/package.json" "$1/package-lock.json" "$2/"
	(cd "$2" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) || {
		rm -f "$2/package-lock.json"
		return 1
	}
}

build_deps() {
	need gcc have gcc
	need libc6-dev sh -c 'echo "#include <stdio.h>" | cc -E -'
	need make have make
	install_missing
	need libzstd-dev header zstd.h
	need libxxhash-dev header xxhash.h
	need libutf8proc-dev header utf8proc.h
	need libuv1-dev header uv.h
	if [ ! -e vendor/sqlite3.c ] && [ "${SYSTEM_SQLITE:-}" != 1 ] && ! have npm >/dev/null; then
		# Debian's npm finds no certificates without these.
		missing="$missing npm ca-certificates"
	fi
	install_missing
	if [ "${SYSTEM_SQLITE:-}" = 1 ]; then
		need libsqlite3-dev header sqlite3.h
		install_missing
	elif [ ! -e vendor/sqlite3.c ] && ! cmp -s package-lock.json build/npm/package-lock.json; then
		say "fetching SQLite's source: npm ci --ignore-scripts"
		fetch_npm . build/npm || exit 1
	fi
}

test_deps() {
	need strace have strace   # to fail and kill system calls
	need sqlite3 have sqlite3 # to look at, and to damage, a store
	need zstd have zstd       # to unpack the corpus
	need mandoc have mandoc   # to find what is wrong with manual pages
	need less have less       # to page as people do
	need jq have jq           # to compare with other programs
	need binutils have nm     # to see what the library exports
	need pkgconf have pkg-config # to build with it as others do
	need g++ have g++         # its header is for C++, too
	need python3 have python3 # to run the examples of other hubs
	install_missing
	# It is compared with on the corpus alone.
	[ ! -e "${ARBOR_SHARED:-../shared}/corpus/real-a.tar.zst" ] || fetch_peers
	fetch_clients || say "that failed; what needs the real client is left out"
}

# The clients that agents are driven with, run by themselves and by node's scripted API.
real_deps() {
	need npm have npm
	need nodejs have node
	install_missing
	fetch_clients || exit 1
}
fetch_clients() {
	cmp -s test/real/package-lock.json build/npm-real/package-lock.json && return
	have npm >/dev/null || return 1
	say "fetching two versions of Claude Code: npm ci --ignore-scripts in build/npm-real"
	fetch_npm test/real build/npm-real
}

# Not for lint alone: fuzzing needs clang too.
lint_deps() {
	need clang have clang
	need clang-tidy have clang-tidy
	need cppcheck have cppcheck
	need binutils have objdump
	need shellcheck have shellcheck
	need mandoc have mandoc
	install_missing
	# libFuzzer and the sanitizers' runtime, in the version of clang
	need "libclang-rt-$(clang --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p' | head -n 1)-dev" can_fuzz
	install_missing
}
can_fuzz() {
	echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
		clang -x c -fsanitize=fuzzer,address,undefined - -o /dev/null
}

# Without ccusage the rest of the bench, and the tests, still run, and say so.
bench_deps() {
	need jq have jq
	need zstd have zstd
	need ripgrep have rg
	need python3 have python3
	need npm have npm
	need nodejs have node
	install_missing
	fetch_peers
}
fetch_peers() {
	cmp -s bench/package-lock.json build/npm-bench/package-lock.json || {
		say "fetching what Arbor is compared with: npm ci --ignore-scripts in build/npm-bench"
		fetch_npm bench build/npm-bench || say "that failed; comparisons are left out"
	}
	# The package's own starter would do this.
	chmod -f +x build/npm-bench/node_modules/@ccusage/*/bin/ccusage || :
}

build_deps
case ${1:-build} in
build) ;;
test) test_deps ;;
real) test_deps && real_deps ;;
lint) lint_deps ;;
bench) bench_deps ;;
*) say "unknown set '$1'"; exit 2 ;;
esac
say "what '${1:-build}' needs is there"
