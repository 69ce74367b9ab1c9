#!/bin/sh
# One folder through its life: files come, grow, change, move, go and return.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
S=$T/.claude
P=$S/projects/p
export ARBOR_HOME="$T/store"
exports() { # PATH FILE: what is kept as PATH is what FILE holds
	arbor export "$1"; code 0; same "$2" "$T/out"
}
generations() { # PATH N
	arbor versions "$1"; code 0
	check test "$(wc -l <"$T/out")" -eq "$2"
}
id_of() { "$ARBOR" sources | awk -F '\t' -v name="$1" '$NF == name { print $1 }'; }
state_of() { "$ARBOR" sources | awk -F '\t' -v name="$1" '$NF == name { print $(NF - 1) }'; }
never() { ! "$@" || fail "true, but should not be: $*"; }
# Nothing that acts on a terminal, and nothing that is not UTF-8.
harmless() { # FILE
	check test "$(LC_ALL=C tr -cd '\000-\010\013-\037\177' <"$1" | wc -c)" -eq 0
	check iconv -f UTF-8 -t UTF-8 -o /dev/null "$1"
}
nl='
'
tab=$(printf '\t')

it "says which folder is missing"
arbor sync; code 1; err_has "'$S': no such folder"
arbor sync --source nowhere; code 1; err_has nowhere
arbor sync --source ''; code 2; err_has '--source: may not be empty'
: >"$T/file"
arbor sync --source "$T/file"; check test "$rc" -ne 0; err_has "$T/file"

it "makes no store for a folder without anything of Claude Code in it"
mkdir -p "$T/else/src"
arbor sync --source "$T/else"; code 1
check test ! -e "$T/store"

it "mirrors ~/.claude by default"
cp -R demo "$S"
arbor sync; code 0; check test ! -s "$T/out"
err_has 'claude: 29 files, 29 new; 15 new sessions; '
exports history.jsonl demo/history.jsonl

it "mirrors CLAUDE_CONFIG_DIR when that is set, else what --source says"
mkdir -p "$T/conf/projects/p" && echo '{}' >"$T/conf/projects/p/c.jsonl"
CLAUDE_CONFIG_DIR=$T/conf arbor sync --store "$T/conf.db"; code 0; err_has '1 file, 1 new'
CLAUDE_CONFIG_DIR=$T/conf arbor sync --store "$T/conf.db" --source demo; code 0; err_has '29 new'
CLAUDE_CONFIG_DIR='' arbor sync; code 0; err_has '29 unchanged'

it "does nothing the second time"
arbor dump --logical; cp "$T/out" "$T/dump"
arbor sync; code 0; err_has '29 files, 29 unchanged'; err_lacks new; err_lacks rewritten
arbor dump --logical; same "$T/dump" "$T/out"
arbor sync --force; code 0; err_has '29 unchanged'
arbor dump --logical; same "$T/dump" "$T/out"

it "names each file with -v, and nothing with -q"
mkdir -p "$P"
echo '{"n":1}' >"$P/s.jsonl"
arbor sync -v; code 0; err_has 'new        projects/p/s.jsonl'
arbor sync -v; code 0; err_lacks s.jsonl
echo '{"n":2}' >>"$P/s.jsonl"
arbor sync -q; code 0; check test ! -s "$T/err"; check test ! -s "$T/out"

it "counts conversations, too"
for n in 1 2; do echo '{}' >>"$P/0000000$n-0000-4000-8000-000000000000.jsonl"; done
arbor sync; err_has '; 2 new sessions;'
for n in 1 3; do echo '{}' >>"$P/0000000$n-0000-4000-8000-000000000000.jsonl"; done
arbor sync; err_has '; 1 new session, 1 updated;'
for n in 1 3; do echo '{}' >>"$P/0000000$n-0000-4000-8000-000000000000.jsonl"; done
arbor sync --json; out_has '"new_sessions":0,"updated_sessions":2'
for n in 1 3; do echo '{}' >>"$P/0000000$n-0000-4000-8000-000000000000.jsonl"; done
arbor sync; err_has '; 2 updated sessions;'
rm "$P"/0000*; arbor sync

