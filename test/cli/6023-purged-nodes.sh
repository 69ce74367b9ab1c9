#!/bin/sh
# Made nodes and trees that are purged: nothing of what they said is left in a file of the store.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
D=$ARBOR_HOME/arbor.db
call() { _m=$1; shift; arbor call "arbor.$_m" "$@"; }
first() { sed -n 's/^{"v":1,"id":"\([^"]*\)".*/\1/p' "$T/out"; }
kept() { grep -aq "$1" "$D" "$D"-* || fail "no file of the store has '$1'"; }
wiped() {
	! grep -aq "$1" "$D" "$D"-* || fail "a file of the store has '$1'"
	arbor check; code 0
}
# A tree with some nodes, of which one says the words; its id is in $node.
make_tree() { # WORDS [WORDS-OF-ROOT]
	call tree_create; code 0; tree=$(first)
	call node_create_text "$tree" --content "${2:-the root stays}"; code 0; root=$(first)
	call node_create_text "$tree" --parent "$root" --content "$1"; code 0; node=$(first)
}

it "wipes pages where nothing was ever mirrored and there is no index"
make_tree 'kinkajou tail'
call tree_purge "$tree" --force; code 0
wiped kinkajou
arbor gc; code 0

it "wipes the words of a node that is purged"
mkdir -p "$T/.claude/projects"; arbor sync -q; code 0
make_tree 'alpha bravo hunterpassword delta'
kept hunterpassword
arbor search hunterpassword; code 0
call node_purge "$node" --force; code 0
wiped hunterpassword
arbor search stays; code 0; out_has 'the root stays'

it "wipes the handle of an external node"
call node_create_external "$tree" --parent "$root" --handle 'elsewhere@1.0.0::thing:walrusmoustache'; code 0
kept walrusmoustache
call node_purge "$(first)" --force; code 0
wiped walrusmoustache

it "wipes a tree"
make_tree 'ocelot whiskers' 'margay tail'
call tree_purge "$tree" --force; code 0
wiped ocelot; wiped margay

it "wipes what gc takes away"
make_tree 'pangolin scales'
call node_create_text_ephemeral "$tree" --parent "$root" --content 'armadillo plates'; code 0
call tree_create; code 0; other=$(first)
call node_create_text "$other" --content 'this one is kept'; code 0
call tree_schedule "$tree"; code 0
kept armadillo
export ARBOR_LIFECYCLE_SCHEDULED_DAYS=0 ARBOR_LIFECYCLE_ARCHIVED_DAYS=0
call tree_rescue "$tree"; call tree_schedule "$tree"; code 0
arbor gc; code 0; arbor gc; code 0
wiped pangolin; wiped armadillo
arbor search kept; code 0; out_has 'this one is kept'

it "wipes what a purge has left that was killed"
make_tree 'quetzal feathers'
call tree_schedule "$tree"; code 0
arbor gc; code 0
sqlite3 "$D" "INSERT INTO store_setting(key, value, rev) VALUES ('purge_left', 'words 1', 1)
	ON CONFLICT(key) DO UPDATE SET value = 'words 1'"
arbor gc; code 0
wiped quetzal
check test "$(sqlite3 "$D" "SELECT value LIKE 'nothing %' FROM store_setting WHERE key = 'purge_left'")" = 1
the_end
