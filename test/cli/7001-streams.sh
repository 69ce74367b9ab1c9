#!/bin/bash
# Streams: asked for, followed, read by named cursors, resolved; and what becomes of one whose writer dies.
. test/harness/lib.sh
export ARBOR_HOME=$T/store
mkdir -p "$ARBOR_HOME"; db=$ARBOR_HOME/arbor.db
call() { arbor call "claudecode.$1" "$2" --json; }
get() { jq -r "$1" "$T/out"; }
# Waits until a query has this answer, at most some seconds.
until_sql() { for ((n = 0; n < 500; n++)); do [ "$(sqlite3 "$db" "$1" 2>/dev/null)" = "$2" ] && return; sleep 0.02; done; fail "$1"; }

it "has none before an agent was started, and says so"
arbor sync --source demo --project /home/dev/webshop -q # in which nothing was forked
call streams '{}'; code 1; check test ! -s "$T/out"; err_has 'no agent was started from here yet'
call poll '{"stream":"fix-tests"}'; code 1; err_has "'fix-tests' is no stream"
check test "$(sqlite3 "$db" 'PRAGMA user_version')" = 1

it "lists a stream, with its session, state and events"
"$BUILD/tool/plant" "$db" || fail 'no stream'
call streams '{"session":"fix-tests"}'; code 0
check test "$(get '[.name, .state, .events] | join(" ")')" = 'fix-tests complete 7'
id=$(get .id)
call streams '{"session":"fix"}'; check test "$(get .id)" = "$id"
call streams '{"session":"nobody"}'; code 1

it "gives all events from the beginning, by session, by id and by its first digits"
for name in fix-tests "$id" "${id:0:8}"; do
	call poll "{\"stream\":\"$name\"}"; code 0
	check test "$(get '[.events[].seq] | join(",")')" = 1,2,3,4,5,6,7
	check test "$(get '[.state, .cursor, .total, .more, .over, .reset] | map(tostring) | join(" ")')" = 'complete 1.7 7 false true false'
done
check test "$(get '[.events[] | select(.type == "content_delta") | .data.text] | join("")')" = 'The clock is wrong.'

it "gives what lies behind a place, nothing twice and nothing left out"
at=0 seen=
for ((i = 0; i < 4; i++)); do
	call poll "{\"stream\":\"fix-tests\",\"after\":\"$at\",\"limit\":2}"; code 0
	seen="$seen $(get '[.events[].seq] | join(" ")')" at=$(get .cursor)
done
check test "$seen" = ' 1 2 3 4 5 6 7'; check test "$at" = 1.7
call poll "{\"stream\":\"fix-tests\",\"after\":\"$at\"}"; check test "$(get '[(.events | length), .cursor, .over] | map(tostring) | join(" ")')" = '0 1.7 true'

it "answers a place that is none with reset, and what is no place with an error"
for at in 1.8 2.3 99; do
	call poll "{\"stream\":\"fix-tests\",\"after\":\"$at\"}"; code 0
	check test "$(get '[.reset, .cursor, (.events | length), .over] | map(tostring) | join(" ")')" = 'true 0 0 false'
	arbor call claudecode.tail fix-tests --after $at; code 10; err_has 'begin anew'
done
arbor call claudecode.poll fix-tests --after x; code 2; err_has 'no place in a stream'
arbor call claudecode.poll fix-tests --after 1 --cursor ui; code 2; err_has 'not both'

it "keeps places by name, which move when they are told to"
call cursor_create '{"stream":"fix-tests","name":"a"}'; code 0; check test "$(get '[.cursor, .behind] | map(tostring) | join(" ")')" = '0 7'
call poll '{"stream":"fix-tests","cursor":"a","limit":3}'; at=$(get .cursor)
call poll '{"stream":"fix-tests","cursor":"a","limit":3}'; check test "$(get '.events[0].seq')" = 1
call cursor_advance "{\"stream\":\"fix-tests\",\"name\":\"a\",\"to\":\"$at\"}"; code 0; check test "$(get .behind)" = 4
call poll '{"stream":"fix-tests","cursor":"a"}'; check test "$(get '[.events[].seq] | join(",")')" = 4,5,6,7
arbor call claudecode.cursor_advance fix-tests a 1.2; code 10; err_has 'does not go back'
arbor call claudecode.cursor_create fix-tests a; code 10; err_has "has a cursor 'a' already"
call cursor_list '{"stream":"fix-tests"}'; check test "$(get .name | tr '\n' ' ')" = 'a ui '
call cursor_delete '{"stream":"fix-tests","name":"a"}'; code 0
arbor call claudecode.poll fix-tests --cursor a; code 1; err_has "no cursor 'a'"

it "waits for an event, and for no longer than it was told to"
"$BUILD/tool/plant" "$db" slow 1 2500 & writer=$!
until_sql "SELECT t.incarnation FROM stream t JOIN session s ON s.id = t.session WHERE s.name = 'slow'" 2
call poll '{"stream":"slow","after":"1","wait":1}'; code 0
check test "$(get '[.state, (.events | length), .over, .cursor] | map(tostring) | join(" ")')" = 'running 0 false 1'
call poll '{"stream":"slow","after":"1","wait":30}'; code 0
check test "$(get '.events[0].seq')" = 2
wait $writer

