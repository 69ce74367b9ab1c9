#!/bin/sh
# dist.sh VERSION SQLITE_DIR: build/dist/arbor-VERSION.tar.gz, a source archive
# that builds without npm: what git tracks, and SQLite's source in vendor/.
#
# The same commit gives the same bytes: names are sorted, times are those of the
# commit, nobody owns anything. What is changed but not committed is not in it,
# and is pointed out. Outside of git (in an unpacked archive) the files that are
# there are taken.
#
# DIST_CHECK=1 unpacks the archive and builds it where no npm can be found.
set -eu
cd "$(dirname "$0")/.."
version=$1
sqlite=$2

name=arbor-$version
out=build/dist
work=$out/work
rm -rf "$out"
mkdir -p "$work/$name/vendor"

if git rev-parse --verify -q HEAD >/dev/null 2>&1; then
	git archive --format=tar HEAD | tar -x -C "$work/$name" -f -
	time=$(git log -1 --format=%ct)
	[ -z "$(git status --porcelain)" ] ||
		echo "dist: note: there are changes that are not committed; the archive is of the last commit"
else
	find . -name build -prune -o -name .git -prune -o -type f -print0 | sort -z |
		tar -c --null -T - -f - | tar -x -C "$work/$name" -f -
	time=$(stat -c %Y VERSION)
fi
cp "$sqlite/sqlite3.c" "$sqlite/sqlite3.h" "$work/$name/vendor/"
(cd "$work/$name/vendor" && sha256sum --check --quiet ../tools/sqlite.sha256)

chmod -R u+rw,go+r,go-w "$work/$name"
tar -c -C "$work" --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --format=ustar -f - "$name" |
	gzip -9n >"$out/$name.tar.gz"
rm -rf "$work"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "dist: $out/$name.tar.gz, $(wc -c <"$out/$name.tar.gz") bytes"

[ "${DIST_CHECK:-0}" = 1 ] || exit 0

# A folder with everything from PATH but npm and node.
check=$(mktemp -d "${TMPDIR:-/tmp}/arbor-dist-XXXXXX")
trap 'rm -rf "$check"' EXIT
mkdir "$check/bin" "$check/home"
old_ifs=$IFS
IFS=:
for folder in $PATH; do
	for program in "$folder"/*; do
		case ${program##*/} in
		npm | npx | node | nodejs) ;;
		*) [ ! -x "$program" ] || [ -e "$check/bin/${program##*/}" ] || ln -s "$program" "$check/bin/" ;;
		esac
	done
done
IFS=$old_ifs
tar -x -C "$check" -f "$out/$name.tar.gz"
cd "$check/$name"
env -i PATH="$check/bin" HOME="$check/home" make >"$check/log" 2>&1 || {
	cat "$check/log"
	echo "dist: the archive does not build"
	exit 1
}
said=$(env -i PATH="$check/bin" HOME="$check/home" build/release/arbor --version)
case $said in
*"$version"*) echo "dist: builds without npm: $said" ;;
*)
	echo "dist: what was built says '$said', not $version"
	exit 1
	;;
esac
