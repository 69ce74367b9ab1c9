#!/usr/bin/env bash
# SQL over the documented tables: what docs/SQL.md says holds, nothing can be written, and no
# query takes all the time or memory there is.
. test/harness/lib.sh
export ARBOR_HOME=$T/store
arbor sync --source demo; code 0
tab=$(printf '\t')
id=a142ef82-8817-4271-a6f0-ba29c1d2a50a
"$BUILD/tool/plant" "$ARBOR_HOME/arbor.db" || exit 1
arbor note $id 'decided'; arbor bookmark $id prices; arbor tag $id decision; code 0
tables='sessions messages messages_meta tool_uses file_modifications extraction_state links topics nodes trees notes bookmarks tags chat_streams chat_events'
forever='WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)'

it "runs every example of docs/SQL.md"
awk -v to="$T/example" '/^```sql$/ { file = to "." ++n; next } /^```/ { file = ""; next } file { print >file }' docs/SQL.md
check test -s "$T/example.10"
last=$T/example.$(find "$T" -name 'example.*' | wc -l)
for f in "$T"/example.*; do
	[ "$f" = "$last" ] && continue
	arbor sql - <"$f"; code 0; check test ! -s "$T/err"
done

it "lists transcripts that are gone or have more than was read, and no others"
arbor sql - <"$last"; code 1
mkdir -p "$T/grown/projects/-w"
for n in 1 2 3; do printf '{"type":"user","uuid":"%s","message":{"role":"user","content":"x"}}' $n >"$T/grown/projects/-w/11111111-2222-4333-8444-55555555550$n.jsonl"; done
printf '\n{"type":"us' >>"$T/grown/projects/-w/11111111-2222-4333-8444-555555555502.jsonl"
arbor sync --source "$T/grown" --store "$T/grown.db"; rm "$T"/grown/projects/-w/*503.jsonl; arbor sync --source "$T/grown" --store "$T/grown.db"
arbor sql --store "$T/grown.db" - <"$last"; code 0
check test "$(sed 's/.*\(50.\).jsonl.*/\1/' "$T/out" | tr '\n' ' ')" = '502 503 '

it "has the columns that docs/SQL.md has, and no others"
for t in $tables; do
	awk -v t="$t" '$1 ~ /^##/ { inside = $2 == t } inside' docs/SQL.md >"$T/section"
	arbor sql "SELECT name FROM pragma_table_info('$t')"; code 0
	check test "$(wc -l <"$T/out")" -ge 3
	while read -r c; do grep -q "\`$c\`" "$T/section" || fail "docs/SQL.md: $t lacks $c"; done <"$T/out"
	arbor sql "SELECT * FROM $t LIMIT 1"
	case $t in trees) code 1 ;; *) code 0 ;; esac
done

it "finds the same by a key as by looking at everything"
for key in sessions.id messages.session_id messages.id messages.uuid messages_meta.session_id messages_meta.id \
	messages_meta.uuid tool_uses.session_id tool_uses.tool_id file_modifications.session_id nodes.id nodes.session_id \
	notes.id notes.subject_id notes.session_id bookmarks.name bookmarks.id tags.name tags.subject_id \
	chat_streams.id chat_streams.session_id chat_events.stream_id chat_events.session_id; do
	t=${key%.*} c=${key#*.}
	arbor sql "SELECT count(*), count($c) FROM $t WHERE $c IS NOT NULL"; cp "$T/out" "$T/all"
	arbor sql "SELECT sum(n), sum(n) FROM (SELECT (SELECT count(*) FROM $t x WHERE x.$c = k.$c) AS n
		FROM (SELECT DISTINCT $c FROM $t WHERE $c IS NOT NULL) k)"
	code 0; same "$T/all" "$T/out"
done
arbor sql "SELECT count(*) FROM messages WHERE session_id = '$id' OR uuid IN (SELECT uuid FROM messages WHERE session_id = '$id')"
cp "$T/out" "$T/both"; arbor sql "SELECT count(*) FROM messages WHERE session_id = '$id'"; same "$T/both" "$T/out"

