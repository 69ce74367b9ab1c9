#!/bin/sh
# Whatever the client wrote comes back byte for byte: by path, by absolute path
# and by id; also when the files are gone.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh

# Which files have to be kept is decided here, not by the program. The list is
# in $T/want, as paths below the folder.
wanted() { # FOLDER
	(cd "$1" && find . -type f | sed 's|^\./||' |
		grep -E '^(projects|tasks|todos|plans|file-history)/|^history\.jsonl$|^sessions/[^/]*\.json$' |
		grep -vE '(^|/)([^/]*\.lock|settings[^/]*\.json|\.credentials\.json|\.claude\.json[^/]*)$' | LC_ALL=C sort) >"$T/want"
}

# Compares the exports of everything in $T/want with the files below FOLDER.
give_back() { # FOLDER STORE HOW FRONT: HOW is path (after FRONT) or id
	if [ "$3" = id ]; then
		"$ARBOR" sources --store "$2" >"$T/listing"
	fi
	while read -r f; do
		what=$4$f
		if [ "$3" = id ]; then
			what=$(awk -F '\t' -v f="$f" '$NF == f { print $1 }' "$T/listing")
		fi
		arbor export "$what" --store "$2" --format raw
		[ "$rc" = 0 ] || { fail "export $what"; show "$T/err"; }
		same "$1/$f" "$T/out"
	done <"$T/want"
}

# The listing names exactly the wanted files, no more.
lists_wanted() { # STORE
	"$ARBOR" sources --store "$1" | awk -F '\t' '{ print $NF }' | LC_ALL=C sort >"$T/listed"
	cmp -s "$T/want" "$T/listed" || { fail 'kept other files than wanted'; diff "$T/want" "$T/listed" | sed 's/^/# /'; }
}

# The whole way for one folder, in a store of its own.
round_trip() { # FOLDER
	rm -rf "$T/one" "$T/one.db"* && cp -R "$1" "$T/one" && chmod -R u+rwX "$T/one"
	wanted "$1"
	arbor sync --source "$T/one" --store "$T/one.db"; code 0
	lists_wanted "$T/one.db"
	give_back "$1" "$T/one.db" path ''
	arbor check --store "$T/one.db"; code 0
	rm -rf "$T/one"
	give_back "$1" "$T/one.db" id ''
}

it "gives back demo/, also after the files are gone"
round_trip demo
check test "$(wc -l <"$T/want")" -ge 25

it "keeps everything when the folder is gone or empty at the next sync"
arbor sync --source "$T/one" --store "$T/one.db"; code 1
give_back demo "$T/one.db" path "$T/one/"
mkdir "$T/one"
arbor sync --source "$T/one" --store "$T/one.db"; code 0; err_has "$(wc -l <"$T/want" | tr -d ' ') vanished"
give_back demo "$T/one.db" path ''
lists=$("$ARBOR" sources --store "$T/one.db" | awk -F '\t' '$(NF - 1) == "gone"' | wc -l)
check test "$lists" -eq "$(wc -l <"$T/want")"

it "gives back demo/ by session id"
for f in demo/projects/*/*.jsonl; do
	arbor export "$(basename "$f" .jsonl)" --store "$T/one.db"; code 0; same "$f" "$T/out"
done

captures=$ARBOR_SHARED/fixtures
list() { for d in "$captures"/claude-2.1.197/*/dot-claude "$captures"/claude-versions/*; do [ -d "$d" ] && echo "$d"; done; }

it "gives back every capture of the client, each in a store of its own"
if [ -d "$captures/claude-2.1.197" ]; then
	list >"$T/captures"
	while read -r d; do round_trip "$d"; done <"$T/captures"
	check test "$(wc -l <"$T/captures")" -ge 80
else
	skip 'the captures of the client are not here'
fi

it "gives back every capture of the client out of one store, by absolute path"
if [ "$MODE" != dev ] && [ "${SCALE:-short}" = short ]; then
	skip 'the same files again: in dev mode only'
elif [ -s "$T/captures" ]; then
	while read -r d; do
		arbor sync -q --source "$d" --store "$T/all.db"; code 0
	done <"$T/captures"
	while read -r d; do
		wanted "$d"
		give_back "$d" "$T/all.db" path "$(realpath "$d")/"
	done <"$T/captures"
	arbor check --store "$T/all.db"; code 0
else
	skip 'the captures of the client are not here'
fi

it "gives back a corpus of real conversations"
corpus=$ARBOR_SHARED/corpus/real-a.tar.zst
if [ ! -f "$corpus" ] || ! command -v zstd >/dev/null; then
	skip 'the corpus or zstd is not here'
elif [ "$MODE" != dev ]; then
	skip 'large: in dev mode only'
else
	mkdir "$T/real"
	zstd -q -d --long=27 -c "$corpus" | tar -x -C "$T/real"
	wanted "$T/real"
	check test "$(wc -l <"$T/want")" -ge 100
	arbor sync --source "$T/real" --store "$T/real.db"; code 0
	give_back "$T/real" "$T/real.db" path ''
	arbor check --store "$T/real.db"; code 0
fi

the_end
