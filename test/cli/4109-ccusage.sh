#!/usr/bin/env bash
# A corpus of real conversations: the tokens of every day and model are those that ccusage
# counts, in several time zones, and its billing blocks begin where ours do.
. test/harness/lib.sh
corpus=$ARBOR_SHARED/corpus/real-a.tar.zst
ccusage=$PWD/build/npm-bench/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage
unchecked() { # WHY
	it "counts as ccusage does"
	skip "$1"
	the_end
}
[ "$MODE" = dev ] || unchecked 'large: in dev mode only'
{ [ -f "$corpus" ] && command -v zstd >/dev/null; } || unchecked 'the corpus or zstd is not here; usage is NOT COMPARED with ccusage'
command -v jq >/dev/null || unchecked 'jq is not here; usage is NOT COMPARED with ccusage'
{ [ -x "$ccusage" ] && [ "$("$ccusage" --version)" = 'ccusage 20.0.24' ]; } ||
	unchecked "ccusage 20.0.24 is not here (npm, bench/package.json: 'tools/deps.sh bench'); usage is NOT COMPARED with it"
mkdir "$T/real"
zstd -q -d --long=27 -c "$corpus" | tar -x -C "$T/real"
export TZ=UTC CLAUDE_CONFIG_DIR=$T/real
arbor sync -q --source "$T/real" --store "$T/real.db"

for zone in UTC America/New_York Asia/Tokyo; do
	it "counts as ccusage does, by day and model, in $zone"
	if [ $zone != UTC ] && [ ! -e /usr/share/zoneinfo/$zone ]; then
		skip 'the system has no list of time zones'
		continue
	fi
	"$ccusage" claude daily --offline --json --timezone $zone |
		jq -r '.daily[] | .date as $day | .modelBreakdowns[] |
			"\($day) \(.modelName) \(.inputTokens) \(.outputTokens) \(.cacheCreationTokens) \(.cacheReadTokens)"' | sort >"$T/theirs"
	arbor usage daily --by-model --json --timezone $zone --store "$T/real.db"; code 0
	jq -r 'select(.kind == "day") | "\(.key) \(.model) \(.input) \(.output) \(.cache_write) \(.cache_read)"' "$T/out" | sort >"$T/ours"
	check test "$(wc -l <"$T/theirs")" -gt 50
	diff "$T/theirs" "$T/ours" | head -n 10 | sed 's/^/# /'
	same "$T/theirs" "$T/ours"
done

it "finds the same costs, where both know the price"
"$ccusage" claude daily --offline --json --timezone UTC | jq -r '.totals.totalCost * 100 | round' >"$T/theirs"
arbor usage --json --store "$T/real.db"; jq -r 'select(.kind == "total") | .nanodollars / 10000000 | round' "$T/out" >"$T/ours"
same "$T/theirs" "$T/ours"

it "begins billing blocks where ccusage does"
"$ccusage" claude blocks --offline --json --timezone UTC | jq -r '.blocks[] | select(.isGap | not) | .startTime' >"$T/theirs"
arbor usage blocks --json --store "$T/real.db"; jq -r 'select(.kind == "block") | .started' "$T/out" >"$T/ours"
check test "$(wc -l <"$T/theirs")" -gt 50
same "$T/theirs" "$T/ours"
the_end
