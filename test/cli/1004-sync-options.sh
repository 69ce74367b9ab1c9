#!/bin/sh
# Bringing in less, looking first, and what is told of it.
# shellcheck source=test/harness/lib.sh disable=SC2317 # functions are called by name
. test/harness/lib.sh
S=$T/.claude
export ARBOR_HOME="$T/store"
A=0aaaaaaa-0000-4000-8000-000000000000
B=0bbbbbbb-0000-4000-8000-000000000000
W=-home-me-work
mkdir -p "$S/projects/$W/$A/tool-results" "$S/projects/-home-me-secret" "$S/file-history/$A" "$S/tasks/$B"
line() { printf '{"type":"user","uuid":"%08d-0000-4000-8000-000000000000","message":{"role":"user","content":"%s"}}\n' "$1" "$2"; }
line 1 alphorn >"$S/projects/$W/$A.jsonl"
line 2 bassoon >"$S/projects/$W/$B.jsonl"
line 3 clarinet >"$S/projects/-home-me-secret/$B.jsonl"
seq 1 2000 >"$S/projects/$W/$A/tool-results/x.txt"
echo old >"$S/file-history/$A/f@v1"
echo '{}' >"$S/tasks/$B/1.json"
echo '{"display":"hi"}' >"$S/history.jsonl"
paths() { "$ARBOR" sources | awk -F '\t' '{ print $NF }' | sort; }
fresh() { rm -rf "$T/store"; }
kept() { paths | grep -qxF -- "$1" || fail "is not kept: $1"; }
left_out() { ! paths | grep -qF -- "$1" || fail "is kept: $1"; }

it "says what it would do, and writes nothing, not even a store"
arbor sync --dry-run; code 0
err_has "new        projects/$W/$A.jsonl"; err_has 'claude: 7 files, 7 new'; err_has 'nothing was written'
arbor sync -n --label 'a b'; code 2
check test ! -e "$T/store"
arbor sync -n -q; code 0; check test ! -s "$T/err"; check test ! -e "$T/store"
arbor sync --dry-run --json; code 0
out_has '"event":"added"'; out_has '"event":"summary"'; out_lacks store_bytes
arbor sync --dry-run --source "$T/none"; code 1

it "says it of a store that is there, and leaves that as it is"
arbor sync; code 0; err_has '7 new'
arbor dump --logical; cp "$T/out" "$T/dump"
line 4 dulcimer >>"$S/projects/$W/$A.jsonl"
mv "$S/projects/$W/$B.jsonl" "$S/projects/$W/0ccccccc-0000-4000-8000-000000000000.jsonl"
rm "$S/history.jsonl"
echo 'other' >"$S/file-history/$A/f@v1"
arbor sync --dry-run; code 0
err_has "grew       projects/$W/$A.jsonl"; err_has "renamed    projects/$W/0ccccccc"
err_has 'vanished   history.jsonl'; err_has 'rewritten  file-history'
arbor dump --logical; same "$T/dump" "$T/out"
arbor sync -v; code 0
err_has "grew       projects/$W/$A.jsonl"; err_has "renamed    projects/$W/0ccccccc"
err_has 'vanished   history.jsonl'; err_has 'rewritten  file-history'
arbor sync -n; code 0; err_lacks new; err_lacks grown
mv "$S/projects/$W/0ccccccc-0000-4000-8000-000000000000.jsonl" "$S/projects/$W/$B.jsonl"
echo '{"display":"hi"}' >"$S/history.jsonl"

it "foresees the label of another folder, and of one that has moved"
fresh
arbor sync -q; code 0
cp -R "$S" "$T/other"
arbor sync -n --source "$T/other"; code 0; err_has 'claude-2: 7 files, 7 new'
arbor sync -n --source "$T/other" --label claude; code 2; err_has 'which still exists'
rm -rf "$T/other"; mv "$S" "$T/other"
arbor sync -n --source "$T/other" --label claude --json; code 0; out_has '"root":"claude"'; out_lacks '"event":"added"'
mv "$T/other" "$S"

it "leaves out what is excluded, by path and by a project's folder"
fresh
arbor sync --exclude 'file-history' --exclude '*/tool-results/*' --exclude '/home/me/secret*'; code 0
err_has '3 files, 3 new'
kept "projects/$W/$A.jsonl"; kept history.jsonl
left_out file-history; left_out tool-results; left_out secret
arbor search clarinet; code 1
arbor sync --exclude ''; code 2

it "keeps what is archived already when it is excluded later"
fresh
arbor sync; code 0
line 5 euphonium >>"$S/projects/-home-me-secret/$B.jsonl"
arbor sync --exclude '/home/me/secret' --exclude 'file-history'; code 0; err_lacks vanished; err_lacks grown
arbor search clarinet; code 0
arbor search euphonium; code 1
rm -r "$S/file-history"
arbor sync --exclude file-history; code 0; err_lacks vanished; err_has '1 grown'
arbor sync; code 0; err_has '1 vanished'