it "takes what was appended, also an unfinished line, as the same generation"
printf '{"n":3' >>"$P/s.jsonl"
arbor sync -v; code 0; err_has 'grew       projects/p/s.jsonl'; err_has '1 grown'
exports projects/p/s.jsonl "$P/s.jsonl"
printf '}\n' >>"$P/s.jsonl"
arbor sync; code 0; err_has '1 grown'
exports projects/p/s.jsonl "$P/s.jsonl"
generations projects/p/s.jsonl 1

it "keeps the old version of a file that was rewritten"
cp "$P/s.jsonl" "$T/v1"
printf '{"n":1}\n{"n":"other"}\n{"n":3}\n{"n":4}\n' >"$P/s.jsonl"
arbor sync -v; code 0; err_has 'rewritten  projects/p/s.jsonl'; err_has '1 rewritten'
exports projects/p/s.jsonl "$P/s.jsonl"
arbor export projects/p/s.jsonl --generation 1; code 0; same "$T/v1" "$T/out"
generations projects/p/s.jsonl 2

it "sees a change that leaves size and time as they were"
cp -p "$P/s.jsonl" "$T/v2"
sed 's/other/OTHER/' "$T/v2" | dd of="$P/s.jsonl" conv=notrunc 2>/dev/null
touch -r "$T/v2" "$P/s.jsonl"
arbor sync; code 0; err_has '1 rewritten'
exports projects/p/s.jsonl "$P/s.jsonl"
arbor export projects/p/s.jsonl --generation 2; code 0; same "$T/v2" "$T/out"

it "keeps the long version of a file that was cut"
cp "$P/s.jsonl" "$T/v3"
truncate -s 8 "$P/s.jsonl"
arbor sync; code 0; err_has '1 rewritten'
exports projects/p/s.jsonl "$P/s.jsonl"
arbor export projects/p/s.jsonl --generation 3; code 0; same "$T/v3" "$T/out"

it "goes on after a cut"
echo '{"after":"the cut"}' >>"$P/s.jsonl"
arbor sync; code 0; err_has '1 grown'
exports projects/p/s.jsonl "$P/s.jsonl"
generations projects/p/s.jsonl 4

it "follows a file to its new name and knows the old one"
id=$(id_of projects/p/s.jsonl)
mkdir "$S/projects/q" && mv "$P/s.jsonl" "$S/projects/q/t.jsonl"
arbor sync -v; code 0; err_has 'renamed    projects/q/t.jsonl'; err_lacks vanished; err_lacks '1 new'
exports projects/q/t.jsonl "$S/projects/q/t.jsonl"
exports projects/p/s.jsonl "$S/projects/q/t.jsonl"
exports "$id" "$S/projects/q/t.jsonl"
generations projects/q/t.jsonl 4

it "keeps a file that vanished, and says so once"
cp "$S/projects/q/t.jsonl" "$T/gone" && rm "$S/projects/q/t.jsonl"
arbor sync -v; code 0; err_has 'vanished   projects/q/t.jsonl'
arbor sync -v; code 0; err_lacks vanished
exports projects/q/t.jsonl "$T/gone"
check test "$(state_of projects/q/t.jsonl)" = gone

it "recognises a file that returns"
cp "$T/gone" "$S/projects/q/t.jsonl"
arbor sync; code 0; err_lacks rewritten; err_lacks vanished
generations projects/q/t.jsonl 4
rm "$S/projects/q/t.jsonl" && arbor sync
echo '{"another":1}' >"$S/projects/q/t.jsonl"
arbor sync; code 0; err_has '1 rewritten'
generations projects/q/t.jsonl 5
check test "$(state_of projects/q/t.jsonl)" = here

it "keeps what lay in a folder that vanished"
mkdir "$S/projects/r" && cp demo/history.jsonl "$S/projects/r/h.jsonl"
arbor sync; code 0
rm -r "$S/projects/r"
arbor sync; code 0; err_has '1 vanished'
exports projects/r/h.jsonl demo/history.jsonl

