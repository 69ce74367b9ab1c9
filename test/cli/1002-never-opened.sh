#!/bin/sh
# Credentials, settings, plugins, caches: whatever lies in them must not be in
# the store, in its output, nor even have been opened.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
S=$T/.claude
export ARBOR_HOME="$T/store"
cp -R demo "$S"
mkdir "$T/canaries"

# plant FILE: a file of its own secret.
planted=0
plant() {
	planted=$((planted + 1))
	mkdir -p "$(dirname "$1")"
	printf '{"secret":"CANARY-%03d-%s"}\n' "$planted" "$(basename "$1")" >"$1"
	printf 'CANARY-%03d-\n' "$planted" >>"$T/canaries/list"
	printf '%s\n' "$1" >>"$T/canaries/files"
}
for f in .credentials.json .claude.json .claude.json.backup .claude.json.backup.1794768679537 backups/.claude.json.backup.1 \
	backups/older settings.json settings.local.json settings.json.tmp.json plugins/installed_plugins.json \
	plugins/cache/m/p/1.0/plugin.json plugins/data/p-m/x.jsonl statsig/cache.json shell-snapshots/snapshot-bash-1-a.sh \
	session-env/5abf9052-efc9-4b6d-8bd2-b863c3dbcb97/sessionstart-hook-1.sh debug/5abf9052.txt paste-cache/1.txt \
	image-cache/s/1.png uploads/u.bin usage-data/u.json jobs/j.json daemon/d.json commands/c.md agents/a.md skills/s.md \
	hooks/h.sh ide/1.lock CLAUDE.md .last-cleanup mcp.json unknown-future-file.jsonl unknown-future-folder/x.jsonl \
	tasks/4e4f12db-6fa6-4fb1-9e6e-e6382d34866a/.lock projects/-home-dev-webshop/.credentials.json \
	projects/-home-dev-webshop/.claude.json projects/-home-dev-webshop/settings.local.json \
	projects/-home-dev-webshop/memory/settings.json projects/x/y/z/.credentials.json sessions/1234.lock \
	sessions/deeper/5678.json todos/.credentials.json plans/settings.json file-history/s/.claude.json; do
	plant "$S/$f"
done
plant "$T/.claude.json"          # beside the folder
plant "$T/.credentials.json"
plant "$T/elsewhere/x.jsonl"     # reachable by a link only
plant "$T/elsewhere2/projects/y.jsonl"
ln -s "$T/elsewhere" "$S/projects/elsewhere"
ln -s "$T/elsewhere/x.jsonl" "$S/projects/-home-dev-webshop/x.jsonl"
ln -s "$T/elsewhere2/projects" "$S/todos/linked"
ln -s ../.credentials.json "$S/plans/innocent.md"
ln "$S/.credentials.json" "$T/hard" 2>/dev/null # another name of the same file, outside

it "mirrors the folder around them"
: >"$T/log"
for options in -v '-v --force'; do
	# shellcheck disable=SC2086 # several options
	arbor sync $options; code 0
	cat "$T/out" "$T/err" >>"$T/log"
done
arbor sources; code 0; cat "$T/out" "$T/err" >>"$T/log"
check test "$(wc -l <"$T/out")" -eq 29
arbor dump --logical; cat "$T/out" "$T/err" >>"$T/log"
arbor check -v; code 0; cat "$T/out" "$T/err" >>"$T/log"

it "has planted secrets that the search below would find"
check test "$(grep -cFf "$T/canaries/list" "$S/.credentials.json")" -eq 1
check test "$planted" -ge 45

it "has none of their content in the store or in anything it prints"
hits=$(grep -rlaFf "$T/canaries/list" "$ARBOR_HOME" "$T/log") && fail "found in $hits"

it "has none of their content in anything it can give back"
arbor sources; cut -c 1-8 "$T/out" >"$T/ids"
while read -r id; do "$ARBOR" export "$id" || fail "export $id"; done <"$T/ids" >"$T/all"
check test "$(wc -c <"$T/all")" -gt 200000
hits=$(grep -caFf "$T/canaries/list" "$T/all") && fail "$hits secrets"

it "names them nowhere, save for links it says it skipped"
for f in credentials settings .claude.json plugins statsig shell-snapshots session-env debug paste-cache .lock unknown-future; do
	grep -F -- "$f" "$T/log" | grep -v skipped >"$T/named"
	[ ! -s "$T/named" ] || { fail "$f is named"; show "$T/named"; }
done

it "does not even open them"
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	# The leak checker of ASan cannot work under strace.
	ASAN_OPTIONS=detect_leaks=0 strace -f -e trace=openat,openat2,open,creat -o "$T/trace" "$ARBOR" sync --force \
		--store "$T/traced.db" >"$T/out" 2>"$T/err" || fail 'sync under strace'
	# Arbor's own settings have a name like those of Claude Code, and are elsewhere.
	sed -n 's/^[0-9]* *[a-z0-9]*([^"]*"\([^"]*\)".*/\1/p' "$T/trace" | grep -v arbor/settings.json >"$T/opened"
	check grep -qx history.jsonl "$T/opened" # it does see what is opened
	check grep -qx projects/-home-dev-webshop "$T/opened"
	sed 's|.*/||' "$T/canaries/files" | sort -u >"$T/names"
	sed 's|.*/||' "$T/opened" | grep -Fxf "$T/names" >"$T/named" && { fail 'files were opened'; show "$T/named"; }
	sed "s|^$S/||" "$T/canaries/files" | sed -n 's|/.*||p' | sort -u |
		grep -vxE 'projects|tasks|todos|plans|file-history|sessions' >"$T/folders"
	printf '%s\n' sessions/deeper projects/elsewhere todos/linked >>"$T/folders"
	grep -Fxf "$T/folders" "$T/opened" >"$T/named" && { fail 'folders were opened'; show "$T/named"; }
	check grep -qx plugins "$T/folders"
else
	skip 'there is no strace that works here'
fi

it "does not open them when the folder is named with a slash, a link or a dot either"
ln -s .claude "$T/link"
for d in "$S/" "$T/link" "$T/./.claude/../.claude"; do
	rm -rf "$T/again" && arbor sync --source "$d" --store "$T/again/arbor.db"; code 0
	hits=$(grep -rlaFf "$T/canaries/list" "$T/again") && fail "found in $hits"
	arbor sources --store "$T/again/arbor.db"
	check test "$(wc -l <"$T/out")" -eq 29
done

it "refuses a folder that is replaced by a link while it is known"
mv "$S/plans" "$T/plans.away" && ln -s "$T/elsewhere" "$S/plans"
arbor sync; code 0; err_has 'skipped plans: a symbolic link'; err_lacks vanished
hits=$(grep -rlaFf "$T/canaries/list" "$ARBOR_HOME") && fail "found in $hits"

it "does not read secrets through a hard link with an innocent name"
H=$T/hardlinks
mkdir -p "$H/projects/p" && echo '{}' >"$H/projects/p/1.jsonl"
echo 'canary-hard-link' >"$H/.credentials.json"
ln "$H/.credentials.json" "$H/projects/p/2.jsonl"
arbor sync --source "$H" --store "$T/hard.db"; code 0; err_has '1 skipped'
arbor sources --store "$T/hard.db"; out_lacks 2.jsonl

the_end
