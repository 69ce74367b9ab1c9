#!/bin/bash
# The same where hooks spoke, and where a client was killed or two were at work.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of what hooks said, and of what was killed' $(captures 'f01*' 'g*' 'h*'); }
real_run
