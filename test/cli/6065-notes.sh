#!/bin/sh
# examples/notes does what docs/EXTENDING.md asks of a program that keeps something.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export NOTES_FILE="$T/notes/file"
request() { printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$1" "${2:-{\}}"; }
notes() { request "$@" | examples/notes/notes.py >"$T/out" 2>"$T/err"; rc=$?; }

it "keeps a note, lists it and removes it for good"
notes list; code 0; out_has '"result": 0'
notes add '{"text":"one"}'; code 0; one=$(sed 's/.*"id": "\([^"]*\)".*/\1/' "$T/out")
notes list; out_has '"text": "one"'
notes add '{"text":"two"}'; notes remove "{\"id\":\"$one\"}"; out_has '"result"'
notes remove "{\"id\":\"$one\"}"; out_has '"code": -32016'
notes list; out_lacks '"text": "one"'; out_has '"text": "two"'

it "cuts off a line that was not finished, and loses nothing else"
printf '{"id": "half", "te' >>"$NOTES_FILE"
notes list; code 0; out_has '"result": 1'
notes add '{"text":"three"}'; out_has '"text": "three"'
notes list; out_has '"result": 2'; out_has '"text": "three"'
check test "$(tail -c 1 "$NOTES_FILE" | od -An -tx1 | tr -d ' ')" = 0a

it "takes no parameters that are not right, and says why"
cp "$NOTES_FILE" "$T/before"
notes add '{"text":5}'; out_has "-32602, \"message\": \"'text' has to be a text\""
notes add; out_has "-32602, \"message\": \"'text' is missing\""
notes add '{"text":"x","txet":"x"}'; out_has "'txet' is none of its parameters"
notes hub.resolve '{"handle":7}'; out_has "'handle' has to be a text"
notes hub.schema '{"method":"add"}'; out_has '"result": 1'
same "$T/before" "$NOTES_FILE"

it "waits for whoever has locked the file"
# shellcheck disable=SC2016 # the inner shell expands
flock -x "$NOTES_FILE" sh -c 'while ! [ -e "$0/go" ]; do sleep 0.02; done; printf "{\"id\": \"four\", \"text\": \"4\"}\n" >>"$NOTES_FILE"' "$T" &
locker=$!
n=0; while flock -n -s "$NOTES_FILE" true && [ $n -lt 200 ]; do sleep 0.02; n=$((n + 1)); done
(notes add '{"text":"five"}') &
adder=$!
sleep 0.3; : >"$T/go"; wait $locker $adder
notes list; out_has '"text": "4"'; out_has '"text": "five"'; out_has '"result": 4'
the_end
