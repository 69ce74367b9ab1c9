#!/usr/bin/env bash
# Tokens and what they cost, added up in every way.
# shellcheck disable=SC2016 # dollars are money here
. test/harness/lib.sh
export ARBOR_HOME=$T/store TZ=UTC
S=$T/claude/projects/-w-shop
id=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01
other=1c7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02
mkdir -p "$S/$id/subagents" "$T/claude/projects/-w-tool"
# answer FILE ID TIME MODEL INPUT OUTPUT WRITTEN READ CWD [MORE]: a line as the client writes it.
answer() {
	printf '{"type":"assistant","uuid":"%s","parentUuid":null,"cwd":"%s","sessionId":"%s","timestamp":"%s"%s,"message":{"id":"%s","role":"assistant","model":"%s","stop_reason":"end_turn","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":%d,"output_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d%s}}}\n' \
		"$(printf '%s' "$2" | md5sum | sed 's/\(.\{8\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)\(.\{12\}\).*/\1-\2-4\3-8\4-\5/; s/-4\(.\{3\}\)./-4\1/; s/-8\(.\{3\}\)./-8\1/')" \
		"$9" $id "$3" "${11-}" "$2" "$4" "$5" "$6" "$7" "$8" "${10-}" >>"$1"
}
answer "$S/$id.jsonl" a1 2026-10-24T22:30:00.000Z claude-opus-4-8 1000 100 2000 30000 /w/shop
answer "$S/$id.jsonl" a2 2026-10-25T00:30:00.000Z claude-opus-4-8 1000 100 0 30000 /w/shop ',"speed":"fast"'
answer "$S/$id.jsonl" a3 2026-10-25T01:30:00.000Z claude-haiku-4-5-20251001 5 50 0 0 /w/shop
answer "$S/$id/subagents/agent-a77.jsonl" s1 2026-10-25T01:40:00.000Z claude-haiku-4-5-20251001 10 20 0 0 /w/shop '' ',"isSidechain":true,"agentId":"a77"'
echo '{"agentType":"Explore","toolUseId":"toolu_1"}' >"$S/$id/subagents/agent-a77.meta.json"
answer "$T/claude/projects/-w-tool/$other.jsonl" b1 2026-11-02T09:00:00.000Z strange-model 7 8 0 0 /w/tool
cp "$S/$id.jsonl" "$S/2d7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03.jsonl" # a copy: nothing is counted twice
arbor sync --source "$T/claude"; code 0
columns() { cut -f "$1" "$T/out" | tr '\t\n' ': '; }

it "adds up days, each answer once"
arbor usage; code 0
check test "$(columns 1,3,4)" = '2026-10-24:1:1000 2026-10-25:3:1015 2026-11-02:1:7 '

it "knows prices, that of a hurry too, and says what it does not know"
# 1000*5 + 100*25 + 2000*6.25 + 30000*0.5 = $0.035; twice (5000+2500+15000) = $0.045
check test "$(columns 8)" = '0.035 0.045365  '
err_has 'no price is known for 15 tokens (strange-model)'
arbor usage --json
out_has '"key":"2026-10-24","answers":1,"input":1000,"output":100,"cache_write":2000,"cache_read":30000,"cost":"$0.04","nanodollars":35000000,"unpriced_tokens":0'
out_has '"key":"2026-11-02","answers":1,"input":7,"output":8,"cache_write":0,"cache_read":0,"cost":"unknown","unpriced_tokens":15'
out_has '"kind":"total"'

it "takes prices from settings"
mkdir -p "$T/.config/arbor"
echo '{ "usage": { "prices": { "strange-*": { "input": 1000, "output": 2000 } } } } // of ours' >"$T/.config/arbor/settings.json"
arbor usage --since 2026-11-01; check test "$(columns 8)" = '0.023 '; err_lacks 'no price'
ARBOR_USAGE_PRICES='{"claude-opus-4-8":{"input":1,"output":1,"cache_write":0,"cache_read":0}}' arbor usage --until 2026-10-24 --json
out_has '"nanodollars":1100000,'
ARBOR_USAGE_PRICES='{"claude-opus-4-8":{"input":3,"output":15},"claude-haiku-*":{"input":1}}' arbor usage
err_has 'tokens (claude-haiku-4-5-20251001 lacks output, claude-opus-4-8 lacks cache_write and cache_read and fast, strange-model)'
example=$(sed -n "s/.*an object such as \({.*}\) | - | .ARBOR_USAGE_PRICES.*/\1/p" docs/SETTINGS.md)
ARBOR_USAGE_PRICES=${example/my-model/claude-opus-4-8} arbor usage --until 2026-10-24; check test "$(columns 8)" = '0.021 '; err_lacks 'no price'
ARBOR_USAGE_PRICES='{"x":1}' arbor usage; code 2; err_has "ARBOR_USAGE_PRICES: usage.prices: the price of 'x'"
rm "$T/.config/arbor/settings.json"

