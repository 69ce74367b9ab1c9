#!/bin/sh
# Naming what to export, older versions, and what reaches a terminal.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
S=$T/.claude
P=$S/projects/p
export ARBOR_HOME="$T/store"
mkdir -p "$P"
esc=$(printf '\033')

it "exports any generation, and says which there are"
printf '{"v":1}\n' >"$P/a.jsonl" && cp "$P/a.jsonl" "$T/v1" && arbor sync
printf '{"v":2}\n{"more":1}\n' >"$P/a.jsonl" && cp "$P/a.jsonl" "$T/v2" && arbor sync
printf '{"v":3}\n' >"$P/a.jsonl" && cp "$P/a.jsonl" "$T/v3" && arbor sync
for g in 1 2 3; do
	arbor export projects/p/a.jsonl --generation $g; code 0; same "$T/v$g" "$T/out"
done
arbor export projects/p/a.jsonl; code 0; same "$T/v3" "$T/out"
arbor export projects/p/a.jsonl --generation 4; code 1; err_has 'generations 1 to 3'; check test ! -s "$T/out"
for g in 0 99999999999999999999 -1 x '' 1x; do
	arbor export projects/p/a.jsonl --generation="$g"
	check test "$rc" = 1 -o "$rc" = 2
	check test ! -s "$T/out"
done

it "lists the generations of a file"
arbor versions projects/p/a.jsonl; code 0
check test "$(wc -l <"$T/out")" -eq 3
check grep -qE "^3$(printf '\t')8$(printf '\t').*Z" "$T/out"

it "refuses a format that it does not know"
arbor export projects/p/a.jsonl --format json; code 2; err_has "'json'"

it "finds a file by the beginning of its id"
arbor sources
id=$(awk -F '\t' '$NF == "projects/p/a.jsonl" { print $1 }' "$T/out")
for length in 36 20 8 4; do
	arbor export "$(echo "$id" | cut -c 1-$length)"; code 0; same "$T/v3" "$T/out"
done
arbor export "$(echo "$id" | cut -c 1-3)"; code 1
arbor export "$(echo "$id" | tr 0-9a-f 1-9a-f0)"; code 1

it "says when nothing is called that"
for called in nothing projects/p/ projects projects/p/a.json jsonl /etc/passwd ../a.jsonl projects/p/../p/b 'claude:' ':' \
	'' / // . .. "${esc}[31m" '%s%s%s%n' "'; DROP TABLE source; --"; do
	arbor export "$called"; check test "$rc" = 1 -o "$rc" = 2
	check test ! -s "$T/out"
	check test "$(grep -c "$esc" "$T/err")" -eq 0
done

it "lists the candidates when a name fits several files, and says how to choose"
mkdir -p "$T/other/projects/p" && cp "$T/v1" "$T/other/projects/p/a.jsonl"
arbor sync --source "$T/other" --label other; code 0
for c in export versions; do
	arbor $c projects/p/a.jsonl; code 2; check test ! -s "$T/out"
	err_has 'could be 2 files'
	err_has 'claude:projects/p/a.jsonl'
	err_has 'other:projects/p/a.jsonl'
	err_has "$id"
done
arbor export other:projects/p/a.jsonl; code 0; same "$T/v1" "$T/out"
arbor export claude:projects/p/a.jsonl; code 0; same "$T/v3" "$T/out"
arbor export "$T/other/projects/p/a.jsonl"; code 0; same "$T/v1" "$T/out"
arbor export "$id"; code 0; same "$T/v3" "$T/out"

it "lists not more candidates than fit"
i=0
while [ $i -lt 30 ]; do
	i=$((i + 1))
	mkdir -p "$S/projects/many-$i" && echo "$i" >"$S/projects/many-$i/11111111-2222-4333-8444-555555555555.jsonl"
