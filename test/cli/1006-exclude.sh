#!/bin/sh
# Folders that people worked in, left out: whatever their transcripts are called and wherever
# they lie, with all that belongs to them.
# shellcheck source=test/harness/lib.sh disable=SC2317 # functions are called by name
. test/harness/lib.sh
S=$T/.claude
export ARBOR_HOME="$T/store"
A=0aaaaaaa-0000-4000-8000-000000000000
B=0bbbbbbb-0000-4000-8000-000000000000
C=0ccccccc-0000-4000-8000-000000000000
D=0ddddddd-0000-4000-8000-000000000000
E=0eeeeeee-0000-4000-8000-000000000000
P=projects/-home-me-private
W=projects/-home-me-work
n=0
line() { # FOLDER WORD
	n=$((n + 1))
	printf '{"type":"user","uuid":"%08d-0000-4000-8000-000000000000","cwd":"%s","message":{"role":"user","content":"%s"}}\n' "$n" "$1" "$2"
}
mkdir -p "$S/$P/$A/tool-results" "$S/$P/$A/subagents" "$S/$P/memory" "$S/$P-deep" "$S/$W" "$S/tasks/$A" "$S/tasks/$B" \
	"$S/file-history/$A" "$S/todos" "$S/sessions" "$S/plans"
# In the folder itself, with what the client writes before the first prompt.
{ printf '{"type":"mode","mode":"normal"}\n'; line /home/me/private alphorn; } >"$S/$P/$A.jsonl"
echo result >"$S/$P/$A/tool-results/x.txt"
line /home/me/private bassoon >"$S/$P/$A/subagents/agent-1.jsonl"
echo '{}' >"$S/$P/$A/subagents/agent-1.meta.json"
echo memory >"$S/$P/memory/m.md"
echo '{}' >"$S/tasks/$A/1.json"
echo '{}' >"$S/tasks/$B/1.json"
echo before >"$S/file-history/$A/f@v1"
echo '[]' >"$S/todos/$A-agent-$A.json"
echo '{"pid":1,"sessionId":"'$A'","cwd":"/home/me/private"}' >"$S/sessions/1.json"
# Of the same name: /home/me-private.
line /home/me-private clarinet >"$S/$P/$B.jsonl"
# Below it; and begun in it, and gone on with elsewhere.
line /home/me/private/deep dulcimer >"$S/$P-deep/$C.jsonl"
line /home/me/private euphonium >"$S/$W/$D.jsonl"
line /home/me/work flugelhorn >"$S/$W/$E.jsonl"
echo '{"display":"hi","project":"/home/me/private"}' >"$S/history.jsonl"
echo '# plan' >"$S/plans/p.md"
ALL=16
fresh() { rm -rf "$T/store"; }
left() { # WORD...: these can be found and no others
	for word in alphorn bassoon clarinet dulcimer euphonium flugelhorn; do
		"$ARBOR" search "$word" >/dev/null 2>&1; found=$?
		case " $* " in
		*" $word "*) [ $found = 0 ] || fail "is not kept: $word" ;;
		*) [ $found = 1 ] || fail "is kept: $word" ;;
		esac
	done
}
paths() { "$ARBOR" sources | awk -F '\t' '{ print $NF }' | sort; }

it "takes all of it where nothing is excluded"
arbor sync; code 0; err_has "$ALL files, $ALL new"
left alphorn bassoon clarinet dulcimer euphonium flugelhorn

it "leaves out every conversation of a folder and of those below it, and what belongs to them"
for pattern in /home/me/private /home/me/private/ '/home/me/private/*'; do
	fresh
	arbor sync --exclude "$pattern"; code 0
	err_lacks 'leaves nothing out'
	left clarinet flugelhorn
	paths >"$T/paths"
	printf '%s\n' history.jsonl plans/p.md "$P/$B.jsonl" "$W/$E.jsonl" "tasks/$B/1.json" | sort >"$T/want"
	same "$T/want" "$T/paths"
done
arbor search memory; code 1

