#!/bin/sh
# What an id is said to be when a call wanted something else; and handles of what calls name.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
arbor sync --source demo
call() { m=$1; shift; arbor call "arbor.$m" "$@"; }
id() { sed -n 's/^{"v":1,"id":"\([^"]*\)".*/\1/p' "$T/out" | head -n 1; }
call tree_create; tree=$(id); root=$(sed 's/.*"root":"\([^"]*\)".*/\1/' "$T/out")
call node_create_text "$tree" --content 'my own'; node=$(id)
said=abdc81bb-570d-55f9-8ce4-dbcea1783b6c
session=a142ef82-8817-4271-a6f0-ba29c1d2a50a
call node_get $said; talk=$(sed 's/.*"tree":"\([^"]*\)".*/\1/' "$T/out")

it "says that a tree is no node, and which node it begins with"
for m in node_get node_get_children node_keep node_update; do
	if [ $m = node_update ]; then call $m "$tree" --content x; else call $m "$tree"; fi
	code 1; err_has "$tree is a tree and no node; its first node is $root"
done
arbor keep "$tree"; code 1; err_has 'is a tree and no node'
call node_create_text "$tree" --content x --parent "$tree"; code 1; err_has "parent: $tree is a tree and no node"

it "says that a node is no tree, and which tree it is in"
for m in tree_get context_list_leaves tree_render; do call $m "$node"; code 1; err_has "$node is a node and no tree; it is in the tree $tree"; done
call tree_update_metadata "$node" --metadata '{}'; code 1; err_has 'is a node and no tree'

it "says that two nodes are in different trees"
call node_create_text "$tree" --content x --parent $said; code 1; err_has "parent: $said is in the conversation $session, and not in this tree"
for m in node_get_path_between node_get_common_ancestor; do
	call $m "$node" $said; code 1; err_has "to: $said is in the conversation $session, and not in this tree"
	call "$m" "$said" "$node"; code 2; err_has 'not in this'
done

it "says that something is a conversation's, and what can be done with it"
call node_update $said --content x; code 2
err_has "$said is in the conversation $session, which stays as it was mirrored; 'arbor.node_create_text $session --parent $said' makes a node of your own below it"
call node_create_text $session --parent $said --content 'below it'; code 0; below=$(id)
call tree_update_metadata "$talk" --metadata '{}'; code 2; err_has "$talk is a conversation, which stays as it was mirrored"
call tree_update_metadata $said --metadata '{}'; code 1; err_has "$said is a part of the conversation $session and no tree"

it "gives the handle of what it names"
handle() { sed -n 's/.*"handle":"\(arbor@[^"]*\)".*/\1/p' "$T/out" | head -n 1; }
for m in "tree_get $tree" "tree_get $talk" "node_get $node" "node_get $root" "tree_create" "node_create_text $tree --content x"; do
	# shellcheck disable=SC2086 # words
	call $m; code 0; h=$(handle); named=$(id); check test "${h##*:}" = "$named"; arbor resolve "$h"; code 0
done
call node_create_external "$tree" --handle notes@1.0.0::note:1; out_has '"handle":"notes@1.0.0::note:1"'

it "still says that there is nothing where there is nothing"
call node_get deadbeef; code 1; err_has "no tree or node begins with 'deadbeef'"
call node_update deadbeef --content x; code 1; err_has "no node begins with 'deadbeef'"
call tree_update_metadata deadbeef --metadata '{}'; code 1; err_has "no tree begins with 'deadbeef'"
call node_create_text "$tree" --content x --parent deadbeef; code 1; err_has "parent: no node begins with 'deadbeef'"

it "names what is claimed when it keeps a conversation, and who tells by whom"
call tree_release "$talk" --owner mirror; code 0
call node_claim "$below" --owner me; code 0
for m in tree_purge tree_archive; do call $m "$talk"; code 10; err_has "a node that was made and hangs on it, $below, is claimed; 'arbor.node_refs $below' lists by whom"; done
call node_refs "$below"; code 0; out_has '"owner":"me"'
call node_release "$below" --owner me; call node_claim $said --owner me; code 0
call tree_purge "$talk"; code 10; err_has "a node in it, $said, is claimed; 'arbor.node_refs $said' lists by whom"
call node_refs $said; code 0; out_has '"owner":"me"'
call tree_claim "$talk" --owner you; code 0
call tree_purge "$talk"; code 10; err_has "tree $talk is claimed; 'arbor.tree_refs $talk' lists by whom"
the_end
