#!/usr/bin/env bash
# Folders in which people worked.
. test/harness/lib.sh
export ARBOR_HOME=$T/store TZ=UTC
S=$T/claude
cp -r demo "$S"

it "says what to do while there is nothing"
mkdir "$T/none" && arbor sync --source "$T/none" --label none
arbor projects; code 1; err_has 'arbor sync'

it "lists projects, the last touched first, with what happened there"
arbor sync --source "$S"; code 0
arbor projects; code 0
printf '%s\t%s\t%s\t%s\t%s\n' 2026-11-13T18:14:51.336Z 5 57 0 /home/dev/dotfiles \
	2026-11-10T17:30:53.407Z 5 50 0 /home/dev/parser 2026-11-06T16:51:33.524Z 5 46 2 /home/dev/webshop >"$T/want"
same "$T/want" "$T/out"
arbor projects -0; check test "$(tr '\0' ' ' <"$T/out")" = '/home/dev/dotfiles /home/dev/parser /home/dev/webshop '

it "gives programs the client's name of the folder, too"
arbor projects --json; sed -n 3p "$T/out" >"$T/line"
printf '%s\n' '{"v":1,"updated":"2026-11-06T16:51:33.524Z","sessions":5,"messages":46,"memory":2,"path":"/home/dev/webshop","started":"2026-11-03T09:12:04.281Z","prompts":9,"folder":"-home-dev-webshop"}' >"$T/want"
same "$T/want" "$T/line"
sed 's/.*"folder":"\([^"]*\)".*/\1/' "$T/out" | while read -r folder; do check test -d "$S/projects/$folder"; done

it "tells projects apart that share a folder of the client, as it does not"
mkdir -p "$S/projects/-srv-a-b/memory"; echo note >"$S/projects/-srv-a-b/memory/MEMORY.md"
n=0
for cwd in /srv/a-b /srv/a.b /srv/a_b; do
	n=$((n + 1))
	printf '{"type":"user","uuid":"abcd%04d-0000-4000-8000-000000000000","cwd":"%s","timestamp":"2026-11-14T10:0%d:00.000Z","message":{"role":"user","content":"x"}}\n' \
		$n $cwd $n >"$S/projects/-srv-a-b/abcd000$n-0000-4000-8000-000000000000.jsonl"
done
arbor sync --source "$S"; arbor projects
check test "$(head -n 3 "$T/out" | cut -f 2,4,5 | tr '\t\n' ': ')" = '1:1:/srv/a_b 1:1:/srv/a.b 1:1:/srv/a-b '

it "still knows them when their files are gone"
rm -r "$S/projects"; arbor sync --source "$S"
arbor projects; code 0; check test "$(wc -l <"$T/out")" -eq 6
the_end