it "finds words as 'arbor search' does, best first"
arbor search 'integer cents' -n 50 --json; grep -o '"line":"[^"]*"' "$T/out" | cut -d '"' -f 4 | awk '!seen[$0]++' >"$T/want"
check test -s "$T/want"
arbor sql "SELECT uuid FROM messages WHERE messages MATCH 'integer cents' ORDER BY rank"; code 0
same "$T/want" "$T/out"
arbor sql "SELECT uuid FROM messages('integer cents')"; same "$T/want" "$T/out"
arbor sql "SELECT count(*) FROM messages WHERE messages MATCH 'integer cents' AND session_id = '$id'"; out_is 3
arbor sql "SELECT snippet(messages, -1, '[', ']') FROM messages('sketch migration')"; out_is 'Integer cents. [Sketch] the [migration]'
arbor sql "SELECT count(*) FROM messages WHERE content MATCH 'cents' AND content NOT LIKE '%cent%'"; out_is 0
arbor sql "SELECT count(*) FROM messages WHERE messages MATCH '...'"; code 2; err_has 'no word to look for'

it "gives the text of nodes and the lines they stand in"
arbor sql "SELECT uuid FROM messages WHERE session_id = '$id' AND role = 'user' ORDER BY timestamp LIMIT 1"; uuid=$(cat "$T/out")
arbor sql "SELECT content('$uuid')"; out_is 'How should we store prices in the orders table?'
arbor sql "SELECT line('$uuid')"; grep -h "\"uuid\":\"$uuid\"" demo/projects/*/$id.jsonl | head -n 1 >"$T/want"; same "$T/want" "$T/out"
arbor sql "SELECT count(*) FROM nodes WHERE content IS NOT content(id)"; out_is 0
arbor sql "SELECT content('nothing'), line(NULL), thinking('$uuid')"; out_is "\\N$tab\\N$tab\\N"
arbor sql "SELECT count(*) FROM tool_uses WHERE output_text IS NULL AND error_text IS NULL AND is_error IS NOT NULL"; out_is 0

it "prints a line a row into a pipe, NULL apart from nothing"
arbor sql "SELECT NULL, '', 'a	b', 1.5, 7, x'00ff', x'a142ef8288174271a6f0ba29c1d2a50a'"; code 0
out_is "\\N${tab}${tab}a␉b${tab}1.5${tab}7${tab}00ff${tab}$id"

it "prints an object a row with --json"
arbor sql --json "SELECT 1 AS a, 2 AS a, 3 AS v, NULL AS n, 0.1 AS f, 9e999 AS much, 9223372036854775807 AS i, x'0011' AS b, 'ü\"' AS s"
out_is '{"v":1,"a":1,"a_2":2,"v_2":3,"n":null,"f":0.1,"much":"Infinity","i":9223372036854775807,"b":"0011","s":"ü\""}'
arbor call storage.sql '{"query":"SELECT 1 AS one"}'; code 0; out_is '{"v":1,"one":1}'
arbor sql -0 'SELECT 1'; code 2

it "prints a table on a terminal, and a value a line where that is too wide"
screen=60x20 on_terminal sql --color never "SELECT id, summary, NULL AS nil FROM sessions WHERE id = '$id'"
out_has 'summary'; out_has 'NULL'; check test "$(wc -l <"$T/out")" -eq 2
screen=60x20 on_terminal sql --color never --no-pager "SELECT * FROM sessions WHERE id = '$id'"
out_has 'project_name: webshop'; out_has 'prompt_count: 4'
screen=60x20 on_terminal sql --color never "SELECT 1 AS \"$(printf 'a\033[31mb')\""; out_has 'a␛[31mb'

it "reads a query from standard input, one statement with what people put around it"
printf -- '-- a question\nSELECT 5; -- yes\n;\n' >"$T/q"; arbor sql - <"$T/q"; code 0; out_is 5
printf 'SELECT 1; SELECT 2' >"$T/q"; arbor sql - <"$T/q"; code 2; err_has 'one statement at a time'
printf -- '-- nothing' >"$T/q"; arbor sql - <"$T/q"; code 2; err_has 'no query'
printf 'SELECT 1\0' >"$T/q"; arbor sql - <"$T/q"; code 2; err_has 'NUL'

it "says what is wrong in SQLite's words"
arbor sql 'SELEC 1'; code 2; err_has 'near "SELEC": syntax error, at character 1'
arbor sql 'SELECT nope FROM sessions'; code 2; err_has 'no such column: nope'
arbor sql "SELECT json_extract('{', '\$')"; code 2; err_has 'malformed JSON'
arbor sql; code 2; arbor sql SELECT 1; code 2
arbor sql 'SELECT 1 WHERE 0'; code 1; err_has 'no rows'

it "writes nothing, whatever it is told"
cp "$T/store/arbor.db" "$T/before"
while read -r statement; do
	arbor sql "$statement"; code 2; check test ! -s "$T/out"
	check test "$(wc -l <"$T/err")" -eq 1
done <<END
ATTACH '$T/new.db' AS x
VACUUM INTO '$T/new.db'
VACUUM
PRAGMA writable_schema = 1
PRAGMA query_only = 0
PRAGMA journal_mode = DELETE
PRAGMA wal_checkpoint(TRUNCATE)
UPDATE entry SET type = 0
UPDATE sessions SET id = 1
DELETE FROM source
INSERT INTO project(path) VALUES ('x')
INSERT INTO search(search) VALUES ('optimize')
CREATE TABLE t(a)
CREATE TEMP TABLE t(a)
CREATE TEMP VIEW v AS SELECT 1
CREATE VIRTUAL TABLE temp.t USING fts5(a)
CREATE TEMP TRIGGER x AFTER INSERT ON project BEGIN SELECT 1; END
DROP TABLE entry
ALTER TABLE entry RENAME TO x
REINDEX
ANALYZE
BEGIN IMMEDIATE
COMMIT
SAVEPOINT s
DETACH main
WITH x AS (SELECT 1) DELETE FROM entry
EXPLAIN DELETE FROM entry
END
same "$T/before" "$T/store/arbor.db"; check test ! -e "$T/new.db"

it "reads the documented tables only"
while read -r statement; do
	arbor sql "$statement"; code 2; check test ! -s "$T/out"
done <<END
SELECT * FROM store_setting
SELECT value FROM store_setting WHERE key = 'tombstone_key'
SELECT bytes FROM block_data
SELECT * FROM search
SELECT sql FROM sqlite_master
SELECT sql FROM sqlite_schema
SELECT * FROM pragma_database_list
SELECT * FROM dbstat
SELECT * FROM arbor_part(1, 0, 0, 1)
WITH sessions AS (SELECT * FROM mirror_session) SELECT * FROM sessions
SELECT arbor_text(1, 0, -1)
SELECT arbor_row(1)
SELECT fts5('x')
SELECT load_extension('x')
SELECT readfile('/etc/passwd')
SELECT writefile('$T/new.db', 'x')
END
check test ! -e "$T/new.db"

it "stops what never ends: at a row, a time, a signal"
arbor sql "$forever SELECT n FROM c" -n 3; code 0; check test "$(wc -l <"$T/out")" -eq 3; err_has 'more rows'
arbor sql "$forever SELECT count(*) FROM c" --timeout 1; code 9; err_has '--timeout gives it more'
arbor sql "SELECT count(*) FROM nodes a, nodes b, nodes c, nodes d WHERE a.content = d.content" --timeout 1; code 9
# shellcheck disable=SC2034 # code() reads it
timeout --foreground -s INT 1 "$ARBOR" sql "$forever SELECT count(*) FROM c" >"$T/out" 2>"$T/err"; rc=$?; code 124; err_has cancelled

it "takes no more than some memory"
arbor sql 'SELECT zeroblob(1000000000)'; code 9; err_has 'too big'
arbor sql "SELECT printf('%.*c', 2000000000, 'x')"; code 9
arbor sql "SELECT replace(hex(zeroblob(20000000)), '0', '0123456789')"; code 9
arbor sql "$forever SELECT length(group_concat(hex(zeroblob(1000000)), '')) FROM (SELECT n FROM c LIMIT 40)"; code 9; err_has 'too big'
if [ "${BUILD##*/}" = dev ]; then
	# Without a limit it would take all there is.
	arbor sql "$forever SELECT count(*) FROM (SELECT randomblob(1000000) AS b FROM c ORDER BY b)"; code 9; err_has '512 MiB of memory'
