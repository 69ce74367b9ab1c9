#!/bin/sh
# What the lines say of a conversation as a whole: tag, modes, branches, folders, pull requests. The last of what there
# can be one of, all of what there can be several of.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
mkdir -p "$T/.claude/projects/p"
one=00000000-0000-4000-8000-000000000001
file="$T/.claude/projects/p/$one.jsonl"
say() { # NUMBER PARENT FOLDER BRANCH TEXT
	printf '{"type":"user","uuid":"00000000-0000-4000-8000-0000000000%s","parentUuid":%s,"timestamp":"2026-01-01T00:00:%s.000Z",' \
		"$1" "$2" "$1"
	printf '"cwd":"/work/%s","gitBranch":"%s","message":{"role":"user","content":"%s"}}\n' "$3" "$4" "$5"
}
note() { printf '{"type":"%s",%s,"sessionId":"%s"}\n' "$1" "$2" $one; }
pull() { note pr-link "\"prNumber\":$1,\"prUrl\":\"https://x.example/o/r/pull/$1\",\"prRepository\":\"o/r\",\"timestamp\":\"2026-01-01T00:00:20.000Z\""; }
{
	note mode '"mode":"plan"'
	say 10 null shop main 'first prompt'
	note tag '"tag":"draft"'
	pull 7
	say 11 '"00000000-0000-4000-8000-000000000010"' shop/api feature 'second prompt'
} >"$file"

it "tells programs the last tag and mode, and every branch, folder and pull request"
arbor sync; code 0
arbor list --json; code 0
out_has '"branch":"feature"'
out_has '"tag":"draft","mode":"plan"'
out_has '"cwds":["/work/shop","/work/shop/api"],"git_branches":["main","feature"]'
out_has '"prs":[{"number":7,"url":"https://x.example/o/r/pull/7","repository":"o/r"}]'
out_has '"project":"/work/shop"'

it "goes on with what comes later, and says nothing twice"
{
	note tag '"tag":"done"'
	note permission-mode '"permissionMode":"acceptEdits"'
	note mode '"mode":"normal"'
	pull 7
	pull 8
	say 12 '"00000000-0000-4000-8000-000000000011"' shop main 'third prompt'
} >>"$file"
arbor sync; code 0
for verb in show log tree; do
	arbor $verb @ --json; code 0
	out_has '"tag":"done","mode":"normal","permission_mode":"acceptEdits"'
	out_has '"cwds":["/work/shop","/work/shop/api"],"git_branches":["main","feature"]'
	out_has '"prs":[{"number":7,"url":"https://x.example/o/r/pull/7","repository":"o/r"},{"number":8,'
done

it "gives people one line of it"
arbor show @; code 0
out_has '  on main, feature  tag done  PR #7, #8  permissions acceptEdits  also in api'

it "forgets a tag that was taken away"
note tag '"tag":""' >>"$file"
arbor sync; code 0
arbor list --json; code 0
out_lacks '"tag"'

it "knows the same when everything is read at once"
arbor dump --logical; code 0; mv "$T/out" "$T/bit-by-bit"
arbor rebuild; code 0
arbor dump --logical; code 0; same "$T/bit-by-bit" "$T/out"

it "forgets what a rewritten file says no more"
say 10 null other main 'first prompt' >"$file"
arbor sync; code 0
arbor list --json; code 0
out_has '"cwds":["/work/other"],"git_branches":["main"],"alive"'
out_lacks '"prs"'

# Old clients write the title of a conversation into whichever file is open.
two=00000000-0000-4000-8000-000000000002
three=00000000-0000-4000-8000-000000000003
put() { # SESSION LINES: into $root
	mkdir -p "$T/$root/projects/p"
	at="$T/$root/projects/p/$1.jsonl"
	shift
	printf '%s\n' "$@" >"$at"
}
mirror() { arbor sync --source "$T/$root" --store "$T/$root.db"; code 0; }
summary() { printf '{"type":"summary","summary":"%s","leafUuid":"00000000-0000-4000-8000-0000000000%s"}' "$1" "$2"; }
title() { # SESSION
	arbor show "$1" --json --store "$T/$root.db"
	sed -n '1s/.*"title":"\([^"]*\)".*/\1/p' "$T/out"
}
talk() { say 10 null shop main 'first prompt'; say 11 '"00000000-0000-4000-8000-000000000010"' shop main 'second prompt'; }

it "gives a conversation the summary that stands in another file, whichever is read first"
for root in before behind; do
	if [ $root = before ]; then first=$two second=$one; else first=$one second=$two; fi
	for which in $first $second; do
		if [ "$which" = $one ]; then
			put $one "$(talk)"
		else
			put $two "$(summary 'of the first' 10)" "$(summary 'of the second' 11)" "$(summary 'of nothing' 99)"
		fi
		mirror
	done
	check test "$(title $one)" = 'of the second'
	check test "$(title $two)" = ''
	arbor dump --logical --store "$T/$root.db"; code 0; grep -v '^source' "$T/out" >"$T/$root.dump"
done
same "$T/before.dump" "$T/behind.dump"

it "prefers a title, and the last summary of a file"
root=before
put $two "$(summary 'of the second' 11)" "$(summary 'once more' 11)"
mirror
check test "$(title $one)" = 'once more'
note ai-title '"aiTitle":"of the client"' >>"$T/$root/projects/p/$one.jsonl"
mirror
check test "$(title $one)" = 'of the client'

it "gives it to a copy that has the line, and forgets it with the file it stood in"
root=behind
put $three "$(talk)"
mirror
check test "$(title $three)" = 'of the second'
put $two "$(summary 'of the first' 10)"
mirror
check test "$(title $one)" = 'of the first'
check test "$(title $three)" = 'of the first'
put $two "$(say 30 null shop main 'something else')"
mirror
check test "$(title $one)" = 'first prompt'
arbor dump --logical --store "$T/$root.db"; code 0; mv "$T/out" "$T/as-it-came"
arbor rebuild --store "$T/$root.db"; code 0
arbor dump --logical --store "$T/$root.db"; code 0; same "$T/as-it-came" "$T/out"
the_end
