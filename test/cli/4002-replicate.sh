#!/bin/sh
# bench/replicate.c makes many conversations of a few: what `make bench` says about a
# gigabyte is only true if its copies are different conversations, and whole ones.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
from="$T/from" to="$T/to"
mkdir -p "$from"
cp -r demo/projects "$from/"
"$BUILD/tool/replicate" "$from" "$to" 2

ids() { # DIR
	find "$1" -name '*.jsonl' -exec cat {} + |
		grep -oE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(msg|req|toolu)_[0-9A-Za-z]{24}' | sort -u
}
copy() { # NUMBER: the folder with only that copy, as it would be called without one
	mkdir -p "$T/copy$1/projects"
	for project in "$to"/projects/*-copy"$1"; do
		name=${project##*/}
		cp -r "$project" "$T/copy$1/projects/${name%-copy"$1"}"
	done
}
copy 1
copy 2

it "copies every file, once for each copy"
files=$(find "$from" -type f | wc -l)
check test "$files" -gt 10
check test "$(find "$to" -type f | wc -l)" = $((2 * files))

it "gives each copy ids of its own, as many as there were"
ids "$from" >"$T/ids0"
ids "$T/copy1" >"$T/ids1"
ids "$T/copy2" >"$T/ids2"
check test "$(wc -l <"$T/ids0")" -gt 100
check test "$(sort -u "$T/ids0" "$T/ids1" "$T/ids2" | wc -l)" = $((3 * $(wc -l <"$T/ids0")))

it "names files after the new ids"
for path in "$T/copy1"/projects/*/*.jsonl; do
	name=${path##*/}
	grep -qx "${name%.jsonl}" "$T/ids1" || fail "$name is no id of the copy"
	grep -q "\"sessionId\":\"${name%.jsonl}\"" "$path" || fail "$name does not hold its own session"
done

it "changes nothing but ids and working folders"
plain() { # DIR: every line with its ids and the suffix gone
	find "$1" -name '*.jsonl' -exec cat {} + | sed -E 's/("cwd":"[^"]*)-copy[0-9]+"/\1"/g
		s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/g; s/(msg|req|toolu)_[0-9A-Za-z]{24}/ID/g' | sort
}
plain "$from" >"$T/plain0"
plain "$T/copy2" >"$T/plain2"
same "$T/plain0" "$T/plain2"
check test "$(find "$T/copy1" -name '*.jsonl' -exec cat {} + | grep -c '"cwd":"[^"]*-copy1"')" -gt 100
check test "$(cat "$T/copy1"/projects/*/*.jsonl | wc -c)" = "$(cat "$T/copy2"/projects/*/*.jsonl | wc -c)"

it "makes the same copy again, alone"
"$BUILD/tool/replicate" "$from" "$T/again" 1 2
for project in "$T/again"/projects/*; do
	check diff -r "$project" "$to/projects/${project##*/}"
done
check test "$(find "$T/again" -type f | wc -l)" = "$files"
the_end