it "adds up by every other part of the calendar, and by what has a name"
arbor usage hourly; check test "$(columns 1,3)" = '2026-10-24 22:00:1 2026-10-25 00:00:1 2026-10-25 01:00:2 2026-11-02 09:00:1 '
arbor usage weekly; check test "$(columns 1,3)" = '2026-W43:4 2026-W45:1 '
arbor usage monthly; check test "$(columns 1,3)" = '2026-10:4 2026-11:1 '
arbor usage model; check test "$(columns 1,3)" = 'claude-opus-4-8:2 claude-haiku-4-5-20251001:2 strange-model:1 '
arbor usage project; check test "$(columns 1,3)" = '/w/shop:4 /w/tool:1 '
arbor usage session; check test "$(columns 1,3)" = "$id:4 $other:1 "
arbor usage blocks; check test "$(columns 1,3)" = '2026-10-24 22:00:4 2026-11-02 09:00:1 '
arbor usage blocks --json; out_has '"started":"2026-10-24T22:00:00.000Z","ended":"2026-10-25T03:00:00.000Z"'

it "tells sub-agents from the conversation, by type or each by itself"
arbor usage agent; check test "$(columns 1,3)" = 'main:4 Explore:1 '
arbor usage agent --each; check test "$(columns 1,3,9)" = 'main:4: a77:1:Explore '

it "divides by model, too"
arbor usage monthly --by-model
check test "$(columns 1,2,3)" = '2026-10:claude-haiku-4-5-20251001:2 2026-10:claude-opus-4-8:2 2026-11:strange-model:1 '

it "counts days of other zones, also when clocks are put back"
zone='CET-1CEST,M3.5.0,M10.5.0/3'
arbor usage -z "$zone"; check test "$(columns 1,3)" = '2026-10-25:4 2026-11-02:1 '
arbor usage hourly -z "$zone" --until 2026-10-25
check test "$(columns 1,3)" = '2026-10-25 00:00:1 2026-10-25 02:00 +02:00:1 2026-10-25 02:00 +01:00:2 '
TZ=$zone arbor usage; check test "$(columns 1,3)" = '2026-10-25:4 2026-11-02:1 '
arbor usage -z Mars/Base; code 2; err_has "'Mars/Base' is no time zone; give a name such as Europe/Berlin"

it "leaves out what is not asked for"
arbor usage --since 2026-10-25; check test "$(columns 1,3)" = '2026-10-25:3 2026-11-02:1 '
arbor usage --until 2026-10-25; check test "$(columns 1,3)" = '2026-10-24:1 2026-10-25:3 '
arbor usage --since 2026-10-25 --until 2026-10-25 -z "$zone"; check test "$(columns 3)" = '4 '
arbor usage --model haiku; check test "$(columns 1,3)" = '2026-10-25:2 '
arbor usage --project tool; check test "$(columns 1,3)" = '2026-11-02:1 '
arbor usage model --session ${id%%-*}; check test "$(columns 1,3)" = 'claude-opus-4-8:2 claude-haiku-4-5-20251001:2 '
arbor usage --model none-such; code 1; err_has 'no answer of a model is kept that is meant by this'
# Blocks do not move when their first answers are left out.
arbor usage blocks --model haiku; check test "$(columns 1,3)" = '2026-10-24 22:00:2 '

it "puts first what is wanted first"
arbor usage model --order name; check test "$(columns 1)" = 'claude-haiku-4-5-20251001 claude-opus-4-8 strange-model '
arbor usage model --order tokens --reverse; check test "$(columns 1)" = 'strange-model claude-haiku-4-5-20251001 claude-opus-4-8 '
arbor usage --order cost; check test "$(columns 1)" = '2026-10-25 2026-10-24 2026-11-02 '
arbor usage --reverse; check test "$(columns 1)" = '2026-11-02 2026-10-25 2026-10-24 '

it "leaves out no answer, whatever its line says of the time"
mkdir -p "$T/odd/projects/p"
odd=$T/odd/projects/p/3e7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e04.jsonl
answer "$odd" o1 1969-12-31T22:30:00.000Z claude-opus-4-8 1 0 0 0 /w/odd
answer "$odd" o2 nonsense claude-opus-4-8 1 0 0 0 /w/odd
answer "$odd" o3 9999-12-31T23:59:59.999Z claude-opus-4-8 1 0 0 0 /w/odd
arbor sync --source "$T/odd" --store "$T/odd.db"
for group in hourly daily weekly monthly session model project agent blocks; do
	arbor usage $group --store "$T/odd.db"; code 0
	check test "$(awk -F '\t' '{ n += $3 } END { print n }' "$T/out")" -eq 3
	TZ=JST-9 arbor usage $group --store "$T/odd.db"; code 0
