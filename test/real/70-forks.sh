#!/bin/bash
# Conversations forked at every message and gone on with by each client: what the API receives is what Arbor says is sent
# from there. First half of the captures.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of what one agent did, tools of all kinds, sub-agents and compactions' $(captures 'a*'); }
real_run
