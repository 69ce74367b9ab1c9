#!/bin/bash
# The same with conversations that were resumed, forked and written by hand.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of what was resumed and forked' $(captures 'd0[1-4]*'); }
real_run