it "takes patterns from the settings of the user, and of nobody else"
fresh
mkdir -p "$T/.config/arbor" "$T/project/.arbor"
echo '{ "sync.exclude": "tasks:~/nothing:*/tool-results/*" }' >"$T/.config/arbor/settings.json"
arbor sync --exclude 'history.jsonl'; code 0
left_out tasks; left_out tool-results; left_out history.jsonl; kept "projects/$W/$A.jsonl"
echo '{ "sync.exclude": "/home/me/secret" }' >"$T/project/.arbor/settings.json"
rm "$T/.config/arbor/settings.json"
fresh
(cd "$T/project" && "$ARBOR" sync) >"$T/out" 2>"$T/err"; rc=$?; code 0
err_has 'a project may not choose what is kept'
kept "projects/-home-me-secret/$B.jsonl"

it "leaves out files that are too large, and says so"
fresh
arbor sync --max-size 5000; code 0; err_has 'tool-results/x.txt: 8893 bytes are more than wanted'; err_has '1 skipped'
left_out tool-results
ARBOR_SYNC_MAX_SIZE=5000 arbor sync; code 0; err_has '1 skipped'
arbor sync --max-size 5000 --json; code 0; out_has '"skipped":1,'
for size in 8K 8KiB 8kB 8k; do arbor sync --max-size $size; code 0; err_has '1 skipped'; done
ARBOR_SYNC_MAX_SIZE=8K arbor sync; code 0; err_has '1 skipped'
for file in '{"sync.max_size":"8K"}' '{"sync.max_size":8000}'; do
	echo "$file" >"$T/.config/arbor/settings.json"; arbor sync -n; code 0; err_has '1 skipped'
done
rm "$T/.config/arbor/settings.json"
arbor call memory.sync '{"max_size":"8K","dry_run":true}'; code 0; out_has '"event":"skipped"'
for size in 9K 1M 1G 9kB; do arbor sync -n --max-size $size; code 0; err_lacks 'more than wanted'; done
for size in 10X K 1.5M 1MiX 2T 99999999999999999999 10000000000G; do arbor sync --max-size $size; code 2; done
arbor sync --max-size 10X; err_has "--max-size: '10X' is not a number of bytes such as 500000, 500K, 10M or 1G"
arbor sync; code 0; err_has '1 new'
arbor sync --max-size 5000; code 0; err_lacks vanished
arbor sync --max-size -1; code 2

it "brings in one project only, or one session only"
fresh
arbor sync --project /home/me/work; code 0; err_has '3 files, 3 new'
left_out secret; left_out tasks
arbor sync --session 0bbbbbbb; code 0
kept "tasks/$B/1.json"; kept "projects/-home-me-secret/$B.jsonl"; left_out history.jsonl
arbor sync --project /home/me/nowhere; code 1; err_has 'nothing below the folder belongs to it'
arbor sync --project nowhere; code 1
arbor sync --session 0b; code 2
arbor sync; code 0; err_has '1 new'; err_lacks vanished

it "takes one folder at a time, and says so"
arbor sync --source "$S" --source "$T/other"; code 2; err_has '--source: given twice, and only one can be taken'
arbor sync --label a --label b; code 2
arbor sync --session 0aaaaaaa --session 0bbbbbbb; code 2
arbor sync -n --max-size 1 --max-size 1M; code 0 # of numbers the last counts

it "follows only what is taken"
"$ARBOR" sync --watch --json --exclude '/home/me/secret' >"$T/w.out" 2>&1 &
pid=$!
until grep -qF summary "$T/w.out"; do sleep 0.05; done
line 6 flugelhorn >>"$S/projects/-home-me-secret/$B.jsonl"
line 7 glockenspiel >>"$S/projects/$W/$A.jsonl"
n=0
until "$ARBOR" search glockenspiel >/dev/null 2>&1 || [ $((n += 1)) -gt 1200 ]; do sleep 0.05; done
kill "$pid"; wait "$pid"
arbor search glockenspiel; code 0
arbor search flugelhorn; code 1

it "names what failed, by kind, and goes on with the others"
mkdir "$T/half" && ln -s "$S/projects" "$T/half/projects" && cp "$S/history.jsonl" "$T/half/"
arbor sync --json --source "$T/half" --store "$T/half.db"; code 3
out_has '{"v":1,"event":"failed","path":"projects","kind":"PERMISSION_DENIED","message":'
out_has '"errors":[{"kind":"PERMISSION_DENIED","path":"projects","message":'
out_has '"event":"added","path":"history.jsonl"'
err_has '1 file or folder could not be read; everything else was'

it "counts lines, and has no errors where there are none"
fresh
arbor sync --json; code 0; out_has '"new_lines":2009'; out_has '"errors":[]'
line 8 harmonium >>"$S/projects/$W/$A.jsonl"
arbor sync --json; code 0; out_has '"new_lines":1,'

it "writes what happens to a file, too"
line 9 icarina >>"$S/projects/$W/$A.jsonl"
arbor sync -q --log "$T/log"; code 0; check test ! -s "$T/err"
check grep -qE "^[0-9-]+T[0-9:.]+Z result \{\"event\":\"grew\",\"path\":\"projects/$W/$A.jsonl\"" "$T/log"
check grep -q '"event":"summary"' "$T/log"
check test "$(stat -c %a "$T/log")" = 600
arbor sync --source "$T/none" --log "$T/log"; code 1
check grep -q 'Z not_found .*no such folder' "$T/log"
arbor search icarina --log "$T/log"; code 0
check test "$(grep -c icarina "$T/log")" -eq 0
arbor sync --log "$T/no/folder/log"; check test "$rc" -ne 0; err_has '--log'
the_end
