#!/bin/sh
# A store that has lost bytes: what is whole stays within reach, and what the
# original files still have is put back.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
S=$T/.claude
DB=$T/store/arbor.db
export ARBOR_HOME="$T/store"
if ! command -v sqlite3 >/dev/null; then
	it "mends damage"
	skip "there is no sqlite3 to do damage with"
	the_end
fi
damage() { # PATH OFFSET: four bytes of the packed block that begins there
	sqlite3 "$DB" "UPDATE block_data SET bytes = CAST(substr(bytes, 1, 60) || x'00112233' || substr(bytes, 65) AS BLOB)
		WHERE id = (SELECT b.data FROM block b JOIN source s ON s.generation = b.generation
		WHERE s.path = '$1' AND b.offset = $2)"
}
blocks() { sqlite3 "$DB" "SELECT b.offset FROM block b JOIN source s ON s.generation = b.generation
	WHERE s.path = '$1' ORDER BY b.offset"; }
L=projects/p/11111111-1111-4111-8111-111111111111.jsonl
mkdir -p "$S/projects/p"
echo '{"display":"h"}' >"$S/history.jsonl"
awk 'BEGIN { srand(7); for (i = 0; i < 40000; i++) printf "{\"n\":%d,\"x\":\"%d\"}\n", i, rand() * 1e9 }' >"$S/$L"
arbor sync; code 0
it "carries over what a program that was killed has left in the log, also when it only reads"
sqlite3 "$DB" ".dbconfig no_ckpt_on_close on" "INSERT INTO store_setting(key, value, rev) VALUES ('left', 1, 1)" >/dev/null
check test -s "$DB-wal"
arbor sources; code 0
check test ! -s "$DB-wal"
cp "$DB" "$T/alone.db"
check test "$(sqlite3 "$T/alone.db" "SELECT value FROM store_setting WHERE key = 'left'")" = 1

it "starts from a file of several blocks"
check test "$(blocks $L | wc -l)" -gt 3

it "names what is damaged and what to do, and exports the rest"
damage $L 0
arbor check; code 4; err_has "$L"; err_has 'sync --force'
arbor export $L; code 4
arbor export history.jsonl; code 0; same "$S/history.jsonl" "$T/out"

it "keeps all commands working when derived data is rebuilt over the damage"
sqlite3 "$DB" "UPDATE store_setting SET value = 'old' WHERE key = 'derived_hash'"
arbor sources; code 0; out_has history.jsonl
arbor export history.jsonl; code 0
arbor check; code 4

it "mends blocks with --force from the file that still has their bytes"
arbor sync --force; code 0; err_has '1 repaired'
arbor check; code 0
arbor export $L; code 0; same "$S/$L" "$T/out"

it "goes on with a growing file whose last block is damaged, and mends it"
last=$(blocks $L | tail -n 1)
damage $L "$last"
arbor check; code 4
echo '{"new":1}' >>"$S/$L"
arbor sync; code 0; err_has '1 grown'
arbor check; code 0
arbor export $L; code 0; same "$S/$L" "$T/out"

it "keeps a new version of a file when the damaged one can no longer be mended"
damage $L 0
sed -i '1s/.*/{"first":true}/' "$S/$L"
arbor sync; code 0; err_has '1 rewritten'
arbor export $L; code 0; same "$S/$L" "$T/out"
arbor check; code 4; err_has 'generation 1'
the_end
