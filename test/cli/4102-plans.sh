#!/usr/bin/env bash
# Plans of plan mode: listed, read, in all their versions, also when they are gone.
. test/harness/lib.sh
export ARBOR_HOME=$T/store TZ=UTC
S=$T/claude
cp -r demo "$S"
P=$S/plans
write() { printf %b "$2" >"$P/$1" && touch -d "$3" "$P/$1"; } # FILE TEXT DATE
touch -d 2026-11-10T10:00:00Z "$P"/*.md
arbor sync --source "$S"; code 0

it "lists plans with their first headings"
write merge.md 'Some words.\n\n## Merge the two parsers\n' 2026-11-11T12:00:00Z
arbor sync --source "$S"; arbor plans; code 0
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' merge 2026-11-11T12:00:00.000Z "$(wc -c <"$P/merge.md")" 1 '' '' 'Merge the two parsers' \
	shell-startup-floating-wilkes 2026-11-10T10:00:00.000Z 179 1 '' /home/dev/dotfiles 'A faster shell start' >"$T/want"
same "$T/want" "$T/out"
arbor plans -0; check test "$(tr '\0' ' ' <"$T/out")" = 'merge shell-startup-floating-wilkes '

it "knows whose a plan is by the conversation that made it, whichever came first, and of a sub-agent too"
arbor plans --project dotfiles -0; code 0; check test "$(tr '\0' ' ' <"$T/out")" = 'shell-startup-floating-wilkes '
arbor plans --project webshop; code 1
arbor plans --session d4861786 --json; code 0; out_has '"session":"d4861786-f226-4170-a3f5-719f14be0776","project":"/home/dev/dotfiles"'
arbor plans --session a142; code 1
arbor context dotfiles; out_has '## Plans'; out_has 'A faster shell start [d4861786]'
arbor context webshop; out_lacks '## Plans'
mkdir -p "$T/late/projects/-w" "$T/late/plans"
printf '# Later\nthe quokka plan\n' >"$T/late/plans/calm-brave-fox.md"
printf '# Part\nanother quokka plan\n' >"$T/late/plans/calm-brave-fox-agent-a1b2c3.md"
arbor sync --source "$T/late" --store "$T/late.db"
arbor plans --json --store "$T/late.db"; out_lacks '"session"'
printf '%s\n' '{"type":"user","uuid":"11111111-2222-4333-8444-555555555555","timestamp":"2026-05-01T00:00:00Z","cwd":"/w","slug":"calm-brave-fox","message":{"content":"plan it"}}' \
	>"$T/late/projects/-w/12340001-0000-4000-8000-000000000000.jsonl"
arbor sync --source "$T/late" --store "$T/late.db"
arbor plans --project /w --json --store "$T/late.db"; check test "$(grep -c '"session":"12340001' "$T/out")" -eq 2
arbor search quokka --project /w --store "$T/late.db"; check test "$(wc -l <"$T/out")" -eq 2
arbor search quokka session:1234 --store "$T/late.db"; check test "$(wc -l <"$T/out")" -eq 2
arbor show 1234 --json --store "$T/late.db"; out_has '"plans":["calm-brave-fox"]'

it "shows one by its name, the beginning of it, or its path"
for name in merge mer merge.md plans/merge.md claude:plans/merge.md; do
	arbor plans $name; code 0; same "$P/merge.md" "$T/out"
	check test ! -s "$T/err"
done
arbor plans nope; code 1; err_has "no plan is called 'nope'"
arbor plans ''; code 1

it "shows older versions, and says which there are"
write merge.md '# Merge, second thoughts\n' 2026-11-12T12:00:00Z
arbor sync --source "$S"
arbor plans merge; code 0; out_is '# Merge, second thoughts'; err_has 'version 2 of 2'
arbor plans merge --version 1; code 0; out_has 'Some words.'; err_has 'version 1 of 2'
arbor plans merge --version 3; code 1; err_has 'generations 1 to 2'
arbor plans --version 1; code 2
arbor plans merge --json
out_is '{"v":1,"name":"merge","handle":"'"$(grep -o 'storage@1.0.0::plan:[-0-9a-f]*:2' "$T/out")"'","modified":"2026-11-12T12:00:00.000Z","bytes":25,"versions":2,"title":"Merge, second thoughts","root":"claude","path":"plans/merge.md","version":2,"text":"# Merge, second thoughts\n"}'

it "lists candidates when a name could mean several"
write merge-again.md x 2026-11-13T12:00:00Z; arbor sync --source "$S"
arbor plans merge; code 0
arbor plans merg; code 2; err_has "'merg' could be 2 plans"; err_has 'claude:plans/merge-again.md'
mkdir -p "$T/second/plans" && cp "$P/merge.md" "$T/second/plans" && arbor sync --source "$T/second"
arbor plans merge; code 0 # they say the same
echo more >>"$T/second/plans/merge.md"; arbor sync --source "$T/second"
arbor plans merge; code 2; err_has 'claude-2:plans/merge.md'
arbor plans claude-2:plans/merge.md; code 0

it "still has plans whose files are gone, and says so"
rm -r "$P"; arbor sync --source "$S"
arbor plans shell; code 0; same demo/plans/shell-startup-floating-wilkes.md "$T/out"; err_has 'the file is gone'
arbor plans --json; check grep -q '"name":"merge-again".*"vanished_at":"20' "$T/out"
screen=100x20 on_terminal plans --color never; out_has 'GONE'

it "makes control characters visible"
mkdir "$P" && write evil.md '# \033[31mred\007\n\033]0;t\007' 2026-11-14T12:00:00Z; arbor sync --source "$S"
arbor plans evil; code 0; out_has '␛[31mred␇'
arbor plans; out_has '[31mred'

it "has those of transcripts whose files are not here, a version for each time they were given"
export ARBOR_HOME=$T/told.db && mkdir -p "$T/told/projects/-w"
given() { # SECOND PLAN REST
	printf '{"type":"assistant","uuid":"p%s","sessionId":"s","cwd":"/w/told","timestamp":"2026-11-01T00:00:%s.000Z"%s,"message":{"id":"m%s","role":"assistant","content":[{"type":"tool_use","id":"c%s","name":"ExitPlanMode","input":{"plan":"%s"}}]}}\n' \
		"$1" "$1" "$3" "$1" "$1" "$2"
}
{
	given 01 '# One\nfirst' ',"slug":"calm-brave-fox"'
	given 02 '# One\nfirst' ',"slug":"calm-brave-fox"'
	given 03 '# One, again' ',"slug":"calm-brave-fox"'
	given 04 ' ' ',"slug":"calm-brave-fox"'
} >"$T/told/projects/-w/77777777-0000-4000-8000-000000000001.jsonl"
given 05 '# Two' '' >"$T/told/projects/-w/88888888-0000-4000-8000-000000000001.jsonl"
arbor sync --source "$T/told"; arbor plans; code 0
check test "$(cut -f 1,4,7 "$T/out" | tr '\t\n' ' |')" = '88888888 1 Two|calm-brave-fox 2 One, again|'
arbor plans calm; code 0; out_is '# One, again'; err_has 'version 2 of 2'
arbor plans calm --version 1; out_has first; arbor plans calm --version 3; code 1; err_has 'versions 1 to 2'
arbor plans 8888 --json; out_has '"session":"88888888'; out_has '"text":"# Two"'
arbor resolve "$(grep -o '"handle":"[^"]*"' "$T/out" | cut -d '"' -f 4)"; code 0; out_has '# Two'
arbor plans --session 7777 -0; check test "$(tr '\0' ' ' <"$T/out")" = 'calm-brave-fox '
arbor context /w/told; out_has '## Plans'; out_has '- 2026-11-01 One, again [77777777]'

it "believes the file of a plan where there is one"
mkdir "$T/told/plans" && printf '# One, on paper' >"$T/told/plans/calm-brave-fox.md"
arbor sync --source "$T/told"; arbor plans; check test "$(wc -l <"$T/out")" -eq 2; out_has 'One, on paper'
the_end