it "keeps bytes as they are: none, CRLF, BOM, NUL, no final newline, no JSON"
mkdir "$S/projects/bytes"
B=$S/projects/bytes
: >"$B/empty.jsonl"
printf '{"a":1}\r\n{"b":2}\r\n' >"$B/crlf.jsonl"
printf '\357\273\277{"bom":1}\n' >"$B/bom.jsonl"
printf '{"a":1}\n{"b":' >"$B/torn.jsonl"
printf '\0\0\n\0{"a":1}' >"$B/nul.jsonl"
printf '\n\n\n' >"$B/blank.jsonl"
printf '\377\376\300\200\355\240\200\n' >"$B/not-utf8.jsonl"
printf '{"t":"\342\200\250 \342\200\251"}\n' >"$B/separators.jsonl"
head -c 3000000 /dev/urandom >"$B/random.jsonl"
head -c 3000000 /dev/zero | tr '\0' x >"$B/one-long-line.jsonl"
awk 'BEGIN { for (i = 0; i < 100000; i++) print "{}" }' >"$B/many-lines.jsonl"
arbor sync; code 0; err_lacks failed
for f in "$B"/*; do exports "projects/bytes/${f##*/}" "$f"; done
arbor check; code 0

it "takes an empty file that gets its first bytes"
echo '{}' >>"$B/empty.jsonl"
arbor sync; code 0
exports projects/bytes/empty.jsonl "$B/empty.jsonl"

it "sees an edit in the middle of a large file with --force, appended to or not"
cp "$B/random.jsonl" "$T/before"
printf 'EDIT' | dd of="$B/random.jsonl" bs=1 seek=1500000 conv=notrunc 2>/dev/null
echo tail >>"$B/random.jsonl"
arbor sync --force; code 0; err_has '1 rewritten'
exports projects/bytes/random.jsonl "$B/random.jsonl"
arbor export projects/bytes/random.jsonl --generation 1; code 0; same "$T/before" "$T/out"

it "follows a file while somebody writes it"
: >"$P/live.jsonl"
(i=0; while [ $i -lt 300 ]; do i=$((i + 1)); printf '{"line":%d,"text":"' $i; printf 'half of it, the rest follows"}\n'
	[ $((i % 30)) != 0 ] || sleep 0.02; done >>"$P/live.jsonl") &
writer=$!
rounds=0
while kill -0 $writer 2>/dev/null; do
	arbor sync -q; code 0
	rounds=$((rounds + 1))
	arbor export projects/p/live.jsonl; code 0
	check cmp -s -n "$(wc -c <"$T/out")" "$T/out" "$P/live.jsonl"
done
wait $writer
arbor sync; code 0
exports projects/p/live.jsonl "$P/live.jsonl"
generations projects/p/live.jsonl 1

it "gives every further folder a name of its own, or the one that --label says"
arbor sync --source demo; code 0; err_has 'claude-2: 29 files, 29 new'
arbor sync --source "$T/conf" --label old-laptop; code 0; err_has 'old-laptop: 1 file'
arbor sync --source demo; code 0; err_has 'claude-2: 29 files, 29 unchanged'
arbor sources; out_has 'old-laptop:projects/p/c.jsonl'
exports old-laptop:projects/p/c.jsonl "$T/conf/projects/p/c.jsonl"
arbor sync --label 'not a name' --source demo; code 2; err_has 'not a name'

it "tells a new file with an old inode from a renamed one"
R=$T/reuse
mkdir -p "$R/plans"
printf '# Plan\n' >"$R/plans/a.md"
arbor sync -q --store "$T/reuse.db" --source "$R"
inode=$(stat -c %i "$R/plans/a.md")
rm "$R/plans/a.md"
i=0 reused=no
while [ $i -lt 200 ] && [ $reused = no ]; do
	i=$((i + 1))
	printf '# Plan\nother\n' >"$R/plans/b$i.md"
	[ "$(stat -c %i "$R/plans/b$i.md")" != "$inode" ] || reused=yes
