#!/bin/bash
# The same with files of older clients, of odd shapes and of more than 5 MiB; and with the client's own files gone.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() {
	forks 'forks of what older clients wrote' "$ARBOR_SHARED"/fixtures/claude-versions/*
	node test/real/made.mjs "$HOME/made" >"$HOME/list"
	# Each is tried by what it asks, so one message in three of them is enough; of the large one all.
	EVERY=3 forks 'forks of odd shapes' $(head -n -1 "$HOME/list")
	forks 'forks of a large file' "$(tail -n 1 "$HOME/list")"
	DELETED=1 forks 'forks of what the client has deleted' $(captures 'a0[2-5]*') $(captures 'a1[0-2]*') $(captures 'a31*')
}
real_run
