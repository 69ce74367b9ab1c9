#!/usr/bin/env bash
# fuzz.sh SECONDS TARGET...: each libFuzzer target for so long, two at a time.
#
# A target works on its own copy of the corpus (build/fuzz-corpus/TARGET), which
# grows from run to run; fuzz/corpus is what is worth keeping and is copied in.
# An input that crashes is kept in build/fuzz-crash/ with a line saying how to
# run it again; once fixed, it belongs into fuzz/corpus/TARGET.
set -u
cd "$(dirname "$0")/.." || exit 1
if [ $# -lt 2 ]; then
	echo "usage: tools/fuzz.sh SECONDS TARGET..." >&2
	exit 2
fi
seconds=$1
shift
crashes=build/fuzz-crash
work=build/fuzz-corpus
mkdir -p "$crashes" "$work"

# shellcheck disable=SC2317 # xargs calls it
run_one() { # TARGET
	local target=$1 program=build/fuzz/fuzz/$1 corpus=$work/$1 log=$work/$1.log tmp code
	local options=(-max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1
		-artifact_prefix="$crashes/$target-")
	[ -e "fuzz/$target.dict" ] && options+=(-dict="fuzz/$target.dict")
	mkdir -p "$corpus"
	cp -n fuzz/corpus/"$target"/* "$corpus"/ 2>/dev/null
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/arbor-fuzz-XXXXXX")
	TMPDIR=$tmp HOME=$tmp "$program" "${options[@]}" "$corpus" >"$log" 2>&1 </dev/null
	code=$?
	rm -rf "$tmp"
	{
		if [ "$code" = 0 ]; then echo "ok    $target"; else echo "CRASH $target"; fi
		sed -n 's/^stat::number_of_executed_units: */  runs      /p' "$log"
		sed -n 's/^stat::average_exec_per_sec: */  a second  /p' "$log"
		sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1 | sed 's/^/  edges     /'
		find "$corpus" -type f | wc -l | sed 's/^/  inputs    /'
		if [ "$code" != 0 ]; then
			grep -m 3 -E 'ERROR|SUMMARY|runtime error|deadly signal' "$log" | sed 's/^/  /'
			sed -n 's|.*Test unit written to |  again:    build/fuzz/fuzz/'"$target"' |p' "$log"
			echo "  log:      $log"
		fi
	} >"$work/$target.summary"
	cat "$work/$target.summary"
	return "$code"
}

export -f run_one
export seconds crashes work
echo "fuzzing $# targets for $seconds s each"
# shellcheck disable=SC2016 # the inner shell expands
printf '%s\n' "$@" | xargs -P 2 -n 1 bash -c 'run_one "$1"' _
code=$?

bad=0
for target in "$@"; do
	grep -q '^ok ' "$work/$target.summary" || bad=$((bad + 1))
done
echo "$(($# - bad)) of $# targets survived"
exit $((code != 0))