done
echo "# inode reused: $reused"
arbor sync -v --store "$T/reuse.db" --source "$R"; code 0; err_lacks renamed
arbor export plans/a.md --store "$T/reuse.db"; code 0; out_is '# Plan'

it "does not pass over a project, or all of them, behind a link in silence"
mkdir -p "$T/linked/projects/real" "$T/elsewhere/p"
echo '{}' >"$T/linked/projects/real/1.jsonl"
ln -s "$T/elsewhere/p" "$T/linked/projects/p"
arbor sync -q --store "$T/linked.db" --source "$T/linked"; code 0; err_has 'projects/p: a symbolic link to a folder'
arbor export projects/real/1.jsonl --store "$T/linked.db"; code 0
mv "$T/linked/projects" "$T/elsewhere/projects" && ln -s "$T/elsewhere/projects" "$T/linked/projects"
arbor sync -q --store "$T/linked.db" --source "$T/linked"; code 3; err_has 'projects: a symbolic link to a folder'
arbor sources --store "$T/linked.db"; check grep -q "here${tab}projects/real" "$T/out"

it "reads everything else before a file that hardly ends"
mkdir -p "$T/sparse/projects/p"
for i in 1 2 3 4 5; do truncate -s 9T "$T/sparse/projects/p/big$i.jsonl" 2>/dev/null || : >"$T/sparse/projects/p/big$i.jsonl"; done
echo '{}' >"$T/sparse/projects/p/real.jsonl"
timeout -s INT 3 "$ARBOR" sync -q --store "$T/sparse.db" --source "$T/sparse" 2>"$T/err"
arbor export projects/p/real.jsonl --store "$T/sparse.db"; code 0; out_is '{}'
if [ -s "$T/sparse/projects/p/big1.jsonl" ]; then
	arbor export projects/p/big1.jsonl --store "$T/sparse.db"; code 3; err_has 'not read to its end'
fi
rm -r "$T/sparse"

it "finds its store behind a link, and its other files beside the store"
mkdir -p "$T/behind/projects/p" && echo '{}' >"$T/behind/projects/p/1.jsonl"
ln -s "$T/behind/projects/p/real.db" "$T/link.db"
touch "$T/behind/projects/p/real.db"
arbor sync --store "$T/link.db" --source "$T/behind"; code 0
check test ! -e "$T/link.db-bell"
arbor sources --store "$T/link.db"; code 0; out_lacks 'real.db'

it "does not mix two living folders under one label"
arbor sync --source "$T/reuse" --label claude; code 2; err_has 'still exists'

it "takes a folder of something else only with a label"
arbor sync --source "$T/else"; code 1; err_has 'nothing of Claude Code'
arbor sync --source "$T/else" --label else; code 0; err_has 'else: 0 files'

it "does not mirror a folder twice under two labels"
arbor sync --label other; code 2; err_has "already mirrored as 'claude'"
arbor sources; out_lacks 'other:'

it "keeps the history of a folder that has moved, by its label"
mv "$T/conf" "$T/moved"
arbor sync --source "$T/moved" --label old-laptop; code 0; err_has '1 unchanged'
arbor versions old-laptop:projects/p/c.jsonl; code 0

it "takes a folder behind a link as the folder itself"
ln -s .claude "$T/link"
arbor sync --source "$T/link"; code 0; err_has 'claude: '; err_lacks new
arbor export "$T/link/plans/shell-startup-floating-wilkes.md"; code 0
same demo/plans/shell-startup-floating-wilkes.md "$T/out"

it "follows no link inside the folder, and says which it skipped"
echo SECRET-OUTSIDE >"$T/outside.jsonl"
mkdir "$T/outside" && echo SECRET-FOLDER >"$T/outside/x.jsonl"
ln -s "$T/outside.jsonl" "$P/link.jsonl"
ln -s "$T/outside" "$S/projects/linked"
ln -s ../../history.jsonl "$P/inside.jsonl"
ln -s nowhere "$P/dangling.jsonl"
arbor sync; code 0; err_has '4 skipped'
for f in p/link.jsonl linked p/inside.jsonl p/dangling.jsonl; do err_has "skipped projects/$f: a symbolic link"; done
arbor sources; out_lacks link.jsonl; out_lacks linked
never grep -rqa SECRET- "$ARBOR_HOME"
rm "$P"/link.jsonl "$P"/inside.jsonl "$P"/dangling.jsonl "$S/projects/linked"

