#!/bin/bash
# kill -9 of who writes a stream and of who reads it, at any moment: nothing that was written is lost, nobody sees a
# hole, and nothing comes twice to a cursor.
. test/harness/lib.sh
case ${SCALE:-short}:${MODE:-dev} in
long:*) rounds=200 ;;
*:asan) rounds=8 ;;
*) rounds=25 ;;
esac

it "keeps what was written and shows it to every reader once and in order"
"$BUILD/tool/streams" "$T" $rounds "${SEED:-1}" >"$T/out" 2>"$T/err" || { fail "ended with code $?"; show "$T/out"; show "$T/err"; }
out_has 'kills'

it "leaves a store that is sound"
check test "$(sqlite3 "$T/streams.db" 'PRAGMA integrity_check')" = ok
check test "$(sqlite3 "$T/streams.db" "SELECT count(*) FROM stream t WHERE last_seq <> (SELECT count(*) FROM event e WHERE e.stream = t.id)")" = 0
the_end