fi
arbor sql "SELECT $(printf '1,%.0s' $(seq 200)) 1"; code 2; err_has 'too many columns'
arbor sql "SELECT $(printf '1+%.0s' $(seq 2000))1"; code 2; err_has 'too large'
printf 'SELECT 1 %2000000s' '' >"$T/q"; arbor sql - <"$T/q"; code 9

it "reads a store that cannot be written, and one that is being written"
chmod 500 "$T/store"; chmod 400 "$T/store/arbor.db"
arbor sql 'SELECT count(*) FROM sessions'; code 0; out_is 15
chmod 700 "$T/store"; chmod 600 "$T/store/arbor.db"
arbor sql 'SELECT 1' --store "$T/none.db"; code 1; check test ! -e "$T/none.db"

it "calls sessions what they are called everywhere, by summaries in other files too"
mkdir -p "$T/titled/projects/-w"; one=77777777-0000-4000-8000-000000000001 two=77777777-0000-4000-8000-000000000002
printf '{"type":"user","uuid":"11111111-2222-4333-8444-555555555501","sessionId":"%s","cwd":"/w","timestamp":"2026-11-01T00:00:00Z","message":{"content":"only a prompt"}}\n' $one \
	>"$T/titled/projects/-w/$one.jsonl"
printf '{"type":"summary","summary":"A title from elsewhere","leafUuid":"11111111-2222-4333-8444-555555555501"}\n' >"$T/titled/projects/-w/$two.jsonl"
arbor --store "$T/titled.db" sync --source "$T/titled"; code 0
arbor --store "$T/titled.db" list --json; out_has '"title":"A title from elsewhere"'
arbor --store "$T/titled.db" sql "SELECT summary FROM sessions WHERE id = '$one'"; out_is 'A title from elsewhere'
it "counts an answer once whose copy has other uuids, as old clients wrote them"
mkdir -p "$T/old/projects/-w"
old() { # SESSION UUID
	printf '{"type":"assistant","uuid":"%s","parentUuid":null,"sessionId":"%s","timestamp":"2026-01-01T00:00:01Z","message":{"id":"msg_1","role":"assistant","model":"m","content":[{"type":"text","text":"yes"}],"usage":{"input_tokens":1,"output_tokens":5}}}\n' "$2" "$1" >"$T/old/projects/-w/$1.jsonl"
}
old 00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000011
old 00000000-0000-4000-8000-000000000002 00000000-0000-4000-8000-000000000012
arbor sync --source "$T/old" --store "$T/old.db"; code 0
arbor sql --store "$T/old.db" "SELECT count(DISTINCT message_id), count(DISTINCT answer_id) FROM messages_meta"; out_is "2${tab}1"
sed -n '/^Tokens by model/,/^```$/p' docs/SQL.md | sed '/^```/d; /^Tokens/d' >"$T/tokens"
arbor sql --store "$T/old.db" "$(cat "$T/tokens")"; code 0; out_is "m${tab}5"
arbor sql "SELECT count(*) FROM messages_meta WHERE answer_id IS NULL AND message_id IS NOT NULL"; out_is 0

the_end
