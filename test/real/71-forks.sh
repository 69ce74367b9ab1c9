#!/bin/bash
# The same with conversations that were steered, resumed, forked and interrupted.
. test/harness/lib.sh
. test/real/lib.sh
# shellcheck disable=SC2046 # a list of folders without blanks
real_each() {
	forks 'forks of what was asked for, queued and interrupted' $(captures '[bc]*')
	forks 'forks of what was resumed, forked, rewound and killed' $(captures 'd0[1-4]*') $(captures 'd0[6-9]*') $(captures '[efh]0*')
	# Its files say different things of the same lines, so each is a conversation by itself.
	forks 'forks of every branch' "$ARBOR_SHARED"/fixtures/claude-2.1.197/d05-branches/dot-claude/projects/*/*.jsonl
}
real_run
