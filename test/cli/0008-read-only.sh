#!/bin/sh
# A store that cannot be written is read, and left as it is.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
unset ARBOR_HOME
mkdir -m 755 "$T/ro"
F="$T/ro/an odd%41?name#.db"
cp -R demo "$T/src"
chmod -R go+rX "$T/src"
arbor sync -q --source "$T/src" --store "$F"; code 0

# Root may write everything: it is nobody then who tries.
nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
if [ "$(id -u)" != 0 ]; then nobody=
elif $nobody test -x "$ARBOR" 2>/dev/null; then
	chmod 711 "$T"
	chown -R 65534:65534 "$T/ro"
else
	it "reads a store that cannot be written"
	skip 'root may write everything, and nobody else can run the program here'
	the_end
fi
as() { # the program, as somebody who may not write everything
	# shellcheck disable=SC2086 # words
	$nobody "$ARBOR" "$@" --store "$F" >"$T/out" 2>"$T/err"
	rc=$?
}
state() { ls -l "$T/ro"; cksum "$F"; }
reads() {
	state >"$T/before"
	as list -n 1; code 0; out_has d4861786
	as search tokenizer; code 0
	as show @; code 0
	as tree @; code 0
	as render @; code 0
	as usage; code 0
	as check; code 0
	as sync --source "$T/src" --dry-run; code 0
	as dump --logical; code 0
	state >"$T/after"
	same "$T/before" "$T/after"
}
refuses() {
	as rebuild; code 7; err_has 'the store cannot be written'
	as call mustache.set claudecode session --template x; code 7
	mkdir -p "$T/more/projects" && chmod -R go+rX "$T/more"
	as sync --source "$T/more"; code 7; err_has 'the store cannot be written'
}
it "reads one whose file is read-only"
chmod 400 "$F"; reads; refuses

it "reads one in a folder that is read-only"
chmod 600 "$F"; chmod 500 "$T/ro"; reads; refuses

it "reads one where both are"
chmod 400 "$F"; reads; refuses

it "says why it would have to write"
chmod 700 "$T/ro"; chmod 600 "$F"
if command -v sqlite3 >/dev/null; then
	sqlite3 "$F" "UPDATE store_setting SET value = 'older' WHERE key = 'derived_hash'"
	chmod 400 "$F"
	as list; code 7; err_has 'has to be made anew: '; err_has 'the store cannot be written'
	chmod 600 "$F"
	as list; code 0
else
	skip 'no sqlite3'
fi

it "does not read a log that it cannot, and says what to do"
chmod 700 "$T/ro"
printf 'not empty' >"$F-wal"
chmod 500 "$T/ro"
as list; code 7; err_has 'has left a log'; err_has 'copy both files'
chmod 700 "$T/ro"; rm "$F-wal"; chmod 600 "$F"
as list -n 1; code 0; out_has d4861786

it "reads what somebody who writes just now has in the log"
$nobody "$ARBOR" sync --watch --store "$F" --source "$T/src" >/dev/null 2>"$T/w.err" &
pid=$!
n=0
until grep -qF '29 files' "$T/w.err" || [ $((n += 1)) -gt 1200 ]; do sleep 0.05; done
echo '{"type":"user","uuid":"c0de","message":{"role":"user","content":"xylophone"}}' \
	>>"$T/src/projects/-home-dev-webshop/2396d03e-3b6d-406b-8ec3-9579853cd7ff.jsonl"
n=0
until as search xylophone && [ "$rc" = 0 ] || [ $((n += 1)) -gt 1200 ]; do sleep 0.05; done
chmod 500 "$T/ro"
as search xylophone; code 0
chmod 700 "$T/ro"
kill "$pid"; wait "$pid"
as check; code 0
the_end
