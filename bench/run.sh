#!/usr/bin/env bash
# bench/run.sh BUILD: speed, size and memory, as ratios against other programs in
# the same run. Nothing here passes or fails: times depend on the machine.
#
#   BENCH_ONLY="json sync"   only these parts: json sync peer usage growth search recall quality path trees forks append watch together readers
#                            lived large noop
#   BENCH_LARGE=1            also a corpus 35 times as large (5 GB)
#   ARBOR_SHARED=DIR         where corpus/real-a.tar.zst is; without it, files
#                            are made up (test/crash/mktree.c), which pack worse
#
# Everything is below build/bench/; the table is also in build/bench/result.txt.
# A time is the best of several unless it says otherwise. MB are 10^6 bytes.
# Where a corpus is needed several times over, each copy has ids of its own
# (replicate.c). Whole processes that are compared run in turn (spawn.c).
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build/release}
only=${BENCH_ONLY:-json sync peer usage growth search recall quality path trees forks append watch together readers lived large noop}
top=build/bench
rm -rf "$top"
mkdir -p "$top/home"
unset XDG_DATA_HOME ARBOR_HOME CLAUDE_CONFIG_DIR
export HOME=$PWD/$top/home LC_ALL=C
arbor=$PWD/$build/arbor
tool=$PWD/$build/tool
store=$PWD/$top/arbor.db
many=$PWD/$top/many # seven copies: about a gigabyte
many_copies=7
# Asked for no network by --offline; it then opens no socket at all (strace).
ccusage=$PWD/build/npm-bench/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage

# ---- Measuring ----------------------------------------------------------------

us=0
timed() { # CMD...: sets us
	local start=${EPOCHREALTIME/./}
	"$@" >/dev/null 2>&1 || echo "bench: failed: $*" >&2
	us=$((${EPOCHREALTIME/./} - start))
}
best() { # N CMD...: sets us
	local n=$1 least=999999999999 i
	shift
	for ((i = 0; i < n; i++)); do
		timed "$@"
		((us < least)) && least=$us
	done
	us=$least
}
calc() { awk "BEGIN { printf \"$1\", $2 }"; }
rate() { calc %.0f "$1 / ($2 + 1)"; } # bytes, us -> MB/s
row() { printf '  %-44s %10s  %s\n' "$@"; }
part() { printf '\n%s\n' "$*"; }
wanted() { [[ " $only " == *" $1 "* ]]; }

# spawn takes commands as lines and prints runs as lines: LINE MICROSECONDS PEAK_KB EXIT_CODE.
command_line() { local IFS=$'\t'; printf '%s\n' "$*"; }
percentile() { # P: of the numbers on stdin; 0 is the least
	sort -n | awk -v p="$1" '{ v[NR] = $1 } END { i = int(NR * p / 100 + 0.999); print v[i < 1 ? 1 : i] }'
}
run_us() { awk '{ print $2 }' "$1" | percentile "$2"; }                             # RUNS P
run_mb() { awk '$3 > kb { kb = $3 } END { printf "%.0f", kb * 1024 / 1e6 }' "$@"; } # [RUNS]: the most of all
run_codes() { awk '$4 { n++ } END { if (n) print "; " n " runs did not end with 0" }' "$1"; } # RUNS
seconds() { calc '%.2f s' "$1 / 1e6"; }
millis() { calc '%.1f ms' "$1 / 1e3"; }

