#!/bin/sh
# tools/pages.sh ARBOR FOLDER: writes what the program prints about itself: the
# manual pages arbor.1 and arbor-VERB.1, and the completions arbor.SHELL.
set -eu
arbor=${1:?usage: tools/pages.sh ARBOR FOLDER}
to=${2:?usage: tools/pages.sh ARBOR FOLDER}

rm -rf "$to" && mkdir -p "$to"
"$arbor" complete '' | cut -f 1 >"$to/verbs"
while read -r verb; do "$arbor" help --man "$verb" >"$to/arbor-$verb.1"; done <"$to/verbs"
rm "$to/verbs"
for shell in bash zsh fish; do "$arbor" completion $shell >"$to/arbor.$shell"; done
# Last: the build takes it for all of them.
"$arbor" help --man >"$to/arbor.1"
