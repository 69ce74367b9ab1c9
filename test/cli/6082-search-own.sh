#!/bin/sh
# What somebody put into trees is found as what was said is.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
cp -R demo "$T/.claude"
tree=7ee0a000-0000-4000-8000-000000000000
asked=a0de0100-0000-4000-8000-000000000000
said=a0de0200-0000-4000-8000-000000000000
far=a0de0300-0000-4000-8000-000000000000
hung=b0de0100-0000-4000-8000-000000000000
lines() { [ "$(wc -l <"$T/out")" -eq "$1" ] || { fail "not $1 lines"; show "$T/out"; }; }
first() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$T/out" | head -n 1; } # FIELD: of the JSON printed
make() { _m=$1; shift; arbor call "arbor.$_m" "$@" >/dev/null; }

it "finds a node in a store that has nothing else"
make tree_create --id $tree --metadata '{"topic":"release"}'
make node_create_text $tree --id $asked --role user --content 'What does the wombat want?'
arbor search wombat --json; code 0; lines 1; out_has "\"id\":\"$asked\""; out_has '"kind":"node"'; out_has "\"tree\":\"$tree\""
out_has "\"handle\":\"arbor@1.0.0::node:$asked\""; out_has '"in":"prompt"'; out_lacks '"session"'

arbor sync
make node_create_text $tree --id $said --parent $asked --role assistant --content 'The wombat wants two things.'
make node_create_external $tree --id $far --parent $asked --handle notes@1.0.0::note:17 --metadata '{"why":["a wombat asked"]}'
make node_create_text a142 --id $hung --content 'The wombat was right about cents'

it "finds what a node says of itself beside a handle, and the handle"
arbor search wombat; code 0; lines 4
arbor search 'wombat asked' --json; lines 1; out_has "$far"; out_has 'why'
arbor search notes@1.0.0::note:17 --json; code 0; out_has "$far"

it "opens a hit by its id and by its handle"
arbor search 'two things' in:answer --json -n 1; code 0
for id in "$(first id)" "$(first handle)"; do arbor show "$id"; code 0; out_has 'wants two things'; done

it "narrows by what a node has: its role, its tree, the conversation it hangs on, its time, what is attached to it"
arbor search wombat role:user; lines 1; out_has $asked
arbor search wombat in:answer; lines 1; out_has $said
arbor search wombat in:other; lines 2
arbor search wombat session:7ee0; lines 3; out_lacks $hung
arbor search wombat --session $tree; lines 3
arbor search 'wombat -session:7ee0'; lines 1; out_has $hung
arbor search wombat --session a142; lines 1; out_has $hung
arbor search wombat project:webshop --json; lines 1; out_has $hung; out_has '"session":"a142ef82'
arbor search wombat project:parser; code 1
arbor search wombat before:2020; code 1
arbor search wombat tool:Bash; code 1
arbor tag a0de02 marsupial; arbor search wombat tag:marsupial; lines 1; out_has $said
arbor tag 7ee0 whole; arbor search wombat tag:whole; lines 3
arbor note a0de01 'about an animal'; arbor search wombat is:noted; lines 1; out_has $asked
arbor search --regex 'womba[t] wants'; code 0; lines 1; out_has $said
arbor search wombat -n 2 --offset 2; lines 2
on_terminal search wombat --color never; out_has '7ee0a000  {"topic":"release"}'; out_has 'a0de0200  answer'

it "keeps it across a rebuild, and when it is updated finds both"
arbor rebuild; arbor search wombat; lines 4
make node_update $said --content 'The wombat wants one thing.'
arbor search wombat; lines 5; arbor rebuild; arbor search wombat; lines 5
arbor dump --logical=all; code 0; out_has 'strays 0'

it "leaves out what is archived unless it is asked for, and finds it again when it is rescued"
make node_delete $far; arbor search wombat; lines 5
make node_archive $far; arbor search wombat; lines 4; arbor search wombat --archived; lines 5
make node_rescue $far; arbor search wombat; lines 5
make tree_archive $tree --force; arbor search wombat; lines 1; out_has $hung
arbor search wombat --archived; lines 5
arbor rebuild; arbor search wombat; lines 1
make tree_rescue $tree; arbor search wombat; lines 5

it "finds nothing of what was purged"
make node_delete $far; make node_purge $far --force; arbor search wombat --archived; lines 4
make tree_purge $tree --force; arbor search wombat --archived; lines 1
arbor rebuild; arbor search wombat --archived; lines 1
arbor dump --logical=all; out_has 'strays 0'
arbor check; code 0
the_end
