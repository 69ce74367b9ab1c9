#!/bin/bash
# The same with conversations that a program steered.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of what was controlled, interrupted and rewound' $(captures 'b0*'); }
real_run
