#!/bin/bash
# The same with what was refused, cut off, long or compacted, and with images.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of what was cut off, long or compacted, with images and in the background' $(captures 'a[23]*'); }
real_run
