#!/bin/bash
# The same with files of clients from 2.0.76 on.
. test/harness/lib.sh
. test/real/lib.sh
real_each() { forks 'forks of what older clients wrote' "$ARBOR_SHARED"/fixtures/claude-versions/{2.0.[7-9],2.1}*; }
real_run
