#!/usr/bin/env bash
# What has to do with what.
. test/harness/lib.sh
export ARBOR_HOME=$T/store TZ=UTC
arbor sync --source demo

it "tells of a session what it changed, is about, and whose lines it shares"
arbor related 2396d03e; code 0
out_has '0.750	touches_file	file			/home/dev/webshop/src/money.ts'
out_has 'related_to	topic			cart'
arbor related 24bf71fb; out_has '0.900	shares_lines	session	2026-11-08T11:18:28.297Z	b899e3df'
arbor related 79f2f12c; out_has '0.500	spawned	agent			a3ec752e2389a1f20'

it "tells which other sessions have to do with it, without being asked to look further"
arbor related 2396d03e; out_has '4e4f12db-6fa6-4fb1-9e6e-e6382d34866a	Break the move to integer cents into tasks  [cent, integer]'
arbor related 4e4f12db -t session; out_has 2396d03e; out_has a142ef82; check test "$(wc -l <"$T/out")" -eq 2

it "says how to look further where nothing is that near"
arbor related a2a32e82 -t session; code 1; err_has '--hops'

it "keeps the name of a file where there is no room for its folders"
screen=45x40 on_terminal related 2396d03e --color never; code 0; check grep -q 'money.ts' "$T/out"; out_lacks '/home/dev'

it "finds sessions by a file, by the end of its path, by a topic in the plural"
for name in /home/dev/webshop/src/money.ts money.ts src/money.ts ./money.ts; do
	arbor related "$name" --type session; code 0; out_has 2396d03e; check test "$(wc -l <"$T/out")" -eq 1
done
arbor related Cents; out_has 2396d03e; out_has 4e4f12db; check test "$(wc -l <"$T/out")" -eq 4
arbor related oney.ts; code 1; err_has 'neither an id nor something'

it "begins with what was done or referred to, then tells what was said, then what is only alike"
arbor related 2396d03e; code 0
check test "$(cut -f 2 "$T/out" | uniq | tr '\n' ' ')" = 'touches_file related_to '
check test "$(grep related_to "$T/out" | cut -f 1 | sort -rc 2>&1)" = ''

it "goes further when asked to, and says by what"
arbor related 2396d03e --json; check test "$(grep -c '"hops":2' "$T/out")" -eq 0
arbor related 2396d03e --hops 2 --type session --json; code 0
out_has '"hops":2'; out_has '"via":"c'
arbor related 2396d03e --hops 4; code 2

it "tells of a message what it names"
message=$("$ARBOR" sql "SELECT id FROM messages WHERE session_id LIKE '2396d03e%' AND role = 'user' LIMIT 1")
arbor related "$message"; code 0; out_has '1.000	part_of	session'; out_has 'topic			cent'

it "gives some of each kind, all of it, or one kind"
arbor related 2396d03e -n 3; check test "$(cut -f 3 "$T/out" | sort | tr '\n' ' ')" = 'file session topic '; err_has more
arbor related 2396d03e --type file,agent; check test "$(wc -l <"$T/out")" -eq 1
arbor related 2396d03e --type nothing; code 2

it "knows issues, commits, addresses, identifiers and other sessions, wherever they stand"
mkdir -p "$T/c/projects/-w" && a=11111111-2222-4333-8444-555555555501 b=11111111-2222-4333-8444-555555555502
line() { # TYPE UUID CONTENT [REST]
	printf '{"type":"%s","uuid":"%s","parentUuid":null,"cwd":"/w","timestamp":"2026-11-01T00:00:0%s.000Z","message":{"role":"%s","content":%s}%s}\n' \
		"$1" "$2" "$((n = n + 1))" "$1" "$3" "$4"
}
n=0
{
	# shellcheck disable=SC2016 # backquotes are text
	line user a1 '"look at https://github.com/o/n/issues/12 and `parse_line()`"'
	line assistant a2 '[{"type":"text","text":"Committed as 1a2b3c4. See https://docs.rs/serde."}]'
	line user a3 '[{"type":"tool_result","tool_use_id":"t","content":"[main 5d6e7f8] Subject"}]'
	line user a4 '[{"type":"tool_result","tool_use_id":"u","content":"ok"}]' ',"toolUseResult":{"filePath":"/w/x.c","oldString":"a","newString":"b"}'
	line user a5 '[{"type":"tool_result","tool_use_id":"v","is_error":true,"content":"no"}]' ',"toolUseResult":{"filePath":"/w/failed.c","oldString":"a","newString":"b"}'
	# shellcheck disable=SC2016
	line user a6 '[{"type":"tool_result","tool_use_id":"w","content":"https://nowhere.io/x `not_me` o/n#99"}]'
} >"$T/c/projects/-w/$a.jsonl"
{
	line user b1 "\"go on with $a, o/n#12, not with 11111111-2222-4333-8444-555555555599\""
} >"$T/c/projects/-w/$b.jsonl"
arbor sync --source "$T/c" --label odd; code 0
arbor related "$a"; code 0
for name in 'referenced_by	session' 'touches_file	file			/w/x.c' 'references	issue			o/n#12' 'commit			1a2b3c4' \
	'commit			5d6e7f8' 'mentions	url			https://docs.rs/serde' 'identifier			parse_line'; do out_has "$name"; done
