#!/bin/sh
# An id is an id: what was made, files and notes are meant by theirs wherever conversations are.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
cp -R demo "$T/.claude"
arbor sync
tree=7ee0a000-0000-4000-8000-000000000000
one=a0de0100-0000-4000-8000-000000000000
two=a0de0200-0000-4000-8000-000000000000
far=a0de0300-0000-4000-8000-000000000000
hung=b0de0100-0000-4000-8000-000000000000
first() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$T/out" | head -n 1; } # FIELD: of the JSON printed
lines() { [ "$(wc -l <"$T/out")" -eq "$1" ] || { fail "not $1 lines"; show "$T/out"; }; }
make() { _m=$1; shift; arbor call "arbor.$_m" "$@" >/dev/null; }
make tree_create --id $tree --metadata '{"topic":"release"}'
make node_create_text $tree --id $one --role user --content 'What is left to do?'
make node_create_text $tree --id $two --parent $one --role assistant --content 'Two things: the notes, and the announcement.'
make node_create_external $tree --id $far --parent $one --handle claudecode@1.0.0::session:a142ef82-8817-4271-a6f0-ba29c1d2a50a
make node_create_text @ --id $hung --content 'This is the one to show to Ann'

it "shows a tree that was made with its nodes, and a node alone"
arbor show 7ee0; code 0; out_has "$tree"; out_has '{"topic":"release"}'; out_has 'What is left to do?'; out_has 'Two things'
out_has 'How should we'; out_has claudecode@1.0.0::session:a142 # what a handle stands for, and the handle
arbor show a0de02 --json; code 0; lines 1; out_has '"kind":"node"'; out_has '"role":"assistant"'; out_has '"text":"Two things'
out_has "\"handle\":\"arbor@1.0.0::node:$two\""
arbor show 7ee0 --json; lines 4; out_has '"nodes":4'
arbor show b0de; code 0; out_has 'to show to Ann'
arbor show 7ee0 @ a0de01 --json; code 0; out_has '"kind":"tree"'; out_has '"kind":"session"'

it "draws it, and the conversation that something hangs on"
arbor tree 7ee0; code 0; lines 4; out_has "└─$one user: What is left"; out_has "  ├─$two"; out_has "  └─$far → How should we"
arbor tree a0de02; code 0; lines 4
arbor tree b0de; code 0; out_has 'Go ahead with step 1'
on_terminal tree 7ee0 --color never; out_has '├─a0de0200 assistant: Two things'

it "follows the path of a node, from the conversation it hangs on if it does"
arbor log a0de02; code 0; out_has 'What is left'; out_has 'Two things'; out_lacks "$far"
arbor log 7ee0 --json; code 0; lines 3; out_has "$far"
arbor log b0de; code 0; out_has 'Go ahead with step 1'; out_has 'to show to Ann'
arbor log 7ee0 --as-sent; code 2; err_has context_get_path

it "resolves and renders it by its id"
arbor resolve 7ee0 --json; code 0; out_has "\"handle\":\"arbor@1.0.0::tree:$tree\""; out_has '"nodes":4'
arbor resolve a0de02 --json; code 0; out_has "arbor@1.0.0::node:$two"
arbor render a0de02; code 0; out_is 'Two things: the notes, and the announcement.'
arbor call hub.resolve_many 7ee0 a0de01 @ --json; code 0; lines 3

it "knows it by a bookmark and by a handle"
arbor bookmark a0de02 left; code 0
for what in @left "arbor@1.0.0::node:$two"; do
	arbor show $what; code 0; out_has 'Two things'
	arbor render $what; code 0; out_has 'Two things'
	arbor log $what; code 0; out_has 'What is left'
	arbor call arbor.node_get $what; code 0; out_has 'Two things'
	arbor call arbor.node_get_path $what --json; code 0; lines 3
	arbor note $what --json "about $what"; code 0; out_has '"on":"node"'
done
arbor call arbor.node_create_text $tree --parent @left --content 'below it'; code 0
arbor bookmark 7ee0 plan; arbor call arbor.tree_get @plan --json; code 0; out_has "$tree"
arbor tree @plan; code 0; lines 5
arbor usage --session @plan; code 2; err_has 'no part of a conversation'

it "shows a note with what it is on"
arbor note a0de01 'not quite' --json; code 0; note=$(first id)
arbor show "$note"; code 0; out_has 'not quite'; out_has 'What is left to do?'
arbor resolve "$note" --json; code 0; out_has "arbor@1.0.0::note:$note"; out_has '"text":"not quite"'; out_has "\"subject\":\"$one\""
arbor show "arbor@1.0.0::note:$note"; code 0; out_has 'not quite'
arbor render "$note" --template compact; code 0; out_is 'note: not quite'
arbor note @ 'on all of it' --json; note=$(first id)
arbor show "$note" --json; code 0; lines 2; out_has '"kind":"note"'; out_has '"kind":"session"'
arbor note 7abd08b4 'on a part' --json; note=$(first id)
arbor show "$note"; code 0; out_has 'on a part'; out_has 'Integer cents'
arbor search 'not quite' --json; arbor show "$(first id)"; code 0; out_has 'not quite'; out_has 'What is left'

it "lists all that could be meant, of whatever kind"
arbor show a0de; code 2; err_has "$one  node  What is left"; err_has "$far"
message=7abd08b4
make node_create_text $tree --id 7abd0100-0000-4000-8000-000000000000 --content 'begins alike'
arbor show 7abd; code 2; err_has '7abd0100-0000-4000-8000-000000000000  node  begins alike'; err_has $message
arbor resolve 7abd; code 2
make tree_create --id a142a000-0000-4000-8000-000000000000
arbor show a142; code 2; err_has 'a142a000-0000-4000-8000-000000000000  tree'; err_has 'a142ef82-8817'
arbor show a142e; code 0; out_has 'How should we'
make node_create_text $tree --id 4e4f0100-0000-4000-8000-000000000000 --content 'a session wins over it'
arbor show 4e4f --json; code 0; out_has '"kind":"session"'
make tree_create --id 7abda000-0000-4000-8000-000000000000
arbor show 7abd --json; code 0; lines 1; out_has '"kind":"tree"'

it "says so where it is archived, purged, or nothing at all"
make node_delete $far
make node_archive $far
arbor show $far; code 2; err_has archived
arbor bookmark a0de01 begin
make tree_purge $tree --force
arbor show $one; code 1
arbor show @begin; code 1; err_has 'not in this store, or no more'
arbor show dead; code 1; err_has "begins with 'dead'"
the_end
