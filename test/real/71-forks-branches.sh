#!/bin/bash
# The same with every branch. These files say different things of the same lines, so each is a conversation by itself.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of every branch' $(branches 0); }
real_run