done
arbor sync; code 0
arbor export 11111111-2222-4333-8444-555555555555; code 2; err_has 'could be'
check test "$(wc -c <"$T/err")" -lt 4000

it "finds a file by a path it had before, unless another has it now"
echo '{"moved":1}' >"$P/old.jsonl" && arbor sync
mv "$P/old.jsonl" "$P/new.jsonl" && arbor sync
arbor export projects/p/old.jsonl; code 0; same "$P/new.jsonl" "$T/out"
echo '{"a":"second"}' >"$P/old.jsonl" && arbor sync
arbor export projects/p/old.jsonl; code 0; same "$P/old.jsonl" "$T/out"
arbor export projects/p/new.jsonl; code 0; same "$P/new.jsonl" "$T/out"

it "writes every byte into a pipe or a file"
printf 'plain\n\033]0;owned\007\033[31mred\033[0m\r\0\177\302\205\342\200\256\377end\tno newline' >"$P/hostile.jsonl"
printf 'x' >"$P/${esc}[2Jname.jsonl"
arbor sync; code 0
arbor export projects/p/hostile.jsonl; code 0; same "$P/hostile.jsonl" "$T/out"
"$ARBOR" export projects/p/hostile.jsonl | cat >"$T/piped"; same "$P/hostile.jsonl" "$T/piped"

it "shows control characters on a terminal instead of sending them"
on_terminal export projects/p/hostile.jsonl; code 0
check test "$(grep -c "$esc" "$T/out")" -eq 0
check test "$(LC_ALL=C tr -cd '\000-\010\013-\037\177' <"$T/out" | wc -c)" -eq 0
out_has '␛]0;owned␇␛[31mred'
out_has '<U+0085><U+202E><FF>end'
out_has 'no newline'
on_terminal export projects/p/a.jsonl --generation 9
check test "$(grep -c "$esc" "$T/out")" -eq 0
on_terminal sources --no-pager --color never; code 0
check test "$(grep -c "$esc" "$T/out")" -eq 0
out_has '␛[2Jname.jsonl'
on_terminal sync --source "$S" -v --force; code 0
check test "$(tr -d '\r' <"$T/out" | sed "s/$esc\\[K//g" | grep -c "$esc")" -eq 0

it "shows control characters in names wherever they are printed"
arbor sources; code 0; check test "$(grep -c "$esc" "$T/out")" -eq 0; out_has '␛[2Jname.jsonl'
arbor dump --logical; code 0; check test "$(grep -c "$esc" "$T/out")" -eq 0; out_has '%1B[2Jname.jsonl'
arbor export "projects/p/${esc}[2Jname.jsonl"; code 0; same "$P/${esc}[2Jname.jsonl" "$T/out"
rm "$P/${esc}[2Jname.jsonl"
arbor sync -v; code 0; check test "$(grep -c "$esc" "$T/err")" -eq 0; err_has 'vanished   projects/p/␛[2Jname.jsonl'

it "gives the same answer while a sync changes the store"
cp -R demo/. "$T/other/"
"$ARBOR" sync -q --source "$T/other" --label other &
sync=$!
for g in 1 2 3 1 2 3; do arbor export "$id" --generation $g; code 0; same "$T/v$g" "$T/out"; done
wait $sync || fail 'the sync beside'

it "finds a file by the beginning of a session id, or by its bare name"
arbor sync --source demo --store "$T/names.db"; code 0
session=$(cd demo/projects/-home-dev-webshop && ls -d ./*.jsonl | head -n 1 | sed 's|^./||; s|[.]jsonl$||')
arbor export "$(printf %.8s "$session")" --store "$T/names.db"; code 0
same "demo/projects/-home-dev-webshop/$session.jsonl" "$T/out"
arbor export "$session.jsonl" --store "$T/names.db"; code 0
same "demo/projects/-home-dev-webshop/$session.jsonl" "$T/out"
arbor export 'no*.jsonl' --store "$T/names.db"; code 1

the_end
