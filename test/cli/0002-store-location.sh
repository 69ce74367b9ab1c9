#!/bin/sh
# Where the store is, who may read it, and what is not a store.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
mode() { stat -c %a "$1"; }
private() { # FILE-OR-FOLDER...
	for p in "$@"; do
		if [ -d "$p" ]; then want=700; else want=600; fi
		[ "$(mode "$p")" = $want ] || fail "$p has mode $(mode "$p"), wanted $want"
	done
}
umask 000 # the program has to see to it itself

it "is below ~/.local/share by default"
arbor sync --source demo; code 0
check test -f "$T/.local/share/arbor/arbor.db"
arbor check; code 0

it "is below XDG_DATA_HOME when that is set"
export XDG_DATA_HOME="$T/xdg"
arbor sources; code 1; err_has "$T/xdg/arbor/arbor.db"
arbor sync --source demo; code 0
check test -f "$T/xdg/arbor/arbor.db"

it "is in ARBOR_HOME when that is set, whatever XDG_DATA_HOME says"
export ARBOR_HOME="$T/home"
arbor sync --source demo; code 0
check test -f "$T/home/arbor.db"

it "is what --store says, whatever the environment says"
arbor sync --source demo --store "$T/a/b/c/my.db"; code 0
check test -f "$T/a/b/c/my.db"
(cd "$T" && "$ARBOR" sources --store a/b/c/my.db) >"$T/out" 2>"$T/err" || fail 'a relative path'
out_has history.jsonl

it "ignores empty variables"
ARBOR_HOME='' XDG_DATA_HOME='' arbor sources; code 0; out_has history.jsonl
unset ARBOR_HOME XDG_DATA_HOME

it "works without HOME"
rc=0
(unset HOME && "$ARBOR" sync --source demo --store "$T/a/b/c/my.db") >"$T/out" 2>"$T/err" || rc=$?
code 0

it "makes every folder and file readable by its owner alone"
private "$T/.local" "$T/.local/share" "$T/.local/share/arbor" "$T/xdg" "$T/xdg/arbor" "$T/home" "$T/a" "$T/a/b" "$T/a/b/c"
private "$T/.local/share/arbor"/* "$T/xdg/arbor"/* "$T/home"/* "$T/a/b/c"/*

it "keeps its -wal, -shm and -bell files private too, also those a crash leaves"
mkdir -p "$T/big/projects/p"
truncate -s 60G "$T/big/projects/p/big.jsonl"
# In a shell of its own, whose word about the kill nobody needs to see.
(timeout -s KILL 1 "$ARBOR" sync --source "$T/big" --store "$T/killed/arbor.db") >/dev/null 2>&1 || true
check test -f "$T/killed/arbor.db-wal"
check test -f "$T/killed/arbor.db-shm"
check test -f "$T/killed/arbor.db-bell"
private "$T/killed" "$T/killed"/*
arbor check --store "$T/killed/arbor.db"; code 0
private "$T/killed"/*

it "narrows the permissions of a store that others can read"
chmod 666 "$T/home/arbor.db"
arbor check --store "$T/home/arbor.db"; code 0
private "$T/home/arbor.db"

it "leaves a folder that was there before as it is"
mkdir -m 755 "$T/shared"
arbor sync --source demo --store "$T/shared/arbor.db"; code 0
check test "$(mode "$T/shared")" = 755
private "$T/shared"/*

it "does not make a store when it only wants to read one"
for c in sources 'dump --logical' check 'export x'; do
	# shellcheck disable=SC2086 # several arguments
	arbor $c --store "$T/new/arbor.db"; code 1; err_has 'no store here yet'
done
check test ! -e "$T/new"

it "refuses a file that is not a store and leaves it alone"
printf 'My notes.\n' >"$T/notes"
dd if=/dev/zero of="$T/zeros" bs=4096 count=4 2>/dev/null
for f in notes zeros; do
	cp "$T/$f" "$T/$f.before"
	for c in 'sync --source demo' sources check; do
		# shellcheck disable=SC2086 # several arguments
		arbor $c --store "$T/$f"; code 11; err_has "$T/$f"
	done
	same "$T/$f.before" "$T/$f"
done
arbor sources --store "$T"; code 11

it "refuses a database of another program and leaves it alone"
if command -v sqlite3 >/dev/null; then
	sqlite3 "$T/other.db" 'CREATE TABLE mine(x); INSERT INTO mine VALUES (1)'
	cp "$T/other.db" "$T/other.before"
	for c in 'sync --source demo' sources check; do
		# shellcheck disable=SC2086 # several arguments
		arbor $c --store "$T/other.db"; code 11
	done
	check test "$(sqlite3 "$T/other.db" 'SELECT x FROM mine')" = 1
	check test "$(sqlite3 "$T/other.db" 'SELECT count(*) FROM sqlite_schema')" = 1
else
	skip 'there is no sqlite3'
fi

it "refuses a store of a newer arbor with its own words, and leaves it alone"
cp "$T/home/arbor.db" "$T/newer.db"
# The schema version is a big-endian integer at byte 60 of the file.
printf '\377' | dd of="$T/newer.db" bs=1 seek=62 conv=notrunc 2>/dev/null
cp "$T/newer.db" "$T/newer.before"
for c in 'sync --source demo' sources check 'dump --logical'; do
	# shellcheck disable=SC2086 # several arguments
	arbor $c --store "$T/newer.db"; code 5; err_has newer
done
same "$T/newer.before" "$T/newer.db"

it "survives a store file of no bytes, as a crash at the first moment leaves it"
: >"$T/empty.db"
arbor sync --source demo --store "$T/empty.db"; code 0
arbor check --store "$T/empty.db"; code 0

it "says when others could put another store in the place of this one"
mkdir -m 777 "$T/open"
chmod 777 "$T/open"
ARBOR_HOME=$T/open arbor sync --source demo; code 0
ARBOR_HOME=$T/open arbor check; code 4; err_has 'others may write to it'
chmod 700 "$T/open"
ARBOR_HOME=$T/open arbor check; code 0

the_end
