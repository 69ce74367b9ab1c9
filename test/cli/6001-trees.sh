#!/bin/sh
# Trees of one's own: made, read, drawn, claimed, let go and brought back, with the errors that people meet.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
tree=7ee0a000-0000-4000-8000-000000000000
call() { _m=$1; shift; arbor call "arbor.$_m" "$@"; }
value() { sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p" "$T/out"; } # of the last result
ids() { sed 's/.*"id":"\([^"]*\)".*/\1/' "$T/out" | cut -c 1-6 | tr '\n' ' '; }

it "reads a store that has no trees, and one that is not there"
call tree_list; code 1; err_has 'no store here yet'
arbor sync --source demo; code 0
call tree_list; code 1; out_is ''; err_has 'there is no tree'
call tree_list_archived; code 1; out_is ''
call tree_get 7ee0; code 1; err_has "no tree or node begins with '7ee0'"
call tree_get $tree; code 1; err_has "no tree or node is called '$tree'"
arbor gc; code 0
arbor check; code 0

it "makes a tree and its nodes"
plant_trees
call tree_get 7ee0; code 0; out_has '"state":"active"'; out_has '"nodes":6'; out_has '"metadata":{"topic":"release","parts":[1,2]}'
call node_get a0de02; code 0; out_has '"role":"assistant"'; out_has '"parent":"a0de0100-'; out_has '"prev":"a0de0100-'
out_has '"metadata":{"model":"m"}'; out_has 'the notes,\nand the announcement.'
call node_get a0de03 --tree 7ee0; code 0; out_has '"handle":"notes@1.0.0::note:17"'
call node_get a0de03 --tree 7ee1; code 2; err_has 'is not in tree 7ee1a000'

it "keeps metadata and texts as they were given"
call tree_create --metadata ' {"big":12345678901234567890.10, "a" : [ ] , "a":1}'; code 0
call tree_get "$(value id)"; out_has '"metadata": {"big":12345678901234567890.10, "a" : [ ] , "a":1}'
printf 'line\n\ttab \342\202\254 \000 nul' >"$T/text"
call node_create_text 7ee0 --content - <"$T/text"; code 0; id=$(value id)
call node_get "$id"; out_has 'line\n\ttab € \u0000 nul'
call node_purge "$id"; code 0

it "refuses what cannot be"
call node_create_text 7ee0 --parent a0de99 --content x; code 1; err_has "parent: no node begins with 'a0de99'"
call node_create_text 7ee2 --content x; code 2; err_has 'is scheduled to be deleted'; err_has tree_claim
call node_create_text 7ee1 --content x; code 2; err_has tree_get_archived
call node_create_text 7ee0 --parent a0de09 --content x; code 2; err_has node_get_archived
call node_create_external 7ee0 --handle nonsense; code 9; err_has 'PLUGIN@VERSION::METHOD'
call tree_create --metadata '{'; code 9
call tree_create --id $tree; code 10; err_has 'is there already, or was'
call tree_create --owner mirror; code 2; err_has 'standing claim'
call tree_create --id 6ba7b812-9dad-11d1-80b4-00c04fd430c8; code 2; err_has 'version 4'
call node_create_text 7ee0 --content "$(printf '\377')"; code 9; err_has UTF-8
call tree_get 7ee; code 2; err_has 'give 4 or more'
call node_get a0de; code 2; err_has 'could be'; err_has a0de0100; err_has a0de0200

it "lists trees by their state, and each truthfully"
call tree_list; out_has $tree; out_lacks 7ee1; out_lacks 7ee2
call tree_list --state scheduled; out_has 7ee2; out_has '"due":'; out_lacks 7ee0; cp "$T/out" "$T/first"
call tree_list_scheduled; same "$T/first" "$T/out"
call tree_list_archived; out_has 7ee1; out_lacks 7ee0; out_lacks 7ee2
call tree_query_by_metadata --filter '{"parts":[2]}'; out_has $tree; check test "$(wc -l <"$T/out")" -eq 1
call tree_query_by_metadata --filter '{"parts":[3]}'; code 1; out_is ''
call tree_update_metadata 7ee0 --metadata '{"topic":"done"}'; code 0
call tree_query_by_metadata --filter '{"topic":"release"}'; out_is ''

it "follows paths and finds where they part"
call node_get_path a0de04; code 0; check test "$(ids | cut -d' ' -f2-)" = 'a0de01 a0de02 a0de04 '; out_lacks content
call context_get_path a0de04; out_has 'What is left to do?'; out_has 'What if we wait?'
call context_get_handles a0de03; check test "$(wc -l <"$T/out")" -eq 1; out_has note:17
call node_get_path_between a0de04 a0de03; check test "$(ids)" = 'a0de04 a0de02 a0de01 a0de03 '
call node_get_path_between a0de01 a0de04; check test "$(ids)" = 'a0de01 a0de02 a0de04 '
call node_get_path_between a0de01 a0de01; check test "$(ids)" = 'a0de01 '
call node_get_common_ancestor a0de04 a0de03; check test "$(ids)" = 'a0de01 '
call node_get_parent a0de03; check test "$(ids)" = 'a0de01 '
call node_get_children a0de01; check test "$(ids)" = 'a0de02 a0de03 '
call context_list_leaves 7ee0; check test "$(ids)" = 'a0de04 a0de03 '
root=$(call tree_get 7ee0; value root)
call node_get_parent "$root"; code 1; err_has 'has no parent'

it "gives long lists in pages"
for i in 1 2 3 4 5 6 7; do call node_create_text 7ee0 --parent a0de03 --content "number $i"; done
call node_get_children a0de03 --limit 3; check test "$(wc -l <"$T/out")" -eq 3; out_has 'number 3'; last=$(tail -n 1 "$T/out" | value id)
last=$(tail -n 1 "$T/out" | sed 's/.*"id":"\([^"]*\)".*/\1/')
call node_get_children a0de03 --limit 3 --after "$last"; out_has 'number 4'; out_has 'number 6'; out_lacks 'number 3'
call tree_get_skeleton 7ee0 --limit 0; cp "$T/out" "$T/whole"
: >"$T/pages"; set --
while :; do
	call tree_get_skeleton 7ee0 --limit 4 "$@"
	cat "$T/out" >>"$T/pages"
	[ "$(wc -l <"$T/out")" -eq 4 ] || break
	set -- --after "$(tail -n 1 "$T/out" | sed 's/.*"id":"\([^"]*\)".*/\1/')"
done
same "$T/whole" "$T/pages"
call context_list_leaves 7ee0 --limit 2 --after a0de04; check test "$(wc -l <"$T/out")" -eq 2; out_lacks a0de04
on_terminal call arbor.tree_list -n 1; out_has '--after'

it "draws a tree, in pages too"
call tree_render 7ee0; code 0; cp "$T/out" "$T/whole"; out_has '│  └─ a0de0400 (scheduled) What if we wait?'
out_has '   └─ a0de0300 → notes@1.0.0::note:17'
out_has 'the notes, and the announcement.'
call tree_render 7ee0 --limit 4; check grep -q '^… goes on after ' "$T/out"; head -n 4 "$T/out" >"$T/pages"
after=$(sed -n 's/^… goes on after //p' "$T/out")
call tree_render 7ee0 --after "$after"; cat "$T/out" >>"$T/pages"; same "$T/whole" "$T/pages"
call tree_render 7ee0 --node a0de03; check test "$(wc -l <"$T/out")" -eq 8; check test "$(head -c 8 "$T/out")" = a0de0300
call tree_render 7ee0 --node a0de03 --after a0de02; code 2; err_has 'not below'

it "draws no more levels than there is room for, and says how many are left out"
parent=a0de04
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	call node_create_text_ephemeral 7ee0 --parent "$parent" --role user --content "日本語 👍 $i $(printf '%0150d' 1)"; code 0
	parent=$(value id)
done
for width in 40 41 77 200; do
	call tree_render 7ee0 --width $width; code 0
	check iconv -f UTF-8 -t UTF-8 "$T/out" -o /dev/null
done
call tree_render 7ee0 --width 60; out_has '(+9)'
call tree_render 7ee0 --width 39; code 2
call node_purge "$(call node_get_children a0de04; value id)"; code 0; out_has '"nodes":12'

it "replaces a node by a new one"
call node_update a0de02 --content 'Better said'; code 0; out_has '"replaces":"a0de0200-'; out_has '"role":"assistant"'; out_has '"model":"m"'
new=$(value id)
call node_get a0de02; out_has 'Two things'
call node_get_children a0de01; tail -n 1 "$T/out" | grep -q "$new" || fail 'it does not stand last'
call node_update a0de02; code 2; err_has 'what is to be different'
call node_update a0de02 --handle x@1::y; code 2; err_has 'no handle'
call node_update "$root" --content x; code 2; err_has 'root'
call node_purge "$new"; code 0

it "knows a tree or node by another id"
call tree_get a11a5; code 0; out_has '"id":"7ee0a000'
call alias_create a11a5000-0000-4000-8000-000000000003 --node a0de01; code 0
call node_get a11a5000-0000-4000-8000-000000000003; code 0; out_has '"id":"a0de0100'
call node_get_path a11a5; code 0
call alias_list --node a0de01; code 0; out_has '"alias":"a11a5000-0000-4000-8000-000000000003","id":"a0de0100'
call alias_create a11a5000-0000-4000-8000-000000000003 --node a0de02; code 10
call alias_create a11a5000-0000-4000-8000-000000000004; code 2; err_has 'which tree or node'
call alias_delete a11a5000-0000-4000-8000-000000000003; code 0
call node_get a11a5000-0000-4000-8000-000000000003; code 1
call alias_delete a11a5000-0000-4000-8000-000000000003; code 1; err_has 'there is no alias'

it "counts claims by owner"
call node_refs a0de02; out_has '"owner":"tree","count":1'; out_has '"owner":"user","count":2'
call node_claim a0de02 --owner tool --count 3; out_has '"count":3'
call node_release a0de02 --owner tool --count 4; code 2; err_has "'tool' has 3 claims on node a0de0200"; err_has 'cannot release 4'
call node_release a0de02 --owner tool --count 3; code 0; out_has '"count":0'
call tree_refs 7ee0; out_has '"owner":"user","count":1,"claimed":'

it "keeps what was made to go, once"
arbor keep a0de04 --json; code 0; out_has '"count":1,"state":"active"'
arbor keep a0de04 --json; out_has '"count":1,"state":"active"'
call node_get a0de04; out_has '"state":"active"'; out_has '"ephemeral":true'
call node_release a0de04; out_has '"state":"scheduled","due":'

it "lets a node go with what is below it, and brings it back"
call node_delete a0de01; code 0; out_has '"state":"active"'; out_has '"kept":2'
call node_release a0de02 --count 2; out_has '"state":"scheduled"'
call node_get a0de01; out_has '"state":"scheduled"'
call node_list_scheduled --tree 7ee0; out_has a0de0100; out_has a0de0300
call node_rescue a0de01; code 0; out_has '"state":"active"'
call node_get a0de03; out_has '"state":"active"'
call node_get a0de04; out_has '"state":"scheduled"'
call node_delete "$root"; code 2; err_has tree_schedule

it "moves on what is due, and says so before"
export ARBOR_LIFECYCLE_SCHEDULED_DAYS=0
call node_create_text_ephemeral 7ee0 --content 'at once'; id=$(value id)
arbor gc --dry-run --json; out_has '"nodes_archived":1'
call node_get "$id"; code 0
arbor gc --json; out_has '"dry_run":false'; out_has '"nodes_archived":1'
call node_get "$id"; code 2; err_has 'is archived'; err_has node_get_archived
call node_get_archived "$id"; code 0; out_has 'at once'; out_has '"state":"archived"'
call node_get_archived a0de01; code 2; err_has 'is not archived'
call node_get_children "$root"; out_lacks "$id"
call node_get_children "$root" --archived; out_has "$id"
call node_list_archived; out_has "$id"
arbor gc --json; out_has '"nodes_purged":0'
ARBOR_LIFECYCLE_ARCHIVED_DAYS=0 call node_archive "$id"; code 2; err_has 'is archived'
call node_rescue "$id"; ARBOR_LIFECYCLE_ARCHIVED_DAYS=0 call node_archive "$id"; code 0
arbor gc --json; out_has '"nodes_purged":1'
call node_get "$id"; code 1; err_has 'was purged on'
call node_get_archived "$id"; code 1; err_has 'was purged on'
unset ARBOR_LIFECYCLE_SCHEDULED_DAYS

it "lets a tree go, and takes it away for good"
call tree_schedule 7ee0; code 0; out_has '"state":"scheduled"'
call node_get a0de01; out_has '"state":"scheduled"'
call node_claim a0de01; out_has '"state":"active"'
call tree_get 7ee0; out_has '"state":"active"'
call tree_purge 7ee0; code 10; err_has "is claimed by 'user' (1)"; err_has "'force'"
call tree_archive 7ee0 --force; code 0; out_has '"state":"archived"'
call tree_get_skeleton 7ee0; code 2; err_has tree_get_archived
call tree_get_skeleton 7ee0 --archived; out_has a0de0100
call tree_get_archived 7ee0; code 0; out_has '"state":"archived"'
call tree_rescue 7ee0; code 0; call tree_refs 7ee0; out_has '"owner":"user"'; call tree_purge 7ee0; code 10; call tree_release 7ee0; code 0
call tree_purge 7ee0; code 0; out_has '"state":"purged"'
call tree_get $tree; code 1; err_has 'was purged on'
call node_get a0de0100-0000-4000-8000-000000000000; code 1; err_has 'was purged on'
call tree_create --id $tree; code 10
call tree_list; out_lacks 7ee0
arbor check --json; code 0; out_has '"ok":true'

it "is not touched by a rebuild, and SQL shows it"
call tree_create --owner me --metadata '{"sql":1}'; id=$(value id)
call node_create_text "$id" --content 'seen by SQL'; node=$(value id)
arbor rebuild; code 0
call node_get "$node"; code 0
arbor sql "SELECT tree_id, state, content FROM nodes WHERE id = '$node'"; out_is "$(printf '%s\tactive\tseen by SQL' "$id")"
call tree_schedule "$id" --owner me
arbor sql "SELECT state FROM nodes WHERE id = '$node'"; out_is scheduled
arbor sql "SELECT state, owner, ref_count FROM trees WHERE id = '$id'"; out_is "$(printf 'scheduled\tme\t0')"
the_end