check test "$(cut -f 2 "$T/out" | sed 's/touches_file\|refer.*/done/' | uniq | tr '\n' ' ')" = 'done mentions '
for name in failed.c nowhere not_me o/n#99; do check test "$(grep -c "$name" "$T/out")" -eq 0; done
arbor related "$b"; out_has "references	session	2026-11-01T00:00:06.000Z	$a"; check test "$(grep -c 55599 "$T/out")" -eq 0
for name in o/n#12 https://github.com/o/n/pull/12; do
	arbor related "$name"; check test "$(wc -l <"$T/out")" -eq 2
done
for name in 1a2b3c4d5 5d6e7f8 'parse_line()' https://docs.rs/serde; do arbor related "$name"; code 0; out_has "$a"; done

it "tells of a fork where it is from, and of that what was forked from it"
F=$T/forked/projects/-w; mkdir -p "$F"
names=(5e7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e09 4e7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e08 3e7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e07)
copied() { sed '/forkedFrom/!s/"uuid":"\([^"]*\)"/&,"forkedFrom":{"messageUuid":"\1"}/' "$1"; }
n=0
line user 22222222-2222-4333-8444-555555555501 '"first"' >"$F/${names[0]}.jsonl"
{ copied "$F/${names[0]}.jsonl"; line user 22222222-2222-4333-8444-555555555502 '"second"'; } >"$F/${names[1]}.jsonl"
{ copied "$F/${names[1]}.jsonl"; line user 22222222-2222-4333-8444-555555555503 '"third"'; } >"$F/${names[2]}.jsonl"
line user 22222222-2222-4333-8444-555555555504 '"fourth"' >>"$F/${names[0]}.jsonl"
cp "$F/${names[0]}.jsonl" "$F/6e7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e10.jsonl" # says nothing
arbor sync --source "$T/forked" --store "$T/forked.db"
how() { arbor related "$1" --store "$T/forked.db" -t session; code 0; check test "$(cut -f 2,5 "$T/out" | cut -c 1-22 | sort | tr '\t\n' ': ')" = "$2"; }
how "${names[0]}" 'forked_into:4e7f3c1e-8 shares_lines:3e7f3c1e- shares_lines:6e7f3c1e- '
how "${names[1]}" 'forked_from:5e7f3c1e-8 forked_into:3e7f3c1e-8 shares_lines:6e7f3c1e- '
how "${names[2]}" 'forked_from:4e7f3c1e-8 shares_lines:5e7f3c1e- shares_lines:6e7f3c1e- '

it "tells of all that share lines with a session, and not of what only one of those shares lines with"
fork=22222222-2222-4333-8444-5555555555 && mkdir -p "$T/forks/projects/-w" && n=0
one=$(line user 33333333-2222-4333-8444-555555555501 '"what all of them begin with"')
two=$(line user 33333333-2222-4333-8444-555555555502 '"what the first and the last have"')
for f in 01 02 03 04; do
	{
		test $f = 04 || echo "$one"
		test $f = 02 || test $f = 03 || echo "$two"
		line user 44444444-2222-4333-8444-5555555555$f "\"only in $f\""
	} >"$T/forks/projects/-w/$fork$f.jsonl"
