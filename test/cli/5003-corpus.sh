#!/bin/sh
# A corpus of real conversations: exactly the branches and the tokens that the oracles found in it
# (test/oracle/branches-corpus.tsv, usage-corpus.tsv), and not one more.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
corpus=$ARBOR_SHARED/corpus/real-a.tar.zst
if [ "$MODE" != dev ]; then
	it "knows the branches and tokens of the corpus"
	skip 'large: in dev mode only'
	the_end
elif [ ! -f "$corpus" ] || ! command -v zstd >/dev/null; then
	it "knows the branches and tokens of the corpus"
	skip "the corpus or zstd is not here; its branches and tokens are NOT CHECKED"
	the_end
fi
mkdir "$T/real"
zstd -q -d --long=27 -c "$corpus" | tar -x -C "$T/real"
arbor sync -q --source "$T/real" --store "$T/real.db"
arbor dump --logical --store "$T/real.db"

it "has the listed branches, no more and no fewer"
code 0
check test "$(grep -c '^session ' "$T/out")" -eq 112
# A listed branch names the first line of a message; the dump its id. With none listed there is nothing to translate.
check test "$(grep -c '^branch ' "$T/out")" -eq "$(grep -c '^branch' test/oracle/branches-corpus.tsv)"

it "counts every answer once, and every token of it"
sum() { # NAME
	sed -n "s/^usage .* $1=\([0-9]*\) .*/\1/p" "$T/out" | awk '{ n += $1 } END { print n + 0 }'
}
listed() { awk -F '\t' -v name="$1" '$1 == name { print $2 }' test/oracle/usage-corpus.tsv; }
check test "$(grep -c '^usage ' "$T/out")" -eq "$(listed messages)"
check test "$(grep -c '^usage .* final=no' "$T/out")" -eq "$(listed provisional)"
check test "$(sum input)" -eq "$(listed input)"
check test "$(sum output)" -eq "$(listed output)"
check test "$(sum written)" -eq "$(listed cacheWrite)"
check test "$(sum read)" -eq "$(listed cacheRead)"

it "prints the same totals for people"
arbor usage --json --store "$T/real.db"; code 0
for name in input output cacheWrite:cache_write cacheRead:cache_read; do
	grep '"kind":"total"' "$T/out" | grep -q "\"${name##*:}\":$(listed "${name%%:*}")[,}]" || fail "$name is not $(listed "${name%%:*}")"
done
check test "$(listed input) $(listed output) $(listed cacheWrite) $(listed cacheRead)" = '316278 635729 33133412 675807313'
the_end
