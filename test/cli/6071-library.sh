#!/bin/sh
# The library as it is installed: what it exports, that a program finds it, links it either way and
# runs, beside whatever else is in that program.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
X=examples/library
unset ARBOR_HOME
arbor sync -q --source demo

# What is built here may need the run-time libraries of a sanitizer, which are gcc's. What cannot be done
# with these is done with the other build.
compilers='gcc g++' san=
case $MODE in
asan) san='-fsanitize=address,undefined' ;;
*) compilers="$compilers clang" ;;
esac
strict='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

# Where pkg-config finds it: with both libraries, and with the static one alone.
both=$T/both alone=$T/alone
DESTDIR=$both PREFIX=/opt/arbor LIBDIR='' tools/install-lib.sh "$BUILD"
DESTDIR=$alone PREFIX=/opt/arbor LIBDIR=/opt/arbor/lib/here tools/install-lib.sh "$BUILD"
rm "$alone"/opt/arbor/lib/here/*.so*
config() { # FOLDER OPTION...
	at=$1 && shift
	PKG_CONFIG_SYSROOT_DIR=$at PKG_CONFIG_LIBDIR=$at/opt/arbor/lib/pkgconfig:$at/opt/arbor/lib/here/pkgconfig \
		pkg-config "$@" arbor
}
# build COMPILER FOLDER FILE OPTION...: against what is installed there, as $T/FILE's name.
build() {
	cc=$1 at=$2 file=$3 && shift 3
	extra=
	[ "$at" != "$alone" ] || extra=--static
	name=$T/$(basename "$file" .c)
	# shellcheck disable=SC2046,SC2086 # lists of flags
	$cc $san "$file" "$@" $(config "$at" --cflags --libs $extra) -o "$name" >"$T/log" 2>&1 ||
		{ fail "$cc cannot build $file"; show "$T/log"; }
}
run() { # PROGRAM ARGUMENT...
	LD_LIBRARY_PATH=$both/opt/arbor/lib:${LD_LIBRARY_PATH:-} "$@" >"$T/out" 2>"$T/err"
	rc=$?
}
needs() { readelf -d "$1" | grep -q "NEEDED.*$2"; }

it "exports what the header declares and nothing else, from both libraries"
awk '/^ARBOR_PUBLIC/ { text = ""; inside = 1 }
	inside { text = text $0 }
	inside && /;/ { match(text, /arbor_[a-z0-9_]+\(/); print substr(text, RSTART, RLENGTH - 1); inside = 0 }' \
	include/arbor.h | sort >"$T/declared"
check test "$(wc -l <"$T/declared")" -ge 16
check test "$(sort -u "$T/declared" | wc -l)" = "$(grep -c '^ARBOR_PUBLIC' include/arbor.h)"
nm -D --defined-only "$BUILD/libarbor.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$T/shared"
nm -g --defined-only "$BUILD/libarbor.a" | awk 'NF == 3 { print $3 }' | sort >"$T/static"
same "$T/declared" "$T/shared"
same "$T/declared" "$T/static"

it "has a header that stands alone in C and in C++, strictly"
for compiler in 'gcc -std=c99' 'clang -std=c99' 'g++ -x c++ -std=c++11' 'clang++ -x c++ -std=c++11'; do
	[ "${compiler%% *}" = gcc ] || command -v "${compiler%% *}" >/dev/null || continue
	echo '#include <arbor.h>' >"$T/alone.c"
	# shellcheck disable=SC2086,SC2046
	$compiler $strict $(config "$both" --cflags) -fsyntax-only "$T/alone.c" 2>"$T/log" ||
		{ fail "$compiler"; show "$T/log"; }
done

it "is found by pkg-config where it was installed, with its version"
check test "$(config "$both" --modversion)" = "$(cat VERSION)"
check test "$(config "$both" --variable=libdir)" = "$both/opt/arbor/lib" -o \
	"$(config "$both" --variable=libdir)" = /opt/arbor/lib
check test -h "$both/opt/arbor/lib/libarbor.so"
check cmp -s include/arbor.h "$both/opt/arbor/include/arbor.h"

printf '%s\n' 'How should we store prices in the orders table?' 'Integer cents. Sketch the migration' >"$T/want"
finds() { run "$T/find" 'integer cents'; code 0; head -n 2 "$T/out" | cmp -s - "$T/want" || { fail 'what it prints'; show "$T/out"; }; }

for compiler in $compilers; do
	for at in "$both" "$alone"; do
		it "builds the example with $compiler and runs it, $(basename "$at" | sed 's/both/shared/; s/alone/static/')"
		if ! command -v "$compiler" >/dev/null; then
			skip "there is no $compiler"
		else
			# shellcheck disable=SC2086 # a list of flags
			build "$([ $compiler = g++ ] && echo 'g++ -x c++' || echo $compiler)" "$at" $X/find.c $strict
			finds
			case $at in
			"$both") needs "$T/find" libarbor.so.0 || fail 'it is not linked with the shared one' ;;
			*) ! needs "$T/find" libarbor || fail 'it is linked with the shared one' ;;
			esac
		fi
	done
done

it "says what is wrong and prints nothing by itself"
build gcc "$both" $X/find.c
HOME=$T/nobody run "$T/find" x; code 1; out_is ''
check test "$(wc -l <"$T/err")" = 1
err_has 'find: '; err_has 'no store here yet'
run "$T/find" nothinglikethis; code 1; err_has "no text has the word 'nothinglikethis'"

[ -n "$san" ] || it "has a second example that is the first in Python"
if [ -n "$san" ]; then :
elif ! command -v python3 >/dev/null; then skip 'there is no python3'
else
	run python3 $X/find.py integer cents; code 0
	out_has "'Integer cents. Sketch the migration'"
	HOME=$T/nobody run python3 $X/find.py x; code 1; err_has 'no store here yet'
fi

it "hides all that is inside it from a program that has the same names"
# What of others is inside: both have SQLite, the static one what it could get.
theirs() { # LIBRARY NAME...
	grep -q -e "-l$1\b" "$BUILD/arbor.pc" || { shift && echo "$@"; }
}
sqlite=$(theirs sqlite3 sqlite3_open_v2 sqlite3_prepare_v2 sqlite3_step sqlite3_initialize)
others="$(theirs zstd ZSTD_decompressDCtx ZSTD_createDCtx) $(theirs utf8proc utf8proc_category) $(theirs uv uv_loop_init)"
clash() { # FOLDER NAME...
	at=$1 && shift
	{
		echo '#include <stdlib.h>'
		for name in "$@"; do echo "void $name(void); void $name(void) { abort(); }"; done
		cat $X/find.c
	} >"$T/clash.c"
	build gcc "$at" "$T/clash.c" -rdynamic -w
	mv "$T/clash" "$T/find"
	finds
}
ours='buf_add arena_alloc mem_alloc json_read store_open hub_call str_of err_set api_end sql_files arbor_hub'
# shellcheck disable=SC2086 # lists of names
clash "$both" $ours $sqlite
# shellcheck disable=SC2086
clash "$alone" $ours $sqlite $others

[ -n "$san" ] || it "works beside another SQLite and another copy of itself"
cat >"$T/beside.c" <<'END'
#include <arbor.h>
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
int main(void)
{
	void *copy = dlopen("libarbor.so.0", RTLD_NOW | RTLD_LOCAL);
	int (*open_copy)(const struct arbor_options *, struct arbor **, struct arbor_error *);
	struct arbor_options o = { sizeof o, "other.db", 0, 0, ARBOR_CREATE, 0 };
	struct arbor *a, *b;
	sqlite3 *db;
	*(void **)&open_copy = copy ? dlsym(copy, "arbor_open") : NULL;
	if (!open_copy || (void *)open_copy == (void *)arbor_open)
		return 1;
	if (arbor_open(NULL, &a, NULL) || open_copy(&o, &b, NULL) || sqlite3_open(":memory:", &db))
		return 2;
	if (sqlite3_exec(db, "CREATE TABLE x(y)", 0, 0, 0) || arbor_search(a, "cents", 1, NULL, NULL, NULL))
		return 3;
	printf("%s beside SQLite %s\n", arbor_version(), sqlite3_libversion());
	return 0;
}
END
if [ -n "$san" ]; then :
elif ! echo '#include <sqlite3.h>' | gcc -E - >/dev/null 2>&1; then skip "there is no other SQLite"
else
	build gcc "$alone" "$T/beside.c" -lsqlite3 -ldl
	(cd "$T" && run "$T/beside"; exit $rc) || fail "it ended with $?"
	out_has 'beside SQLite'
fi

it "writes and reads JSON in a locale that writes 1,5"
mkdir "$T/locale"
cat >"$T/comma.c" <<'END'
#include <arbor.h>
#include <locale.h>
#include <stdio.h>
static int print(void *ctx, const char *data, size_t length)
{
	(void)ctx;
	return printf("%.*s|%.1f\n", (int)length, data, 1.5) < 0;
}
static int count(void *ctx, const char *data, size_t length)
{
	(void)data;
	(void)length;
	++*(int *)ctx;
	return 0;
}
int main(void)
{
	const char *const query[] = { "query", "SELECT 1.5 AS x", 0 };
	const char *const filter[] = { "filter", "{\"n\":1.50}", 0 };
	char one[ARBOR_ID_SIZE], other[ARBOR_ID_SIZE];
	struct arbor *a;
	int found = 0;
	if (!setlocale(LC_ALL, "de_DE.UTF-8") || arbor_open(NULL, &a, NULL))
		return 1;
	if (arbor_tree_add(a, NULL, "{\"n\":1.5}", one, NULL) || arbor_tree_add(a, NULL, "{\"n\":1.7}", other, NULL) ||
	    arbor_call_text(a, "storage.sql", query, print, NULL, NULL, NULL) ||
	    arbor_call_text(a, "arbor.tree_query_by_metadata", filter, count, &found, NULL, NULL))
		return 2;
	arbor_close(a);
	return found == 1 ? 0 : 3;
}
END
if ! localedef -i de_DE -f UTF-8 "$T/locale/de_DE.UTF-8" >/dev/null 2>&1; then skip 'the locale de_DE cannot be made here'
else
	build gcc "$both" "$T/comma.c"
	LOCPATH=$T/locale run "$T/comma"; code 0
	out_is '{"x":1.5}|1,5'
fi

it "has a manual page with every function on it"
page=$both/opt/arbor/share/man/man3/arbor.3
while read -r name; do grep -q "^[a-z].*\b$name(" "$page" || fail "$name is not on the page"; done <"$T/declared"
if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning "$page" >"$T/log" 2>&1 || { fail 'the page'; show "$T/log"; }
fi

it "is shown in docs/LIBRARY.md as it is"
awk '/^```/ { inside = !inside && /^```c$/; next } inside' docs/LIBRARY.md >"$T/shown"
same "$T/shown" $X/find.c

the_end
