#!/bin/bash
# The same with files of clients before 2.0.76.
. test/harness/lib.sh
. test/real/lib.sh
real_each() { forks 'forks of what old clients wrote' "$ARBOR_SHARED"/fixtures/claude-versions/{1.,2.0.[0-3]}*; }
real_run