it "does so again, in a dry run, too, and brings the rest in when it is not excluded any more"
arbor sync -v --exclude /home/me/private; code 0; err_has '5 files, 5 unchanged'; err_lacks '0aaaaaaa'
arbor sync -n --exclude /home/me/private; code 0; err_has '5 files, 5 unchanged'
arbor sync -n; err_has '11 new'
arbor sync; code 0; err_has '11 new'
left alphorn bassoon clarinet dulcimer euphonium flugelhorn

it "keeps what is archived already, and adds nothing to it"
line /home/me/private glockenspiel >>"$S/$P/$A.jsonl"
echo '{}' >"$S/tasks/$A/2.json"
rm "$S/$P/$A/tool-results/x.txt"
arbor sync --exclude /home/me/private; code 0; err_lacks vanished; err_lacks grown; err_lacks new
arbor search alphorn; code 0
arbor search glockenspiel; code 1
arbor sync; code 0; err_has '1 new, 1 grown, 1 vanished'
arbor search glockenspiel; code 0

it "opens no file that is known and has not changed"
sleep 2.1 # until their times can be trusted
arbor sync; code 0
if ! ASAN_OPTIONS=detect_leaks=0 strace -f -o "$T/trace" -e trace=openat,openat2 "$ARBOR" sync --exclude /home/me/private >/dev/null 2>&1; then
	skip "strace does not work here"
else
	check grep -qF openat "$T/trace"
	check test "$(grep -cF .jsonl "$T/trace")" -eq 0
fi

it "means the folder that a link leads to, and one below home"
mkdir -p "$T/real/priv"; ln -s "$T/real" "$T/link"
mkdir -p "$T/other/projects/p"
line "$T/real/priv/x" harmonium >"$T/other/projects/p/$A.jsonl"
line "$T/real/not" icarina >"$T/other/projects/p/$B.jsonl"
# shellcheck disable=SC2088 # it is the program that knows what ~ means
for pattern in "$T/link/priv" "$T/link/pr*" '~/link/priv' '~/real/p?iv/*' "$T/link/priv/gone/../x"; do
	fresh
	arbor sync --source "$T/other" --exclude "$pattern"; code 0
	case $pattern in *gone*) err_has 'leaves nothing out' ;; *) err_has '1 file, 1 new' ;; esac
done

it "says when a pattern leaves nothing out"
fresh
arbor sync --exclude /home/me/privat --exclude tasks --exclude private; code 0
err_has "--exclude '/home/me/privat' leaves nothing out"
err_has "--exclude 'private' leaves nothing out; folders people worked in begin with / or ~/"
err_lacks "'tasks'"
arbor sync --exclude /home/me/privat --exclude tasks --json; code 0
err_has 'leaves nothing out'
out_has '"unused_excludes":["/home/me/privat"]'
ARBOR_SYNC_EXCLUDE=/home/me/nothing arbor sync --json; code 0; check test ! -s "$T/err"; out_has '"unused_excludes":[]'
arbor sync --exclude /home/me/private; err_lacks 'leaves nothing out'

it "follows only what is not excluded"
fresh
mkdir "$S/tasks/$C"
"$ARBOR" sync --watch --json --exclude /home/me/private >"$T/w.out" 2>&1 &
pid=$!
until grep -qF summary "$T/w.out"; do sleep 0.05; done
line /home/me/private jug >>"$S/$P/$A.jsonl"
line /home/me-private kazoo >>"$S/$P/$B.jsonl"
echo '{}' >"$S/tasks/$C/1.json"
echo '{}' >"$S/tasks/$B/2.json"
mkdir "$S/$P-new"
line /home/me/private/new lute >"$S/$P-new/${A%0}1.jsonl"
line /home/me/work mandolin >>"$S/$W/$E.jsonl"
n=0
until "$ARBOR" search mandolin >/dev/null 2>&1 && "$ARBOR" search kazoo >/dev/null 2>&1 || [ $((n += 1)) -gt 1200 ]; do sleep 0.05; done
kill "$pid"; wait "$pid"
arbor search kazoo; code 0
arbor search mandolin; code 0
arbor search lute; code 1
arbor search jug; code 1
check grep -qF "tasks/$B/2.json" "$T/w.out"
check test "$(grep -cF "tasks/$C" "$T/w.out")" -eq 0
the_end
