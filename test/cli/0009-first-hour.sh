#!/usr/bin/env bash
# The first hour of somebody who knows git and has only --help: what is shown can be typed, what is
# asked is answered, what is not understood is told.
. test/harness/lib.sh
export ARBOR_HOME=$T/store TZ=UTC
S=$T/claude
cp -r demo "$S"

# session DIGIT CWD TEXT: one more conversation, of the first hour of Nov 14.
session() {
	folder=$S/projects/$(printf %s "$2" | sed 's/[^A-Za-z0-9]/-/g')
	mkdir -p "$folder"
	printf '{"type":"user","uuid":"beef000%d-0000-4000-8000-000000000000","cwd":"%s","timestamp":"2026-11-14T00:0%d:00.000Z","message":{"role":"user","content":"%s"}}\n' \
		"$1" "$2" "$1" "$3" >"$folder/cafe000$1-0000-4000-8000-000000000000.jsonl"
}
session 1 /home/dev/webshop/.worktrees/3 'fix the third thing'
session 2 /home/dev/.dotfiles 'a dot in front'
session 3 /srv/a-folder-with-a-name-that-no-column-has-room-for 'a long name'
session 4 "$HOME/at-home" 'at home'
arbor sync --source "$S"

it "takes whatever it shows of a project for that project, in every command"
for name in .worktrees/3 .dotfiles '…/.worktrees/3' '…/webshop/.worktrees/3' 'a-fol…has-room-for' '~/at-home' '~/at-home/' at-home; do
	for verb in 'list' 'search is:prompt' 'usage' 'stats' 'history' 'context' 'todos'; do
		[ "$verb" = context ] && arbor context "$name" || arbor $verb --project "$name"
		err_lacks 'no session of this project'; err_lacks 'could be'
	done
	arbor list --project "$name" -0; check test "$(tr -cd '\0' <"$T/out" | wc -c)" -eq 1
done
arbor search "project:.worktrees/3 third"; code 0
screen=80x30 on_terminal list --project '.worktrees/3'; code 0; out_has '.worktrees/3'
arbor sync --source "$S" --project .worktrees/3; code 0
arbor sync --source "$S" --project '~/at-home' --dry-run; code 0
arbor sync --source "$S" --project nosuch; code 1; err_has "no such folder and no project"

the_end
