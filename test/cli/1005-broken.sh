#!/bin/sh
# Lines that are no JSON: told with file and line, kept, and nothing else stops.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
file=projects/p/00000000-0000-4000-8000-000000000001.jsonl
mkdir -p "$T/claude/projects/p"
cat >"$T/claude/$file" <<'END'
{"type":"user","uuid":"a","message":{"content":"before"}}
this is no JSON
{"type":"assistant","uuid":"b","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}
{"torn
{"type":"user","uuid":"c","message":{"content":"behind"}}
END

it "says which line of which file it is, and goes on"
arbor sync --source "$T/claude"; code 0
err_has "$file: line 2 is not JSON of a record, nor is 1 more; they are kept as they are"
err_has '1 new, 1 with broken lines'
arbor search behind; code 0

it "keeps every byte"
arbor export $file; code 0
same "$T/claude/$file" "$T/out"

it "tells programs the kind, and counts"
arbor sync --source "$T/claude" --store "$T/other.db" --json; code 0
out_has '"event":"broken","path":"'$file'","kind":"PARSE_ERROR","message":"'$file': line 2 '
out_has '"messages":3,"tools":1,"broken_lines":2'

it "tells a line that comes later by its number, too"
arbor sync --source "$T/claude"; code 0
printf '{"type":"user","uuid":"d","message":{"content":"more"}}\nbroken again\n' >>"$T/claude/$file"
arbor sync --source "$T/claude"; code 0
err_has "$file: line 7 is not JSON of a record; it is kept as it is"
for n in 1 2 3; do echo "broken $n" >>"$T/claude/$file"; done
arbor sync --source "$T/claude"; code 0
err_has "$file: line 8 is not JSON of a record, nor are 2 more; they are kept as they are"

it "tells of a line that is too long to be read"
mkdir -p "$T/long/projects/p"
{
	echo '{"type":"user","uuid":"a","message":{"content":"before"}}'
	printf '{"type":"user","uuid":"b","parentUuid":"a","message":{"content":"'
	head -c 70000000 /dev/zero | tr '\0' x
	printf '"}}\n'
} >"$T/long/$file"
arbor sync --source "$T/long" --store "$T/long.db"; code 0
err_has "$file: line 2 is too long to be read; it is kept as it is"
arbor export "$file" --store "$T/long.db"; code 0
check cmp "$T/long/$file" "$T/out"
rm -rf "$T/long" "$T"/long.*

it "takes a byte order mark before the first line for none of its bytes, as the client does"
mkdir -p "$T/marked/projects/p"
printf '\357\273\277%s' '{"type":"user","uuid":"a","message":{"content":"marked prompt"}}' >"$T/marked/$file"
arbor sync --source "$T/marked" --store "$T/marked.db"; code 0
err_lacks 'not JSON'
arbor show @ --store "$T/marked.db"; code 0
out_has 'marked prompt'
printf '\n\357\273\277%s\n' '{"type":"user","uuid":"b","message":{"content":"in the middle"}}' >>"$T/marked/$file"
arbor sync --source "$T/marked" --store "$T/marked.db"; code 0
err_has "$file: line 2 is not JSON"
arbor show @ --store "$T/marked.db"; code 0
out_has 'marked prompt'
arbor export $file --store "$T/marked.db"; code 0
same "$T/marked/$file" "$T/out"
the_end
