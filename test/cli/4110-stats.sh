#!/usr/bin/env bash
# How much was said, and when.
# shellcheck disable=SC2016 # dollars are money here
. test/harness/lib.sh
export ARBOR_HOME=$T/store TZ=UTC
value() { sed -n "s/^$1	//p" "$T/out"; }
field() { jq -r "$1" "$T/out"; }
sum() { "$ARBOR" projects --json | sed "s/.*\"$1\":\([0-9]*\).*/\1/" | awk '{ n += $1 } END { print n }'; }

it "says what to do while there is nothing"
mkdir "$T/none" && arbor sync --source "$T/none" --label none
arbor stats; code 1; err_has 'arbor sync'

it "counts what is there"
arbor sync --source demo; code 0
arbor stats; code 0
check test "$(value sessions)" -eq "$(sum sessions)"
check test "$(value projects)" -eq 3
# One has a file, the other stands in its conversation: as 'agents' lists them.
check test "$(value agents)" -eq 2
check test "$(value agent_tools)" -eq 2
check test "$(value days)" -eq 10
check test "$(value busiest_day)" = 2026-11-12
check test "$(value first)" = 2026-11-02T21:33:18.902Z
"$ARBOR" usage >"$T/usage"
check test "$(value tokens)" -eq "$(awk -F '\t' '{ n += $4 + $5 + $6 + $7 } END { print n }' "$T/usage")"
check test "$(value answers)" -eq "$(awk -F '\t' '{ n += $3 } END { print n }' "$T/usage")"
check test "$(value dollars)" = "$(awk -F '\t' '{ n += $8 } END { printf "%.7f", n }' "$T/usage")"

it "knows the same sub-agents as 'agents' and 'usage'"
arbor agents 79f2f12c; check test "$(cut -f 3,4 "$T/out")" = '4	1'
arbor show a3ec752e --json; out_has '"messages":4'
arbor usage agent; check test "$(cut -f 1,3 "$T/out" | tr '\t\n' ': ')" = 'main:63 general-purpose:4 '
arbor usage agent --each; out_has b8982b80-87c4-43bd-8823-0681ed63e3de; out_lacks unknown
arbor stats

it "counts once what forks and copies share"
prompts=$(value prompts) messages=$(value messages) tools=$(value tools)
check test "$messages" -lt "$(sum messages)"
check test "$prompts" -lt "$(sum prompts)"
cp -r demo "$T/again" && arbor sync --source "$T/again" --label again; arbor stats
check test "$(value sessions)" -eq 15
check test "$(value prompts) $(value messages) $(value tools)" = "$prompts $messages $tools"

it "gives programs days, hours and models that add up"
arbor stats --json; code 0
if command -v jq >/dev/null; then
	check test "$(field '.by_hour | length')" -eq 24
	check test "$(field '.by_hour | add')" -eq "$messages"
	check test "$(field '.by_weekday | add')" -eq "$messages"
	check test "$(field '[.by_day[].messages] | add')" -eq "$messages"
	check test "$(field '[.by_day[].prompts] | add')" -eq "$prompts"
	check test "$(field '[.models[].nanodollars] | add')" -eq "$(field .nanodollars)"
	check test "$(field '.by_day[0].day')" = 2026-11-02
else
	skip 'there is no jq'
fi

it "counts days before 1970, and says how many messages have no time"
said() { printf '{"type":"user","uuid":"22222222-2222-4333-8444-55555555550%d","parentUuid":null,%s"message":{"role":"user","content":"word %d"}}\n' "$1" "${2:+\"timestamp\":\"$2\",}" "$1"; }
mkdir -p "$T/odd/projects/-w"
{ said 1; said 2 1969-12-31T23:30:00.000Z; said 3 1969-12-28T00:30:00.000Z; said 4 1970-01-01T05:00:00.000Z; } >"$T/odd/projects/-w/11111111-2222-4333-8444-555555555501.jsonl"
arbor sync --source "$T/odd" --store "$T/odd.db"; arbor stats --json --store "$T/odd.db"; code 0
out_has '"first":"1969-12-28T00:30:00.000Z","last":"1970-01-01T05:00:00.000Z","days":3'
out_has '"by_day":[{"day":"1969-12-28","prompts":1,"messages":1},{"day":"1969-12-31","prompts":1,"messages":1},{"day":"1970-01-01","prompts":1,"messages":1}],"by_hour":[1,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1],"by_weekday":[0,0,1,1,0,0,1],"undated":1,'
screen=80x30 on_terminal stats --color never --store "$T/odd.db"; code 0
arbor stats --until 1969-12-28 --store "$T/odd.db"; check test "$(value days)" -eq 1
screen=80x30 on_terminal stats --color never --until 1969-12-28 --store "$T/odd.db"; code 0; out_has '█'

it "is of one project, some days, another zone, when asked"
arbor stats --project webshop; check test "$(value projects) $(value sessions) $(value first)" = '1 5 2026-11-03T09:12:09.368Z'
arbor stats --since 2026-11-12 --until 2026-11-12; check test "$(value days) $(value messages)" = '1 31'
arbor stats -z JST-9; check test "$(value busiest_hour)" -eq 18
arbor stats --since 2030-01-01; code 1; err_has 'nothing was said that is meant by this'
arbor stats --project nowhere; code 1

it "draws a map, hours and models on a terminal, as wide as that"
screen=80x50 on_terminal --color never stats; code 0
check test "$(tr -d '\r' <"$T/out" | wc -L)" -le 80
tr -d '\r' <"$T/out" >"$T/shown"
check grep -q '41 tool calls, of these 2 by sub-agents' "$T/shown"
check grep -qx 'Thu ▒█' "$T/shown"
check grep -q '^10 days; busiest 2026-11-12 (31), ' "$T/shown"
check grep -q '^claude-opus-4-8 .* 1.26M .*\$0.84  █' "$T/shown"

it "counts sub-agents that only their conversation tells of"
mkdir -p "$T/told/projects/-w"
for agent in a1b2c3d a1b2c3d e4f5a6b; do
	printf '{"type":"progress","uuid":"p%s","sessionId":"s","cwd":"/w","timestamp":"2026-11-01T00:00:01Z","toolUseID":"x","parentToolUseID":"t","data":{"type":"agent_progress","agentId":"%s","message":{"type":"assistant","uuid":"q%s","timestamp":"2026-11-01T00:00:01Z","message":{"id":"n%s","role":"assistant","content":[{"type":"text","text":"hello"}]}}}}\n' \
		$((n = n + 1)) $agent $n $n
done >"$T/told/projects/-w/77777777-0000-4000-8000-000000000001.jsonl"
printf '{"type":"user","uuid":"u","sessionId":"s","cwd":"/w","timestamp":"2026-11-01T00:00:00Z","message":{"role":"user","content":"ask somebody"}}\n' \
	>>"$T/told/projects/-w/77777777-0000-4000-8000-000000000001.jsonl"
arbor --store "$T/told.db" sync --source "$T/told"; arbor --store "$T/told.db" stats; code 0; check test "$(value agents)" -eq 2
the_end
