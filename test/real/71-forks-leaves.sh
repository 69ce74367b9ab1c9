#!/bin/bash
# The same with files that say themselves where to go on.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of every leaf' $(branches '[12]'); }
real_run
