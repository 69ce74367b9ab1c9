#!/bin/bash
# A sample of what 'make test-real' does: one real client, driven by Arbor against a scripted API.
. test/harness/lib.sh
. test/real/lib.sh
CLIENTS=$(real_clients | tail -n 1)

real_each() {
	it "$version: what is heard, kept and written of a turn is the same"
	session turn; chat turn 'SCRIPT:multi-tool'; agrees complete
	it "$version: so it is with a sub-agent, in a session that goes on"
	chat turn 'SCRIPT:agent'; agrees complete
	it "$version: and when the model cannot be reached"
	chat turn 'SCRIPT:err-400'; agrees failed
	it "$version: a turn is interrupted"
	start turn 'SCRIPT:slow'; wait_for '.type == "content_delta"'
	call interrupt '{"stream":"turn"}'; code 0; follow; agrees cancelled
	# shellcheck disable=SC2046 # a list of folders without blanks
	EVERY=4 forks 'forks are gone on with as they were' $(captures 'a04*') $(captures 'a10*') $(captures 'a31*')
}
real_run
