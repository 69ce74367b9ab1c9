#!/usr/bin/env bash
# The parts `search`, `recall` and `quality` of bench/run.sh, which includes this file and
# has the helpers.
#
# search: 200 queries that test/oracle/extract.mjs draws from the files (rare, medium
# and common words, identifiers, two words, phrases, prefixes, alternatives, filters), each a
# process of its own that prints ten hits, against ripgrep counting the matching lines of the
# same files, which are in the page cache. Of two words ripgrep gets the rarer one alone, of
# a filter the word. Both are given the time of the process, so ours includes opening the
# store. Then the same queries on a tenth of the files: what a store that grows costs.
# shellcheck disable=SC2154 # arbor, tool, top, store, many, corpus: bench/run.sh

has_search() {
	"$arbor" help search >/dev/null 2>&1 && return
	row "arbor search" "-" "this build has none"
	return 1
}

# Older builds take OR and filters for words.
knows_filters() { "$arbor" help search 2>/dev/null | grep -q 'role:'; }
known_queries() { if knows_filters; then cat; else grep -v -e '^or	' -e '^filtered	'; fi; }

search_lines() { # QUERIES STORE
	while IFS=$'\t' read -r _ query _; do
		command_line "$arbor" search --store "$2" --limit 10 "$query"
	done <"$1"
}
rg_lines() { # QUERIES
	while IFS=$'\t' read -r _ _ pattern; do
		command_line rg -i -c "$pattern" "$many"
	done <"$1"
}

# Runs of two kinds of command in turn, on stdin, to a row for each pair: the medians of the
# first and of the second.
paired_medians() {
	sort -k1,1n -k2,2n | awk '
		function out() { if (n) printf "%d%s", v[int((n + 1) / 2)], line % 2 ? "\t" : "\n" }
		$1 != line { out(); line = $1; n = 0 }
		{ v[++n] = $2 }
		END { out() }'
}

# The ratios of a kind of query ("" for all), from rows: OURS THEIRS KIND QUERY PATTERN
ratios() { awk -F '\t' -v kind="$2" 'kind == "" || $3 == kind { printf "%.1f\n", $2 / $1 }' "$1"; } # ROWS KIND

search() {
	local tenth=$top/search-tenth tenth_store=$PWD/$top/search-tenth.db queries=$top/search.queries
	local runs=$top/search.runs rows=$top/search.rows kind
	part "Search: 10 hits, whole process, against rg -i -c on the same files, 3 each in turn"
	has_search || return
	make_many
	# Of its first copy.
	some_files "$many" "$tenth" $(($(bytes_in "$many") / 10)) '*-copy1/*.jsonl'
	store=$tenth_store fresh_sync "$tenth" >/dev/null 2>&1
	fresh_sync "$many" >/dev/null 2>&1
	# From the tenth, so that all of them are in both.
	node test/oracle/extract.mjs queries "$tenth" | known_queries >"$queries"
	for _ in 1 2 3; do
		warm "$store" # rg has all of its files again every moment; a store of which only a part is read may lose the rest
		paste -d '\n' <(search_lines "$queries" "$store") <(rg_lines "$queries") | "$tool/spawn" 1
	done >"$runs"
	paired_medians <"$runs" | paste - "$queries" >"$rows"
	row "$(wc -l <"$rows") queries, $(calc %.0f "$(bytes_in "$many") / 1e6") MB: median" \
		"$(ratios "$rows" '' | percentile 50)x" "arbor $(millis "$(cut -f1 "$rows" | percentile 50)"), \
rg $(millis "$(cut -f2 "$rows" | percentile 50)")$(run_codes "$runs")"
	row "of single words alone" \
		"$(for kind in rare medium common; do ratios "$rows" $kind; done | percentile 50)x" ""
	row "worst" "$(ratios "$rows" '' | percentile 0)x" \
		"$(awk -F '\t' '!worst || $2 / $1 < worst { worst = $2 / $1; query = $4 } END { print query }' "$rows")"
	for kind in $(cut -f3 "$rows" | uniq); do
		row "  $kind" "$(ratios "$rows" "$kind" | percentile 50)x" "worst $(ratios "$rows" "$kind" | percentile 0)x"
	done
	knows_filters || row "  or, filtered" "-" "left out: this build does not know them"
	row "peak memory" "$(awk '$1 % 2' "$runs" | run_mb) MB" "the most of all searches"
	search_growth "$queries" "$tenth" "$tenth_store"
	rm -rf "$tenth" "$tenth_store"*
}

search_growth() { # QUERIES TENTH STORE-OF-IT
	local runs=$top/search.growth p small large
	part "Search growth: the same queries on $(calc %.0f "$(bytes_in "$2") / 1e6") MB and on all, 5 each in turn"
	paste -d '\n' <(search_lines "$1" "$3") <(search_lines "$1" "$store") | "$tool/spawn" 5 >"$runs"
	for p in 50 99; do
		small=$(awk '$1 % 2 { print $2 }' "$runs" | percentile $p)
		large=$(awk '$1 % 2 == 0 { print $2 }' "$runs" | percentile $p)
		row "p$p" "$(calc %.2f "$large / $small")x" "$(millis "$small") -> $(millis "$large")"
	done
}

recall() {
	part "Recall and precision: the lines that an independent reader finds, and no other (test/oracle)"
	has_search || return
	fresh_sync "$corpus" >/dev/null 2>&1
	ARBOR=$arbor TMPDIR=$PWD/$top test/oracle/recall.sh "$store" "$corpus" 2>&1 | sed 's/^/  /'
}

# Judged by reading, on that corpus alone.
quality() {
	local name score how
	part "Quality: nDCG@10 over judged queries (test/quality), stock FTS5 on the same documents"
	has_search || return
	if [ "$what" != "real transcripts" ] || ! python3 -c 'import sqlite3' 2>/dev/null; then
		row "nDCG@10" "-" "NOT MEASURED: there is no corpus that was judged, or no python3"
		return
	fi
	fresh_sync "$corpus" >/dev/null 2>&1
	ARBOR=$arbor python3 test/quality/quality.py "$store" | while IFS=$'\t' read -r name score how; do
		row "$name" "$score" "$how"
	done
}
