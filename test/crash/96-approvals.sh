#!/bin/bash
# kill -9 of who asks whether a tool may run and of who answers, at any moment: no answer is lost, none is given twice or
# by nobody, and nobody is waited for who is gone.
. test/harness/lib.sh
case ${SCALE:-short}:${MODE:-dev} in
long:*) rounds=200 ;;
*:asan) rounds=5 ;;
*) rounds=20 ;;
esac

it "keeps every answer that somebody was told, and gives nobody one that was not given"
"$BUILD/tool/approvals" "$T" $rounds "${SEED:-1}" >"$T/out" 2>"$T/err" || { fail "ended with code $?"; show "$T/out"; show "$T/err"; }
out_has 'kills'

it "leaves a store that is sound"
check test "$(sqlite3 "$T/approvals.db" 'PRAGMA integrity_check')" = ok
check test "$(sqlite3 "$T/approvals.db" "SELECT count(*) FROM approval WHERE state IN ('pending', 'decided')")" = 0
check test "$(sqlite3 "$T/approvals.db" "SELECT count(*) > 20 FROM approval WHERE state = 'delivered'")" = 1
the_end
