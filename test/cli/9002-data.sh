#!/bin/sh
# docs/DATA.md shows how to get a file back without arbor: it works as written,
# and every table that exists is on that page.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
if ! command -v sqlite3 >/dev/null || ! command -v zstd >/dev/null; then
	it "gets a file back by hand"
	skip "there is no sqlite3 or no zstd"
	the_end
fi
arbor sync --source demo

it "gets a file back with sqlite3 and zstd alone"
code 0
awk '/^```/ { inside = !inside && /^```sh$/; next } inside' docs/DATA.md >"$T/script"
check test -s "$T/script"
(cd "$T/store" && sh -eu "$T/script") >"$T/out" 2>"$T/err" || { fail "the script ended with $?"; show "$T/err"; }
same demo/history.jsonl "$T/store/history.jsonl"

it "names every table of the store"
for table in $(sqlite3 "$T/store/copy.db" "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
	AND name NOT LIKE 'sqlite_%'"); do
	grep -qw "$table" docs/DATA.md || fail "docs/DATA.md lacks $table"
done

it "is readable by the system's sqlite3, the view included"
check test "$(sqlite3 "$T/store/copy.db" 'SELECT count(*) FROM source_overview')" -eq 29
the_end
