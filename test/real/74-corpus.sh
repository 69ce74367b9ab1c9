#!/bin/bash
# Forks at random messages of real conversations: each is accepted by each client, and its history is the one that was there.
# FORKS says how many of each client, when this is run by itself for longer than 'make test-real' lets a test take.
. test/harness/lib.sh
. test/real/lib.sh
corpus=$ARBOR_SHARED/corpus/real-a.tar.zst
real_each() {
	if [ ! -f "$corpus" ] || ! command -v zstd >/dev/null; then
		it "$version: forks of real conversations"
		skip "the corpus or zstd is not here; its forks are NOT CHECKED"
		return
	fi
	mkdir -p "$HOME/corpus"
	zstd -q -d --long=27 -c "$corpus" | tar -x -C "$HOME/corpus"
	FORKS=${FORKS:-60} forks 'forks of real conversations' "$HOME/corpus"
}
real_run
