#!/bin/bash
# The same where hooks ran at the end.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of what hooks ended' $(captures 'f0[2-7]*'); }
real_run
