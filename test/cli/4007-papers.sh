#!/bin/sh
# What stands beside the conversations: plans, memory, tasks, todos and typed history are found, narrowed to and
# shown.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
cp -R demo "$T/.claude"
arbor sync
S=$T/.claude
todos=todos/a2a32e82-b2f3-402c-b55f-c2e87a273270-agent-a2a32e82-b2f3-402c-b55f-c2e87a273270.json
lines() { [ "$(wc -l <"$T/out")" -eq "$1" ] || { fail "not $1 lines"; show "$T/out"; }; }
first() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$T/out" | head -n 1; } # FIELD: of the JSON printed

it "finds a plan by its words, and says what it is"
arbor search '"bash completion" tab' in:other --json; code 0; lines 1; plan=$(first id)
out_has '"kind":"plan"'; out_has '"title":"A faster shell start"'; out_has '"in":"other"'; out_has '"offset":0'
out_has '"path":"plans/shell-startup-floating-wilkes.md"'; out_has '"at":"'
out_has '"session":"d4861786-'; out_has '"project":"/home/dev/dotfiles"'; out_lacks '"message"'; out_lacks '"line"'

it "finds memory with its project, which the name of its folder stands for"
arbor search 'driver returns' in:other --json; code 0; lines 1; memory=$(first id)
out_has '"kind":"memory"'; out_has '"title":"money.md"'; out_has '"project":"/home/dev/webshop"'

it "finds each task of its conversation"
arbor search parsefloat in:other --json; code 0; lines 1; out_has '"kind":"task"'
out_has '"title":"Read prices as cents in the importer"'; out_has '"session":"4e4f12db-6fa6-4fb1-9e6e-e6382d34866a"'
arbor search 'mention install' in:other --json; code 0; todo=$(grep '"kind":"todo"' "$T/out"); check test -n "$todo"
arbor search install in:other --json; check test "$(grep -c "\"path\":\"$todos\"" "$T/out")" -eq 2

it "finds what was typed where the conversation is gone, and once where it is not"
arbor search 'build slow' --json; code 0; lines 1; history=$(first id)
out_has '"kind":"history"'; out_has '"at":"2026-10-19T'; out_has '"project":"/home/dev/parser"'
out_lacks '"session"'
arbor search '"start a bashrc"' --json; code 0; out_has '"in":"prompt"'; out_lacks '"kind":"history"'
arbor search '"does it load"' in:other; code 1
arbor search in:prompt --json -n 0; check test "$(grep -c '"kind":"history"' "$T/out")" -eq 4
arbor history bashrc; lines 2
arbor search bashrc -n 0; all=$(wc -l <"$T/out"); arbor search bashrc -n 1; err_has "1 of $all hits"

it "narrows to a project, a session and a time"
arbor search cents in:other --project webshop; lines 4
arbor search cents in:other project:parser; code 1
arbor search 'slow project:parser'; lines 1
arbor search 'slow -project:parser' --json; out_lacks '"kind":"history"'
arbor search cents in:other session:4e4f12db; lines 2
arbor search screenrc in:other --session a2a32e82 --json; lines 1; out_has '"kind":"todo"'
arbor search screenrc in:other --session 4e4f12db; code 1
arbor search slow in:prompt day:2026-10-19; lines 1
arbor search slow in:prompt before:2026-10-19; code 1
arbor search '"does it load"' in:other after:2026-01; code 1
touch -d 2020-02-02 "$S/plans/shell-startup-floating-wilkes.md"
arbor rebuild; arbor sync; arbor rebuild
arbor search 'completion tab' day:2020-02-02; lines 1

it "never means it where something is asked that only a conversation has"
for condition in model:claude model:opus 'branch:*' agent:a is:branch is:withdrawn is:error is:subagent tool:Bash is:noted tag:x role:assistant role:tool role:system; do
	arbor search "parsefloat OR slow OR screenrc OR completion" "$condition" --json -n 0; out_lacks '"kind":'
done
arbor search 'build slow -model:claude -branch:main -is:branch -is:error'; lines 1
arbor search completion in:other --json; out_has '"kind":"plan"'

it "takes what was typed for a person's, and nothing else beside the conversations for anybody's"
arbor search 'build slow role:user' --json; code 0; lines 1; out_has '"kind":"history"'; out_has '"in":"prompt"'
arbor search 'build slow' --role user; lines 1
arbor search "parsefloat OR screenrc OR completion" role:user,system --json -n 0; out_lacks '"kind":'
arbor search 'completion tab -role:user' --json; out_has '"kind":"plan"'
arbor search 'completion tab -role:system' --json; out_has '"kind":"plan"'
arbor search '"build so slow" -role:user'; code 1
arbor search 'completion tab' --json; out_has '"kind":"plan"'

it "orders, checks and cuts it as any other text"
arbor search in:other --sort old -n 1 --json; out_has '"kind":"plan"'
arbor search --regex 'Load bash-[a-z]+ on' in:other; lines 1
arbor search --case-sensitive 'Load bash-completion' in:other; lines 1
arbor search --case-sensitive 'load bash-completion' in:other; code 1
arbor search slow in:prompt --context 2 --json; out_has '"kind":"history"'
arbor search slow --budget 2000 --json; code 0; out_has '"kind":"history"'
arbor search cents in:other -n 1 --offset 1; lines 1; err_has 'hits 2 to 2 of 4'

