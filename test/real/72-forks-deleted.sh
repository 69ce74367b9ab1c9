#!/bin/bash
# The same with the client's own files gone.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { DELETED=1 forks 'forks of what the client has deleted' $(captures 'a0[2-5]*' 'a1[0-2]*' 'a31*'); }
real_run
