#!/bin/bash
# The same with what was forked by others, with large files and with what was typed at a terminal.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of what was copied, large or typed' $(captures 'd0[6-9]*' 'd1*' 'e*'); }
real_run