done
arbor --store "$T/shared" sync --source "$T/forks"; code 0
sharing() { arbor --store "$T/shared" related "$fork$1"; grep shares_lines "$T/out" | cut -f 5 | sed "s/^$fork//" | sort | tr '\n' ' ' >"$T/who"; check test "$(cat "$T/who")" = "$2"; }
arbor --store "$T/shared" show 'what all of them begin with'; code 2; err_has 'could be'; err_has "$fork"01; err_has "$fork"03
arbor --store "$T/shared" show 'What the first and the last have'; code 0; out_has "$fork"04
sharing 01 '02 03 04 '; sharing 02 '01 03 '; sharing 03 '01 02 '; sharing 04 '01 '
arbor --store "$T/shared" sql "SELECT count(*), count(DISTINCT source_id || target_id) FROM links WHERE relationship = 'shares_lines'"; out_is '8	8'

it "finds who typed or answered a name, with or without backquotes, the more often the higher"
said=11111111-2222-4333-8444-5555555556 && mkdir -p "$T/said/projects/-w" && n=0
{
	line user s1 '"why is PendingCheckpointID empty?"'
	line assistant s2 '[{"type":"text","text":"PendingCheckpointID is cleared too early."}]'
	line assistant s3 '[{"type":"text","text":"So PendingCheckpointID() has to stay."}]'
} >"$T/said/projects/-w/${said}01.jsonl"
line assistant s4 '[{"type":"text","text":"See pendingCheckpointID."}]' >"$T/said/projects/-w/${said}02.jsonl"
line user s5 '[{"type":"tool_result","tool_use_id":"x","content":"PendingCheckpointID"}]' >"$T/said/projects/-w/${said}03.jsonl"
line user s6 '"the pending checkpoint id is OnlyPrinted"' >"$T/said/projects/-w/${said}04.jsonl"
{
	line user s7 '[{"type":"tool_result","tool_use_id":"y","content":"ok"}]' ',"toolUseResult":{"filePath":"/w/hooks.go","oldString":"a","newString":"b"}'
} >"$T/said/projects/-w/${said}05.jsonl"
{
	line user s8 '"hooks.go is long, hooks.go is old, and hooks.go is short"'
	line user s9 '"what about hooks.go?"'
} >"$T/said/projects/-w/${said}06.jsonl"
line user s10 '"one more hook for hooks"' >"$T/said/projects/-w/${said}07.jsonl"
arbor --store "$T/words" sync --source "$T/said"; code 0
for name in PendingCheckpointID 'PendingCheckpointID()' pendingcheckpointid; do
	arbor --store "$T/words" related "$name"; code 0
	check test "$(cut -f 1,2,5 "$T/out" | tr '\t\n' '  ')" = "0.750 mentions ${said}01 0.500 mentions ${said}02 "
done
arbor --store "$T/words" related NobodySaysSo; code 1; err_has 'neither an id nor something'; err_has search

it "tells how sessions have to do with a file, and those that changed it first"
arbor --store "$T/words" related hooks.go
check test "$(cut -f 1,2,5 "$T/out" | tr '\t\n' '  ')" = "0.500 touches_file ${said}05 0.667 mentions ${said}06 "
arbor --store "$T/words" related hooks.go --json; out_has '"via":"/w/hooks.go"'
arbor --store "$T/words" related hook --json; out_has '"relationship":"mentions"'; out_has "${said}07"

it "finds sessions on the same branch of git, unless everybody has one of that name"
on=11111111-2222-4333-8444-5555555557 && mkdir -p "$T/on/projects/-w" && n=0
for of in '01 fix/rounding' '02 fix/rounding' '03 main' '04 main' '05 fix/other'; do
	line user "branch${of%% *}" '"go on"' ",\"gitBranch\":\"${of#* }\"" >"$T/on/projects/-w/$on${of%% *}.jsonl"
done
arbor --store "$T/branches" sync --source "$T/on"; code 0
arbor --store "$T/branches" related "${on}01" -t session; code 0
out_has "related_to	session"; out_has "${on}02"; out_has '[fix/rounding]'; check test "$(wc -l <"$T/out")" -eq 1
arbor --store "$T/branches" related "${on}03" -t session; code 1
arbor --store "$T/branches" related "${on}05" -t session; code 1

