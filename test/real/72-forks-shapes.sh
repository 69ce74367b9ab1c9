#!/bin/bash
# The same with files of odd shapes, and of more than 5 MiB.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of files without blanks
real_each() {
	node test/real/made.mjs "$HOME/made" >"$HOME/list"
	# Each is tried by what it asks, so one message in three of them is enough; of the large one all.
	EVERY=3 forks 'forks of odd shapes' $(head -n -1 "$HOME/list")
	forks 'forks of a large file' "$(tail -n 1 "$HOME/list")"
}
real_run