it "follows a stream to its end while it is written"
"$BUILD/tool/plant" "$db" follow 40 10 & writer=$!
until_sql "SELECT t.incarnation FROM stream t JOIN session s ON s.id = t.session WHERE s.name = 'follow'" 2
call tail '{"stream":"follow"}'; code 0
wait $writer
check test "$(get .seq | tr '\n' ' ')" = "$(seq -s ' ' 1 42) "
check test "$(get .type | tail -n 1)" = complete
call tail '{"stream":"follow","after":"40","replay":true}'; check test "$(get .seq | tr '\n' ' ')" = '41 42 '

it "says that a stream is interrupted when its writer is dead, also to whoever follows it"
"$BUILD/tool/plant" "$db" dies 2000 5 & writer=$!
until_sql "SELECT last_seq > 5 FROM stream WHERE session = (SELECT id FROM session WHERE name = 'dies')" 1
call streams '{"session":"dies"}'; check test "$(get .state)" = running
"$ARBOR" call claudecode.tail '{"stream":"dies"}' --json >"$T/tail" & reader=$!
kill -9 $writer; wait $writer 2>/dev/null
wait $reader || fail 'tail ended badly'
check test "$(jq -r .type "$T/tail" | tail -n 1)" = interrupted
check test "$(jq -r .seq "$T/tail" | awk '$1 != NR { bad = 1 } END { print bad + 0 }')" = 0
call streams '{"session":"dies"}'; check test "$(get .state)" = interrupted
call poll '{"stream":"dies"}'; check test "$(get .error)" = 'the process that ran it is gone'

it "resolves handles of streams and events, and renders them"
call poll '{"stream":"fix-tests"}'; event=$(get '.events[4].handle') node=$(get '.events[4].id')
arbor resolve "$event" --json; code 0
check test "$(get '[.data.seq, .data.type, .data.data.text] | map(tostring) | join("|")')" = '5|content_delta|is wrong.'
arbor resolve "claudecode@1.0.0::chat_event:$node" --json; code 0
arbor resolve "claudecode@1.0.0::chat_event:$node:start"; code 9; err_has "is 'content_delta' and not 'start'"
arbor resolve "claudecode@1.0.0::chat_event:$id"; code 1; err_has 'there is no event'
arbor render "$event"; code 0; out_has 'is wrong.'
call streams '{"session":"fix-tests"}'; handle=$(get .handle)
arbor resolve "$handle" --json; check test "$(get .data.state)" = complete
arbor render "$handle"; out_has 'fix-tests, complete'

it "puts the words of what ended long ago together, by gc; no place is lost, and the same is said"
said() { jq -rs '[.[] | select(.type == "content_delta") | .data.text // (.data.n | tostring)] | join("")'; }
call tail '{"stream":"fix-tests","replay":true}'; mv "$T/out" "$T/before"
call cursor_create '{"stream":"fix-tests","name":"between"}'; call cursor_advance '{"stream":"fix-tests","name":"between","to":"1.4"}'; code 0
sqlite3 -cmd '.timeout 10000' "$db" "UPDATE stream SET ended_at = ended_at - 31 * 86400000 WHERE id = (SELECT t.id FROM stream t JOIN session s ON s.id = t.session WHERE s.name = 'fix-tests')"
ARBOR_STREAMS_DELTA_DAYS=0 arbor gc --json; check test "$(get .streams_compacted)" = 0
ARBOR_STREAMS_DELTA_DAYS=32 arbor gc --json; check test "$(get .streams_compacted)" = 0
arbor gc --dry-run --json; check test "$(get .streams_compacted)" = 1
arbor gc --json; code 0; check test "$(get .streams_compacted)" = 1
arbor gc --json; check test "$(get .streams_compacted)" = 0
call tail '{"stream":"fix-tests","replay":true}'; mv "$T/out" "$T/after"
check test "$(said <"$T/after")" = "$(said <"$T/before")"; check test "$(wc -l <"$T/after")" -lt "$(wc -l <"$T/before")"
check test "$(jq -s 'reduce .[] as $e (0; if $e.seq == . + 1 then $e.seq_last // $e.seq else -1 end)' "$T/after")" = 7
# Who was in the middle of a block gets the whole of it, and then what comes behind.
call poll '{"stream":"fix-tests","cursor":"between"}'
check test "$(get '[.events[] | .seq] | join(",")')" = 4,6,7; check test "$(get '.events[0].data.text')" = 'The clock is wrong.'
for at in 1.3 1.5 1.6; do call poll "{\"stream\":\"fix-tests\",\"after\":\"$at\"}"; check test "$(get .reset)" = false; check test "$(get '.events[-1].seq')" = 7; done
call streams '{}'; check test "$(get 'select(.name == "follow") | .events')" = 42; call tail '{"stream":"follow","replay":true}'; check test "$(get .seq | wc -l)" = 42

the_end
