#!/bin/bash
# Conversations forked at every message and gone on with by each client: what the API receives is what Arbor says is sent
# from there. This and those behind it share the captures, so that none takes too long.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() { forks 'forks of what one agent did, tools of all kinds, sub-agents and errors' $(captures 'a[01]*'); }
real_run