it "shows it by the id that was found, and by its path"
for id in "$plan" plans/shell-startup-floating-wilkes.md shell-startup-floating-wilkes.md; do
	arbor show "$id"; code 0; out_has '# A faster shell start'; out_has 'stop when it is below 50 ms'
done
arbor show "$memory"; code 0; out_has 'the driver returns it as a string'
arbor show "$todos" --json; code 0; lines 3; out_has '"kind":"file"'; out_has '"type":"todo"'
arbor show history.jsonl; code 0; out_has 'why is the build so slow?'; out_has 'Does it load without errors?'

it "opens what was typed alone, with its own time and project"
arbor show "$history" --json; code 0; lines 1; out_has 'why is the build so slow?'; out_has '"at":"2026-10-19T'
out_has '"project":"/home/dev/parser"'; out_has '"type":"history"'
arbor search 'build slow' --json; handle=$(first handle); check test "${handle%:*}" = storage@1.0.0::typed
arbor show "$handle"; code 0; out_has 'so slow?'; out_lacks 'Does it load'
arbor resolve "$history" --json; code 0; out_has "$handle"; out_has '"at":"2026-10-19T'
arbor render "$history"; code 0; out_has '/home/dev/parser'; out_has 'so slow?'
arbor rebuild; arbor show "$history"; code 0; out_has 'so slow?'
cat "$S/history.jsonl" "$S/history.jsonl" >"$T/twice"; cp "$T/twice" "$S/history.jsonl"; arbor sync
arbor show "$history" --json; code 0; lines 1; cp demo/history.jsonl "$S/history.jsonl"; arbor sync

it "takes notes, bookmarks and tags on files and on what was typed"
arbor note "$plan" 'a numbat idea' --json; code 0; out_has '"on":"file"'; out_has '"what":"plans/shell-startup-floating-wilkes.md"'
arbor tag "$history" puzzling --json; code 0; out_has '"on":"typed"'; out_has '"what":"why is the build so slow?"'
arbor bookmark "$plan" startup; code 0; arbor show @startup; code 0; out_has '# A faster shell start'
arbor search completion is:noted; lines 1
arbor search slow tag:puzzling --json; out_has "$history"
arbor notes --json; out_lacks '"gone"'
arbor search numbat --json; arbor show "$(first note)"; code 0; out_has 'a numbat idea'; out_has '# A faster shell start'
arbor show "$plan" @ --json; code 0; out_has '"kind":"file"'; out_has '"kind":"session"'
arbor show file-history; code 2
arbor show "$(echo "$plan" | cut -c1-8)" nothing; code 2; check test ! -s "$T/out"

it "stands below its file on a terminal"
on_terminal search 'completion tab' --color never; out_has 'plan  plans/shell-startup-floating-wilkes.md'
out_has "  $(echo "$plan" | cut -c1-8)  other    # A faster shell start"
on_terminal search install --color never --group none; out_has "todo  todos/"
on_terminal show "$plan" --color never; out_has "plan  $(echo "$plan" | cut -c1-8)  plans/"

it "does not get in the way of who chooses a conversation"
arbor pick --plain '"slow"'; code 0; lines 1; out_has d4861786-f226-4170-a3f5-719f14be0776
arbor pick --plain 'build slow'; code 1
arbor pick --plain --print hit 'build slow'; code 0; out_has "$history"
arbor pick --plain --print resume screenrc; code 0; lines 1; out_has 'arbor resume a2a32e82'

it "is in no table of SQL"
arbor sql "SELECT count(*) FROM messages WHERE messages MATCH 'build slow'"; code 0; out_is 0

it "is the same whatever came first, and after a rebuild"
arbor dump --logical=mirror; grep '^paper ' "$T/out" >"$T/papers"; check test "$(wc -l <"$T/papers")" -eq 17
out_has 'strays 0'
cp "$T/out" "$T/before"; arbor rebuild; arbor dump --logical=mirror; same "$T/before" "$T/out"
mkdir -p "$T/slow/plans"
for f in history.jsonl plans todos tasks projects; do cp -R "demo/$f" "$T/slow/"; arbor sync --source "$T/slow" --store "$T/slow.db"; done
arbor dump --logical=mirror --store "$T/slow.db"; grep '^paper ' "$T/out" | sed 's/^paper [^ ]* //' | sort >"$T/a"
sed 's/^paper [^ ]* //' "$T/papers" | sort >"$T/b"; same "$T/a" "$T/b"
arbor search 'start bashrc' --store "$T/slow.db" --json; out_lacks '"kind":"history"'

it "follows what changes"
printf '# A walrus\n\nin the shell\n' >"$S/plans/shell-startup-floating-wilkes.md"
printf '{"display":"walrus, please","timestamp":1794510773083}\n' >>"$S/history.jsonl"
printf '[{"content":"feed the walrus"}]' >"$S/$todos"
arbor sync
arbor search walrus --json; lines 3
for kind in plan history todo; do out_has "\"kind\":\"$kind\""; done
arbor search 'completion tab' in:other; code 1
arbor search screenrc in:other; code 1
rm -r "$S/plans"; arbor sync; arbor search walrus; lines 3; arbor show "$plan"; out_has '# A walrus'

it "is given once where a folder is mirrored twice"
cp -R "$S" "$T/copy"; arbor sync --source "$T/copy" --name copy
arbor search walrus --json; lines 3

it "says in its help what is searched"
arbor help search; out_has 'Plans, memory, tasks and todos are searched'; out_lacks 'not searched yet'
the_end
