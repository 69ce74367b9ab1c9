#!/bin/sh
# Conversations that are purged by their lifecycle, and what is left of what was written beside them.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
call() { _m=$1; shift; arbor call "arbor.$_m" "$@"; }
first() { sed -n 's/^{"v":1,"id":"\([^"]*\)".*/\1/p' "$T/out"; }
P=$T/.claude/projects/-w
mkdir -p "$P/aaaaaaaa-0000-4000-8000-000000000000/subagents"

# line FILE TYPE NUMBER PARENT TEXT; uuids are made of numbers.
uuid() { printf '%08d-1111-4111-8111-111111111111' "$1"; }
line() {
	_parent=null; [ "$4" = 0 ] || _parent="\"$(uuid "$4")\""
	_api=''; [ "$2" = user ] || _api="\"id\":\"msg_$3\",\"model\":\"m\",\"usage\":{\"input_tokens\":10,\"output_tokens\":$3},"
	printf '{"type":"%s","uuid":"%s","parentUuid":%s,"cwd":"/w/zoo","timestamp":"2026-01-01T0%d:%02d:00.000Z"%s,"message":{%s"role":"%s","content":[{"type":"text","text":"%s"}]}}\n' \
		"$2" "$(uuid "$3")" "$_parent" "$(($3 / 60))" "$(($3 % 60))" "${6:-}" "$_api" "$2" "$5" >>"$1"
}
A=$P/aaaaaaaa-0000-4000-8000-000000000000.jsonl B=$P/bbbbbbbb-0000-4000-8000-000000000000.jsonl C=$P/cccccccc-0000-4000-8000-000000000000.jsonl
S=$P/aaaaaaaa-0000-4000-8000-000000000000/subagents/agent-abc.jsonl
line "$A" user 1 0 'alpaca one'; line "$A" assistant 2 1 'alpaca two'; line "$A" user 3 2 'alpaca three'
line "$A" assistant 4 3 'alpaca four'; line "$A" user 5 2 'alpaca five, another way'; line "$A" assistant 6 5 'alpaca six'
line "$S" user 10 0 'alpaca helper' ',"isSidechain":true,"agentId":"abc","sessionId":"aaaaaaaa-0000-4000-8000-000000000000"'
line "$B" user 20 0 'badger one'; line "$B" assistant 21 20 'badger two'
line "$C" user 20 0 'badger one'; line "$C" assistant 22 20 'capybara two'
arbor sync -q; code 0
call tree_get aaaaaaaa; code 0; tree=$(first)
call tree_get bbbbbbbb; code 0; other=$(first)
node() { arbor search "\"$1\"" --json; sed -n 's/.*"message":"\([^"]*\)".*/\1/p' "$T/out" | head -n 1; }
counts() { grep -qF "$1" "$T/out" || { fail "not $1"; show "$T/out"; }; }

it "purges a message in the middle, and what follows it still follows what was before"
three=$(node 'alpaca three') five=$(node 'alpaca five') two=$(node 'alpaca two')
check test -n "$three" -a -n "$five" -a -n "$two"
call node_get "$five"; handle=$(sed -n 's/.*"handle":"\([^"]*\)".*/\1/p' "$T/out")
arbor note "$five" 'a note of mine'; code 0; arbor bookmark "$five" here; code 0; arbor tag "$five" odd; code 0; arbor keep "$five"; code 0
call node_create_text "$tree" --parent "$five" --content 'a remark'; code 0; remark=$(first)
arbor purge "$five" --yes; code 0
arbor log "$(node 'alpaca six')"; code 0; out_has 'alpaca one'; out_has 'alpaca two'; out_lacks 'alpaca three'; out_lacks 'alpaca five'
err_has '1 gap in this conversation'
arbor show aaaaaaaa; code 0; err_has '1 gap in this conversation'; arbor tree aaaaaaaa; code 0; err_has '1 gap'
arbor show bbbbbbbb; err_lacks gap
arbor usage; code 0; arbor context zoo; code 0; out_lacks "alpaca five"; arbor stats; code 0; arbor sql 'SELECT count(*) FROM messages'; code 0
"$ARBOR" dump --logical >"$T/before"; arbor rebuild; code 0; "$ARBOR" dump --logical >"$T/after"; same "$T/before" "$T/after"

it "says of its id and of its handle that they are gone, and since when"
arbor show "$five"; code 1; err_has 'was purged on 20'
arbor resolve "$handle"; code 1; err_has 'was purged on 20'
arbor render "$handle"; code 1; err_has 'was purged on 20'
call node_get "$five"; code 1; err_has 'was purged on 20'
call node_refs "$five"; code 1
printf '{"jsonrpc":"2.0","id":1,"method":"hub.resolve","params":{"handle":"%s"}}\n' "$handle" | "$ARBOR" rpc --stdio >"$T/out" 2>"$T/err"; out_has '"gone"'