done
arbor usage --store "$T/odd.db"; check test "$(columns 1)" = '1969-12-31 9999-12-31 unknown '
answer "$odd" o4 1969-12-31T23:40:00.000Z claude-opus-4-8 1 0 0 0 /w/odd; answer "$odd" o5 1969-12-31T23:55:00.000Z claude-opus-4-8 1 0 0 0 /w/odd
answer "$odd" o6 none claude-opus-4-8 1 0 0 0 /w/odd; answer "$odd" o7 1970-01-01T00:06:00.000Z claude-opus-4-8 1 0 0 0 /w/odd
answer "$odd" o8 1969-12-31T23:56:00.000Z claude-opus-4-8 1 0 0 0 /w/odd; arbor sync --source "$T/odd" --store "$T/odd.db"
arbor usage --store "$T/odd.db"; check test "$(columns 1,3)" = '1969-12-31:4 1970-01-01:1 9999-12-31:1 unknown:2 '
arbor stats --store "$T/odd.db"; code 0

it "counts as many answers as there are, whatever the size of the store lets expect"
mkdir -p "$T/many/projects/p"
awk 'BEGIN { for (i = 1; i <= 12000; i++)
	printf "{\"type\":\"assistant\",\"uuid\":\"00000000-0000-4000-8000-%012d\",\"timestamp\":\"2026-11-%02dT09:00:00Z\",\"message\":{\"id\":\"m%d\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}}\n", i, 1 + i % 3, i % 6000 }' \
	>"$T/many/projects/p/4e7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e05.jsonl"
arbor sync --source "$T/many" --store "$T/many.db"; code 0
arbor usage --store "$T/many.db"; check test "$(columns 1,3,4,5)" = '2026-11-01:2000:2000:4000 2026-11-02:2000:2000:4000 2026-11-03:2000:2000:4000 '
# These are more than were expected, or this shows nothing.
check test $(($(stat -c %s "$T/many.db") * 5 / 4 / 8192 + 1000)) -lt 6000

it "leaves answers with the original when a fork ends before it goes on"
F=$T/forked/projects/-w-shop original=5e7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e06 fork=4e7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e07
forked=7e7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e08
mkdir -p "$F"
for n in 1 2; do
	answer "$F/$original.jsonl" f$n 2026-11-03T09:0$n:00.000Z claude-opus-4-8 1 1 0 0 /w/shop
	answer "$F/$fork.jsonl" f$n 2026-11-03T09:0$n:00.000Z claude-opus-4-8 1 1 0 0 /w/shop '' ",\"forkedFrom\":{\"sessionId\":\"$original\",\"messageUuid\":\"x\"}"
done
answer "$F/$fork.jsonl" f3 2026-11-03T10:00:00.000Z claude-opus-4-8 1 1 0 0 /w/shop
# A fork of the fork, which went on after it.
sed "s/$original/$fork/" "$F/$fork.jsonl" | sed '3s/"sessionId"/"forkedFrom":{"messageUuid":"x"},&/' >"$F/$forked.jsonl"
answer "$F/$forked.jsonl" f4 2026-11-03T11:00:00.000Z claude-opus-4-8 1 1 0 0 /w/shop
answer "$F/$fork.jsonl" f5 2026-11-03T12:00:00.000Z claude-opus-4-8 1 1 0 0 /w/shop
answer "$F/$original.jsonl" f6 2026-11-03T13:00:00.000Z claude-opus-4-8 1 1 0 0 /w/shop
arbor sync --source "$T/forked" --store "$T/forked.db"
arbor usage session --order name --store "$T/forked.db"; check test "$(columns 1,3)" = "$fork:2 $original:3 $forked:1 "
arbor usage model --session ${original%%-*} --store "$T/forked.db"; check test "$(columns 3)" = '3 '
# Without the original somebody has them still.
rm -r "$T/forked.db" "$F/$original.jsonl"; arbor sync --source "$T/forked" --store "$T/forked.db"
arbor usage session --order name --store "$T/forked.db"; check test "$(columns 3)" = '2 3 '

it "is a table with bars on a terminal, that fits"
for size in 40x30 80x30 120x30; do
	for group in hourly session 'monthly --by-model' project; do
		# shellcheck disable=SC2086 # words
		screen=$size on_terminal --color never usage $group; code 0
		check test "$(tr -d '\r' <"$T/out" | grep -v '^no price' | wc -L)" -le "${size%x*}"
	done
done
screen=80x30 on_terminal --color never usage; code 0
tr -d '\r' <"$T/out" | sed 's/ *$//' >"$T/shown"
cat >"$T/want" <<'END'
DAY         ANSWERS  INPUT  OUTPUT  WRITTEN   READ     COST
2026-10-24        1  1.00k     100    2.00k  30.0k    $0.04  ██████████████▊
2026-10-25        3  1.01k     170        0  30.0k    $0.05  ███████████████████
2026-11-02        1      7       8        0      0  unknown
total             5  2.02k     278    2.00k  60.0k   ≥$0.08
END
head -n 5 "$T/shown" | diff "$T/want" - | sed 's/^/# /'
head -n 5 "$T/shown" >"$T/got"; same "$T/want" "$T/got"
the_end