bytes_in() { find "$@" -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%d", n }'; }
files_in() { find "$@" -type f | wc -l; }
drop_store() { rm -f "$store" "$store"-*; }
store_bytes() { cat "$store" "$store-wal" 2>/dev/null | wc -c; }
sync() { "$arbor" sync --store "$store" --source "$1"; }
fresh_sync() {
	drop_store
	sync "$1"
}
peak_mb() { # DIR: of a first sync, in MB
	drop_store
	command_line "$arbor" sync --store "$store" --source "$1" | "$tool/spawn" 1 | run_mb
}
# Into the page cache, and written out: what is compared afterwards shares no disk with it.
warm() {
	command sync -f "$1"
	all_bytes "$1" >/dev/null
}
all_bytes() { find "$1" -type f -exec cat {} +; }
pack_all() { all_bytes "$1" | zstd -3 -T2 -q -c; }
# A file changed less than two seconds ago is looked at again by the next sync.
let_settle() { sleep 2.1; }

# ---- Material -----------------------------------------------------------------

corpus=$top/corpus
packed=${ARBOR_SHARED:-../shared}/corpus/real-a.tar.zst
make_corpus() {
	mkdir -p "$corpus"
	if [ -e "$packed" ]; then
		zstd -dcq "$packed" | tar -x -C "$corpus" -f -
		what="real transcripts"
	else
		"$tool/mktree" "$corpus" 1 120 150000000
		what="made-up transcripts"
	fi
	raw=$(bytes_in "$corpus")
	count=$(files_in "$corpus")
	mapfile -t transcripts < <(find "$corpus" -name '*.jsonl' -size +0 -printf '%s %p\n' | sort -rn | cut -d' ' -f2-)
	warm "$corpus"
}

make_many() {
	[ -e "$many" ] && return
	"$tool/replicate" "$corpus" "$many" "$many_copies"
	warm "$many"
}

# Whole transcripts, in the order of their names, until there are so many bytes.
some_files() { # FROM TO BYTES PATTERN
	local left=$3 path size
	mkdir -p "$2"
	while ((left > 0)) && read -r size path; do
		mkdir -p "$2/${path%/*}"
		cp "$1/$path" "$2/$path"
		left=$((left - size))
	done < <(find "$1/projects" -path "$4" -printf '%s projects/%P\n' | sort -k2)
}

# shellcheck source=bench/search.sh
. bench/search.sh

# ---- Parts --------------------------------------------------------------------

json() {
	local mine cat_us wc_us jq_us bytes
	part "JSON: every line of $what read ($(calc %.0f "$raw / 1e6") MB)"
	read -r _ mine bytes _ < <("$tool/bench_json" "${transcripts[@]}")
	best 5 cat "${transcripts[@]}" && cat_us=$us
	best 3 wc -l "${transcripts[@]}" && wc_us=$us
	best 1 jq -c .type "${transcripts[@]}" 2>/dev/null && jq_us=$us
	row "arbor's reader" "$mine MB/s" "one thread"
	row "cat" "$(rate "$bytes" "$cat_us") MB/s" "$(calc %.1f "$bytes / $cat_us / $mine")x arbor"
	row "wc -l" "$(rate "$bytes" "$wc_us") MB/s" "$(calc %.1f "$bytes / $wc_us / $mine")x arbor"
	row "jq -c .type" "$(rate "$bytes" "$jq_us") MB/s" "arbor is $(calc %.0f "$mine / ($bytes / $jq_us)")x"
}

first_sync() {
	local mine cat_us zstd_us size
	part "First sync: $count files, $(calc %.0f "$raw / 1e6") MB of $what"
	best 5 fresh_sync "$corpus" && mine=$us
	size=$(store_bytes)
	best 3 all_bytes "$corpus" && cat_us=$us
	best 3 pack_all "$corpus" && zstd_us=$us
	row "arbor sync" "$(rate "$raw" "$mine") MB/s" "$(calc %.2f "$mine / 1e6") s"
	row "zstd -3 -T2" "$(rate "$raw" "$zstd_us") MB/s" "arbor takes $(calc %.2f "$mine / $zstd_us") of its time"
	row "cat" "$(rate "$raw" "$cat_us") MB/s" "arbor takes $(calc %.1f "$mine / $cat_us") of its time"
	row "store / raw" "$(calc %.3f "$size / $raw")" "$(calc %.1f "$size / 1e6") MB"
	row "zstd -3 / raw" "$(calc %.3f "$(pack_all "$corpus" | wc -c) / $raw")" ""
	row "peak memory" "$(peak_mb "$corpus") MB" ""
}

# Beside a program that reads the same files, only sums up their tokens and keeps nothing.
peer() {
	local size each=0 mine=$top/peer.arbor theirs=$top/peer.ccusage
	make_many
	[ ! -x "$ccusage" ] || each=$(tokens "$PWD/$corpus")
	size=$(bytes_in "$many")
	command sync # or the system writes the files out while they are read, which only who waits for the disk feels
	part "First sync of $(calc %.0f "$size / 1e6") MB ($(files_in "$many") files), ccusage on the same: 3 each in turn"
	for _ in 1 2 3; do
		drop_store
		command_line "$arbor" sync --store "$store" --source "$many" | "$tool/spawn" 1 >>"$mine"
		((!each)) ||
			command_line env CLAUDE_CONFIG_DIR="$many" "${count_tokens[@]}" | "$tool/spawn" 1 >>"$theirs"
	done
	peer_row "arbor sync" "$mine" "$size"
	row "store / raw" "$(calc %.3f "$(store_bytes) / $size")" "$(calc %.1f "$(store_bytes) / 1e6") MB"
	if ((!each)); then
		row "ccusage" "-" "is not here (bench/package.json), or has nothing to count in $what"
		return
	fi
	peer_row "$("$ccusage" --version)" "$theirs" "$size"
	row "arbor / ccusage" "$(calc %.2f "$(run_us "$mine" 0) / $(run_us "$theirs" 0)")x" \
		"best; median $(calc %.2f "$(run_us "$mine" 50) / $(run_us "$theirs" 50)")x"
	(($(tokens "$many") == many_copies * each)) || row "" "" "but it did not count every copy"
}
peer_row() { # NAME RUNS BYTES
	row "$1" "$(rate "$3" "$(run_us "$2" 0)") MB/s" "best $(seconds "$(run_us "$2" 0)"), median $(seconds "$(run_us "$2" 50)"),\
 peak memory $(run_mb "$2") MB$(run_codes "$2")"
}
# The same numbers, once everything is in the store.
usage() {
	local dir mine=$top/usage.arbor theirs=$top/usage.ccusage
	make_many
	part "Tokens by day: arbor usage after a sync, ccusage on the same files, 7 each in turn"
	for dir in "$PWD/$corpus" "$many"; do
		fresh_sync "$dir" >/dev/null 2>&1
		warm "$store"
		rm -f "$mine" "$theirs"
		for _ in 1 2 3 4 5 6 7; do
			command_line "$arbor" usage daily --store "$store" --json | "$tool/spawn" 1 >>"$mine"
			[ ! -x "$ccusage" ] ||
				command_line env CLAUDE_CONFIG_DIR="$dir" "${count_tokens[@]}" | "$tool/spawn" 1 >>"$theirs"
		done
		row "$(calc %.0f "$(bytes_in "$dir") / 1e6") MB: arbor usage daily" "$(millis "$(run_us "$mine" 50)")" \
			"median, whole process; best $(millis "$(run_us "$mine" 0)")$(run_codes "$mine")"
		if [ -s "$theirs" ]; then
			row "  ccusage" "$(millis "$(run_us "$theirs" 50)")" "best $(millis "$(run_us "$theirs" 0)")$(run_codes "$theirs")"
			row "  ccusage / arbor" "$(calc %.0f "$(run_us "$theirs" 50) / $(run_us "$mine" 50)")x" \
				"median; best $(calc %.0f "$(run_us "$theirs" 0) / $(run_us "$mine" 0)")x"
		else
			row "  ccusage" "-" "is not here (bench/package.json)"
		fi
	done
}
count_tokens=("$ccusage" claude daily --offline --json)
tokens() { CLAUDE_CONFIG_DIR=$1 "${count_tokens[@]}" | jq .totals.totalTokens; }

growth() {
	local times dir=$top/growth have=0 first=0 speed size
	part "Growth: first sync of some of the corpus, of all, and of all so many times over"
	for times in 0 1 7 ${BENCH_LARGE:+35}; do
		if ((times)); then
			"$tool/replicate" "$corpus" "$dir" $((times - have)) $((have + 1))
		else
			some_files "$corpus" "$dir" 10000000 '*.jsonl'
		fi
		have=$times
		size=$(bytes_in "$dir")
		warm "$dir"
		best $((times < 2 ? 5 : 2)) fresh_sync "$dir"
		speed=$(rate "$size" "$us")
		((first)) || first=$speed
		row "$(files_in "$dir") files, $(calc %.0f "$size / 1e6") MB" "$speed MB/s" \
			"$(calc %.2f "$speed / $first") of the first; store/raw $(calc %.3f "$(store_bytes) / $size"); peak $(peak_mb "$dir") MB"
		((times)) || rm -rf "$dir"
	done
	rm -rf "$dir"
}

# Of one conversation: what hangs on what, and then all it says. Times are of the library, in
# one process; the commands are whole processes.
path() {
	local dir=$top/path id=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01 n size r
	part "The path of a conversation: skeleton and content"
	for n in 1000 10000 100000; do
		mkdir -p "$dir/projects/p"
		"$tool/bench_path" write "$dir/projects/p/$id.jsonl" $n
		size=$(bytes_in "$dir")
		fresh_sync "$dir" >/dev/null 2>&1
		read -r -a r < <("$tool/bench_path" "$store" $id)
		row "$n messages, ${r[11]} lines, $(calc %.0f "$size / 1e6") MB: skeleton" "$(millis "${r[1]}")" \
			"rows into a chain $(millis "${r[3]}"), chain and tree built $(millis "${r[5]}")"
		row "  as nodes of a tree" "$(millis "${r[17]}")" ""
		row "  content; as sent" "${r[13]} MB/s" "${r[15]} MB/s"
		((n == 10000)) || continue
		best 5 "$arbor" tree $id --store "$store" --json
		row "  arbor tree" "$(millis "$us")" ""
		best 5 "$arbor" log $id --store "$store" --json
		row "  arbor log" "$(millis "$us")" "$(rate "$size" "$us") MB/s"
	done
	rm -rf "$dir"
}

# Copies of one conversation that went on differently: what they share is looked at once.
forks() {
	local dir=$PWD/$top/forks runs=$top/forks.runs count=200 messages=500 name one all verb n=0
	part "$count forks of a conversation of $messages messages, each a file of its own"
	mkdir -p "$dir/one/projects/p" "$dir/all/projects/p"
	awk -v forks=0 -v messages=$messages -v out="$dir/one/projects/p" -f bench/forks.awk
	awk -v forks=$count -v messages=$messages -v out="$dir/all/projects/p" -f bench/forks.awk
	name=$(basename "$dir"/one/projects/p/*.jsonl .jsonl)
	fresh_sync "$dir/one" >/dev/null 2>&1
	one=$(store_bytes)
	fresh_sync "$dir/all" >/dev/null 2>&1
	all=$(store_bytes)
	warm "$top"
	for verb in branches tree; do command_line "$arbor" $verb "$name" --store "$store"; done >"$runs.commands"
	"$tool/spawn" 20 <"$runs.commands" >"$runs"
	for verb in branches tree; do
		n=$((n + 1))
		row "arbor $verb, whole process" "$(millis "$(awk -v n=$n '$1 == n { print $2 }' "$runs" | percentile 0)")" \
			"least of 20$(run_codes "$runs")"
	done
	row "files" "$(calc '%.1f MB' "$(bytes_in "$dir/all") / 1e6")" ""
	row "the store grows for each fork by" "$(calc '%.0f kB' "($all - $one) / $count / 1e3")" \
		"of $(calc '%.0f kB' "$(bytes_in "$dir/all") / ($count + 1) / 1e3") that its file has, in a first sync"
	fresh_sync "$dir/one" >/dev/null 2>&1
	cp -n "$dir"/all/projects/p/* "$dir/one/projects/p/"
	sync "$dir/one" >/dev/null 2>&1
	row "  where what it was forked from is known" "$(calc '%.0f kB' "($(store_bytes) - $one) / $count / 1e3")" ""
}

# The same path, and the same page, in a small tree and in a large one.
trees() {
	local n id end middle depth=1000 dir=$PWD/$top/trees runs=$top/trees.runs
	local -A in us_of kb_of
	part "Trees of 10,000 and of 1,000,000 nodes, and a path of $depth nodes in each"
	mkdir -p "$dir"
	for n in 10000 1000000; do
		read -r id end middle < <("$tool/bench_trees" make "$dir/$n.db" $n $depth)
		"$arbor" rebuild --store "$dir/$n.db" >/dev/null 2>&1 # its index: else the first command makes it
		warm "$dir"
		read -r -a r < <("$tool/bench_trees" "$dir/$n.db" "$end" "$middle")
		in[$n:path]=${r[1]} in[$n:content]=${r[3]} in[$n:page]=${r[5]}
		command_line "$arbor" call arbor.node_get_path "$end" --store "$dir/$n.db"
		command_line "$arbor" call arbor.context_get_path "$end" --store "$dir/$n.db"
		command_line "$arbor" call arbor.tree_render "$id" --after "$middle" --limit 100 --store "$dir/$n.db"
	done >"$runs.commands"
	"$tool/spawn" 20 <"$runs.commands" >"$runs"
	for n in 1 2 3 4 5 6; do
		us_of[$n]=$(awk -v n=$n '$1 == n' "$runs" | awk '{ print $2 }' | percentile 0)
		kb_of[$n]=$(awk -v n=$n '$1 == n && $3 > most { most = $3 } END { print most }' "$runs")
	done
	tree_row "path" "${in[10000:path]}" "${in[1000000:path]}"
	tree_row "  with what its nodes hold" "${in[10000:content]}" "${in[1000000:content]}"
	tree_row "a page of 100 nodes in the middle" "${in[10000:page]}" "${in[1000000:page]}"
	tree_row "arbor call arbor.node_get_path" "${us_of[1]}" "${us_of[4]}"
	tree_row "arbor call arbor.context_get_path" "${us_of[2]}" "${us_of[5]}"
	tree_row "arbor call arbor.tree_render, that page" "${us_of[3]}" "${us_of[6]}"
	row "  its memory" "$(calc '%.1f MB' "${kb_of[6]} * 1024 / 1e6")" "$(calc '%.1f MB' "${kb_of[3]} * 1024 / 1e6") in the small one$(run_codes "$runs")"
	rm -rf "$dir"
}
tree_row() { # WHAT SMALL_US LARGE_US
	row "$1" "$(millis "$3")" "$(calc %.2f "$3 / $2")x the small one's $(millis "$2")"
}

append() {
	local dir=$top/append i target line list=$top/append.list
	part "One line more: 200 appends, a sync each (whole process)"
	"$tool/mktree" "$dir" 2 406 20000000
	let_settle
	fresh_sync "$dir" >/dev/null 2>&1
	target=$(find "$dir/projects" -name '*-4000-*.jsonl' -size +20k | sort | head -n 1)
	line=$(grep -m 1 '^{.*}$' "$target" | head -c 2000)
	for ((i = 0; i < 200; i++)); do
		printf '%s\n' "$line" >>"$target"
		timed sync "$dir"
		echo "$us"
	done >"$list"
	row "$(files_in "$dir") files: p50" "$(calc %.1f "$(percentile 50 <"$list") / 1e3") ms" ""
	row "$(files_in "$dir") files: p99" "$(calc %.1f "$(percentile 99 <"$list") / 1e3") ms" ""
	best 20 "$arbor" --version
	row "arbor --version" "$(calc %.1f "$us / 1e3") ms" "the cost of a process"
}

on_cpu() { awk '{ n += $1 } END { printf "%.0f", n }' /proc/"$1"/task/*/schedstat; } # PID: nanoseconds so far

# Somebody else writes (lag.c) while arbor watches; then nobody does.
watch() {
	local dir=$top/watch list=$top/watch.list target pid before idle=20
	part "Watching: a new line until a search finds it, 300 lines, 60 to 120 ms apart; then nothing for $idle s"
	"$tool/mktree" "$dir" 6 8130 60000000
	let_settle
	drop_store
	"$arbor" sync --watch --json --store "$store" --source "$dir" >"$top/watch.out" 2>&1 &
	pid=$!
	until grep -q '"event":"summary"' "$top/watch.out"; do sleep 0.1; done
	target=$(find "$dir/projects" -name '*-4000-*.jsonl' -size +20k | sort | head -n 1)
	"$tool/lag" "$store" "$target" 300 60 >"$list"
	row "$(files_in "$dir") files: p50" "$(millis "$(percentile 50 <"$list")")" ""
	row "$(files_in "$dir") files: p99" "$(millis "$(percentile 99 <"$list")")" "the worst $(millis "$(percentile 100 <"$list")")"
	sleep 3
	before=$(on_cpu "$pid")
	sleep "$idle"
	row "idle" "$(calc '%.4f %%' "($(on_cpu "$pid") - $before) / $idle / 1e7")" "of a core"
	kill "$pid"
	wait "$pid"
}

# Twenty transcripts grow in forty steps each, a sync after every step.
search_often() { # RUNS: the same few words again and again, 600 searches
	for word in error function migration parser; do
		command_line "$arbor" search --store "$store" --limit 10 "$word"
	done | "$tool/spawn" 150 >"$1"
}

# Who writes: the watching program, and one that only wants the lock. Who reads: searches, one after the other.
together() {
	local dir=$top/together list=$top/together.waits alone=$top/together.alone runs=$top/together.runs target pid lag waits
	part "All at once: lines appended and watched, a second writer, searches; 153 MB"
	cp -r "$corpus" "$dir"
	let_settle
	fresh_sync "$dir" >/dev/null 2>&1
	search_often "$alone"
	"$arbor" sync --watch --json --store "$store" --source "$dir" >"$top/together.out" 2>&1 &
	pid=$!
	until grep -q '"event":"summary"' "$top/together.out"; do sleep 0.1; done
	target=$(find "$dir/projects" -maxdepth 2 -name '*-4*-*.jsonl' -size +20k | sort | head -n 1)
	"$tool/lag" "$store" "$target" 200 10 >"$top/together.lag" &
	lag=$!
	"$tool/waits" "$store" 400 5 >"$list" &
	waits=$!
	search_often "$runs"
	wait "$lag" "$waits"
	row "the second writer waits: p50" "$(millis "$(percentile 50 <"$list")")" "p99 $(millis "$(percentile 99 <"$list")"), the worst $(millis "$(percentile 100 <"$list")")"
	row "a new line is found: p50" "$(millis "$(percentile 50 <"$top/together.lag")")" "p99 $(millis "$(percentile 99 <"$top/together.lag")")"
	row "a search: p50" "$(millis "$(run_us "$runs" 50)")" "alone $(millis "$(run_us "$alone" 50)")"
	row "a search: p99" "$(millis "$(run_us "$runs" 99)")" "alone $(millis "$(run_us "$alone" 99)")"
	kill "$pid"
	wait "$pid"
}

readers() {
	local empty=$top/readers-empty out=$top/readers.out busy pid count rate p50 p99 worst
	make_many
	part "One stream and 50 readers that now and then lose their connection, while $(calc %.0f "$(bytes_in "$many") / 1e6") MB are synced"
	mkdir -p "$empty/projects"
	for busy in '' 1; do
		fresh_sync "$empty" >/dev/null 2>&1
		[ -z "$busy" ] || { "$arbor" sync --quiet --store "$store" --source "$many" >/dev/null 2>&1 & pid=$!; }
		"$tool/readers" "$store" 50 20000 6 >"$out"
		read -r count rate p50 p99 worst <"$out"
		row "${busy:+while syncing, }$rate events a second: p50" "$(millis "$p50")" "of $count, each seen once and in order by each reader"
		row "  p99" "$(millis "$p99")" "the worst $(millis "$worst")"
		[ -z "$busy" ] || wait "$pid"
	done
}

lived() {
	local dir=$top/lived parts=$top/lived-parts i step file steps=40 lived_size once_size size start
	part "A lived-in store: 20 transcripts grow in $steps steps each, a sync after every step"
	mkdir -p "$dir/projects/p" "$parts"
	# Middling ones: the very largest would be the whole result.
	for ((i = 0; i < 20 && i + 10 < ${#transcripts[@]}; i++)); do
		mkdir "$parts/$i"
		split -n "l/$steps" -d -a 3 "${transcripts[i + 10]}" "$parts/$i/"
	done
	drop_store
	start=${EPOCHREALTIME/./}
	for ((step = 0; step < steps; step++)); do
		for ((file = 0; file < i; file++)); do
			[ -s "$parts/$file/$(printf %03d $step)" ] || continue
			cat "$parts/$file/$(printf %03d $step)" >>"$dir/projects/p/$file.jsonl"
			sync "$dir" >/dev/null 2>&1
		done
	done
	us=$((${EPOCHREALTIME/./} - start))
	lived_size=$(store_bytes)
	fresh_sync "$dir" >/dev/null 2>&1
	once_size=$(store_bytes)
	size=$(bytes_in "$dir")
	row "store / raw, lived in" "$(calc %.3f "$lived_size / $size")" "$(calc %.1f "$size / 1e6") MB raw"
	row "store / raw, at once" "$(calc %.3f "$once_size / $size")" "lived in is $(calc %.2f "$lived_size / $once_size")x"
	row "a sync" "$(calc %.1f "$us / 1e3 / (20 * $steps)") ms" "mean, whole process"
}

large() {
	local dir=$top/large size
	part "Large ones"
	mkdir -p "$dir/lines/projects/p" "$dir/line/projects/p"
	"$tool/mktree" -l "$dir/lines/projects/p/a.jsonl" 3 700000000 4000
	"$tool/mktree" -l "$dir/line/projects/p/a.jsonl" 4 200000000 0
	for what_large in lines line; do
		size=$(bytes_in "$dir/$what_large")
		all_bytes "$dir/$what_large" >/dev/null
		best 2 fresh_sync "$dir/$what_large"
		row "$([ $what_large = line ] && echo 'one line' || echo 'one file') of $(calc %.0f "$size / 1e6") MB" \
			"$(rate "$size" "$us") MB/s" "peak memory $(peak_mb "$dir/$what_large") MB"
	done
	rm -rf "$dir"
}

list_with_find() { find "$1" -type f -printf '%i %s %T@ %C@ %p\n'; }

noop() {
	local dir=$top/noop n files mine theirs i
	part "Nothing new: sync against find -type f -printf '%i %s %T@ %C@ %p\\n', 7 each in turn"
	for n in 1000 10000 100000; do
		# mktree puts other files around the transcripts, about 1.46 for each.
		"$tool/mktree" "$dir" 5 $((n * 100 / 246)) $((n * 300))
		let_settle
		fresh_sync "$dir" >/dev/null 2>&1
		sync "$dir" >/dev/null 2>&1
		files=$(files_in "$dir")
		mine=999999999999 theirs=999999999999
		for ((i = 0; i < 7; i++)); do
			timed list_with_find "$dir"
			((us < theirs)) && theirs=$us
			timed sync "$dir"
			((us < mine)) && mine=$us
		done
		row "$files files: arbor sync" "$(calc %.1f "$mine / 1e3") ms" \
			"find $(calc %.1f "$theirs / 1e3") ms: $(calc %.2f "$mine / $theirs")x"
		sync "$dir" 2>&1 | grep -q ' unchanged' || row "" "" "but it did find something new"
		rm -rf "$dir"
	done
}

main() {
	echo "arbor $("$arbor" --version | awk '{ print $2 }'), $(nproc) cores, load before: $(cut -d' ' -f1-3 /proc/loadavg)"
	make_corpus
	! wanted json || json
	! wanted sync || first_sync
	! wanted peer || peer
	! wanted usage || usage
	! wanted growth || growth
	! wanted search || search
	! wanted recall || recall
	! wanted quality || quality
	! wanted path || path
	! wanted trees || trees
	! wanted forks || forks
	! wanted append || append
	! wanted watch || watch
	! wanted together || together
	! wanted readers || readers
	! wanted lived || lived
	! wanted large || large
	! wanted noop || noop
	printf '\nload after: %s\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
	rm -rf "$corpus" "$many" "$top"/append* "$top"/forks* "$top"/watch* "$top"/together* "$top"/readers* "$top"/lived* "$top"/peer* "$top"/usage* "$top"/search* "${top:?}/home"
	drop_store
}

main | tee "$top/result.txt"