it "keeps what people wrote beside it"
arbor notes; out_has 'a note of mine'; arbor notes --json; out_has '"gone":true'
arbor bookmarks; out_has here; arbor tags odd; out_has odd
arbor show @here; code 1; err_has 'was purged on 20'
call node_get "$remark"; code 0; out_has 'a remark'
call node_claim "$remark"; code 0; call node_release "$remark"; code 0
call tree_refs "$tree"; out_is '{"v":1,"owner":"mirror","count":1}'
arbor check; code 0

it "lets nodes of a conversation go in no other way"
for m in node_delete node_archive node_rescue; do call $m "$two"; code 2; err_has 'goes with its tree'; done
call node_purge "$two"; code 10; err_has "claimed by 'mirror'"
call node_purge "$three" --force; code 0; out_has '"state":"purged"'; err_has 'gone: 1 line'
arbor search 'alpaca three'; code 1; arbor search 'alpaca four'; code 0

it "purges a conversation by force only while it is claimed, by whomever"
call tree_purge "$tree"; code 10; err_has "claimed by 'mirror'"
call node_claim "$two" --owner reader; code 0; call tree_release "$tree" --owner mirror; code 0
call tree_purge "$tree"; code 10; err_has 'a node in it'
call node_release "$two" --owner reader; code 0
call node_claim "$(node 'alpaca helper')" --owner reader; code 0
call tree_purge "$tree"; code 10; err_has 'one of its sub-agents'
call node_claim "$remark"; code 0
call tree_purge "$tree" --force; code 10; err_has 'a node that was made and hangs on it'
arbor search alpaca; code 0
call node_release "$remark"; code 0
call tree_purge "$tree" --force; code 0; out_has '"state":"purged"'
arbor search alpaca; code 1; arbor search 'alpaca helper'; code 1; arbor list; out_lacks aaaaaaaa
call node_get "$remark"; code 1; err_has purged
call tree_get "$tree"; code 1; err_has 'was purged on 20'
arbor show aaaaaaaa-0000-4000-8000-000000000000; code 1; err_has 'was purged on 20'
arbor sync -q --force; code 0; arbor search alpaca; code 1
arbor check; code 0; arbor rebuild; code 0; arbor check; code 0

it "purges with 'gc' what was archived long enough, and says before what would go"
call tree_archive "$other" --force; code 0; out_has '"due":'
arbor gc --json; counts '"trees_purged":0'; arbor show bbbbbbbb; code 0
call tree_rescue "$other"; code 0
export ARBOR_LIFECYCLE_SCHEDULED_DAYS=0 ARBOR_LIFECYCLE_ARCHIVED_DAYS=0
call tree_release "$other" --owner mirror; code 0; out_has scheduled
call node_create_text "$other" --content 'too late'; code 2
arbor gc --dry-run --json; counts '"trees_archived":1'; counts '"trees_purged":0'
arbor gc --json; counts '"trees_archived":1'; counts '"trees_purged":0'; arbor search badger --archived; code 0
arbor gc --dry-run --json; counts '"trees_purged":1'; err_has 'would go: 4 lines in 2 files'; arbor search badger --archived; code 0
arbor gc -n 1 --json; counts '"trees_purged":1'; counts '"dry_run":false'; err_has 'gone: 4 lines in 2 files'
arbor search badger --archived; code 1; arbor search capybara --archived; code 1
call tree_list_archived; out_lacks "$other"
arbor gc --json; counts '"trees_purged":0'; counts '"more":false'
arbor sync -q --force; code 0; arbor rebuild; code 0; arbor search badger --archived; code 1; arbor check; code 0

it "takes what was made and hangs on a conversation along, and nothing of what another one needs"
X=$P/dddddddd-0000-4000-8000-000000000000.jsonl Y=$P/eeeeeeee-0000-4000-8000-000000000000.jsonl
line "$X" user 40 0 'dingo one'; line "$X" assistant 41 40 'dingo two'
line "$Y" user 50 0 'emu one'; line "$Y" assistant 51 50 'emu two'
arbor sync -q; code 0
call tree_get dddddddd; tree=$(first); call node_create_text "$tree" --content 'a remark on dingos'; code 0; remark=$(first)
call tree_archive "$tree" --force; code 0
arbor gc --dry-run --json; counts '"trees_purged":1'; counts '"nodes_purged":2'; call node_get_archived "$remark"; code 0
arbor gc --json; counts '"trees_purged":1'; counts '"nodes_purged":2'
call node_get "$remark"; code 1; err_has purged; arbor search dingo --archived; code 1
arbor search emu; code 0; arbor export "projects/-w/eeeeeeee-0000-4000-8000-000000000000.jsonl"; code 0; same "$Y" "$T/out"
call tree_get "$tree"; code 1; err_has purged; arbor check; code 0
the_end
