#!/bin/bash
# The same where somebody was asked, and with servers and plugins.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of what was asked for, denied and queued' $(captures 'b1*' 'c*' 'i*'); }
real_run