it "finds who names an issue by its number alone, in a project of that repository"
by=11111111-2222-4333-8444-5555555558 && mkdir -p "$T/by/projects/-w" "$T/by/projects/-v" && n=0
line user n1 '"look at https://github.com/o/n/pull/11"' >"$T/by/projects/-w/${by}01.jsonl"
line user n2 '"compare it to PR #12"' >"$T/by/projects/-w/${by}02.jsonl"
line user n3 '"what is in line 12 of the review?"' >"$T/by/projects/-w/${by}03.jsonl"
line user n4 '"compare it to PR #12"' | sed 's|"cwd":"/w"|"cwd":"/v"|' >"$T/by/projects/-v/${by}04.jsonl"
arbor --store "$T/numbers" sync --source "$T/by"; code 0
for name in o/n#12 https://github.com/o/n/pull/12; do
	arbor --store "$T/numbers" related "$name"; code 0
	check test "$(cut -f 2,5 "$T/out" | tr '\t' ' ')" = "mentions ${by}02"
done
arbor --store "$T/numbers" related o/n#13; code 1
arbor --store "$T/numbers" related x/y#12; code 1

it "finds who names a ticket in any letters, whichever it is asked by"
in=11111111-2222-4333-8444-5555555559 && mkdir -p "$T/in/projects/-w" && n=0
line user t1 '"work on WEB-12 please"' >"$T/in/projects/-w/${in}01.jsonl"
line user t2 '"look at the branch fix/web-12-rounding"' >"$T/in/projects/-w/${in}02.jsonl"
line user t3 '"the web has 12 pages"' >"$T/in/projects/-w/${in}03.jsonl"
arbor --store "$T/tickets" sync --source "$T/in"; code 0
for name in WEB-12 web-12 Web-12; do
	arbor --store "$T/tickets" related "$name"; code 0
	check test "$(cut -f 2,5 "$T/out" | tr '\t\n' '  ')" = "references ${in}01 mentions ${in}02 "
done

it "finds the same by a word in the singular and in the plural"
of=11111111-2222-4333-8444-5555555560 && mkdir -p "$T/of/projects/-w" && n=0
line user p1 '"which strategies do we have?"' >"$T/of/projects/-w/${of}01.jsonl"
line assistant p2 '[{"type":"text","text":"The strategy is on this branch."}]' >"$T/of/projects/-w/${of}02.jsonl"
line assistant p3 '[{"type":"text","text":"There are two branches."}]' >"$T/of/projects/-w/${of}03.jsonl"
arbor --store "$T/plurals" sync --source "$T/of"; code 0
for name in strategy strategies Strategies; do
	arbor --store "$T/plurals" related "$name"; code 0; out_has "${of}01"; out_has "${of}02"; check test "$(wc -l <"$T/out")" -eq 2
done
for name in branch branches; do
	arbor --store "$T/plurals" related "$name"; code 0; out_has "${of}02"; out_has "${of}03"; check test "$(wc -l <"$T/out")" -eq 2
done
arbor --store "$T/plurals" sql "SELECT name FROM topics ORDER BY name"; out_is strategy

it "is the same in SQL, in pieces, and made anew"
arbor sql "SELECT relationship, target_type, target_id FROM links WHERE source_id = '$a' ORDER BY 3"; out_has 'touches_file	file	/w/x.c'
arbor sql "SELECT sessions FROM topics WHERE name = 'cent'"; out_is 3
"$ARBOR" dump --logical >"$T/once"; check grep -q '^names commit=5d6e7f8 offset=' "$T/once"
arbor rebuild; code 0; "$ARBOR" dump --logical >"$T/anew"; same "$T/once" "$T/anew"
cp -r demo "$T/d" && ARBOR_HOME=$T/other && export ARBOR_HOME
for size in 1000 9000 40000 999999; do
	(cd demo && find projects -name '*.jsonl') | while read -r f; do head -c $size "demo/$f" >"$T/d/$f"; done
	arbor sync --source "$T/d" --label claude; code 0
done
arbor sync --source "$T/c" --label odd; "$ARBOR" dump --logical | sort >"$T/pieces"; sort "$T/once" >"$T/once.s"
same "$T/once.s" "$T/pieces"
the_end