it "opens no pipe, socket or device"
mkfifo "$P/pipe.jsonl"
rc=0
timeout 20 "$ARBOR" sync 2>"$T/err" || rc=$?
code 0; err_has 'projects/p/pipe.jsonl: not a regular file'
rm "$P/pipe.jsonl"

it "reads the others when one cannot be read, and ends with 3"
echo '{}' >"$P/locked.jsonl" && echo '{"new":1}' >"$P/open.jsonl"
chmod 000 "$P/locked.jsonl"
if [ "$(id -u)" != 0 ]; then
	arbor sync; partial=y
elif command -v setpriv >/dev/null && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$ARBOR"; then
	# Nothing is unreadable for root: so as somebody else, on a copy.
	mkdir -m 777 "$T/nobody" && cp -R "$S" "$T/nobody/src" && chmod 711 "$T"
	chown -R 65534:65534 "$T/nobody"
	rc=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$ARBOR" sync --source "$T/nobody/src" \
		--store "$T/nobody/arbor.db" >"$T/out" 2>"$T/err" || rc=$?
	partial=y
else
	partial=
	skip 'root may read everything, and nobody else can run the program here'
fi
if [ "$partial" ]; then
	code 3; err_has 'failed: projects/p/locked.jsonl: Permission denied'; err_has '1 failed'
	[ "$(id -u)" != 0 ] || set -- --store "$T/nobody/arbor.db"
	arbor export projects/p/open.jsonl "$@"; code 0; same "$P/open.jsonl" "$T/out"
	set --
fi
chmod 600 "$P/locked.jsonl"
arbor sync; code 0

it "keeps files with any name, and prints none of its tricks"
N=$S/projects/names
mkdir "$N"
tricky() { printf '%s\n' "content of $1" >"$N/$1"; }
tricky 'with space.jsonl'
tricky "new${nl}line.jsonl"
tricky "$(printf 'esc\033]0;title\007\033[31m.jsonl')"
tricky "$(printf 'not\377utf8.jsonl')"
tricky "$(printf 'bidi\342\200\256lnosj.jsonl')"
tricky '-q.jsonl'
tricky '--help'
tricky '%s%n%d.jsonl'
tricky "quote'\"\`\$(id).jsonl"
tricky 'back\slash.jsonl'
tricky 'über-中文-🎉.jsonl'
tricky "$(printf '%0250d' 7)"
mkdir -p "$N/-/--" && echo x >"$N/-/--/-"
arbor sync -v; code 0; err_lacks failed; err_has '13 new'
harmless "$T/err"
arbor sources; code 0
harmless "$T/out"
for f in "$N"/* "$N/-/--/-"; do
	[ -f "$f" ] || continue
	arbor export -- "projects/names/${f#"$N"/}"; code 0; same "$f" "$T/out"
	arbor export "$f"; code 0; same "$f" "$T/out"
done
arbor check; code 0

it "takes a path with doubled slashes and dots as the shell would"
arbor export "$S//projects/./names/-q.jsonl"; code 0; same "$N/-q.jsonl" "$T/out"
arbor sync --source "$T//.claude/."; code 0; err_has 'claude: '

it "skips folders inside folders beyond reason, and keeps the rest"
d=$N
i=0
while [ $i -lt 60 ]; do i=$((i + 1)); d=$d/d; done
mkdir -p "$d" && echo x >"$d/deep.jsonl" && echo y >"$N/shallow.jsonl"
arbor sync; code 0; err_has 'too many folders inside each other'
exports projects/names/shallow.jsonl "$N/shallow.jsonl"

it "is whole at the end of it all"
arbor check; code 0; out_has 'ok: '
arbor sync --force; code 0; err_lacks failed

the_end
