#!/bin/sh
# replay.sh PROGRAM FOLDER: one fuzz target over its corpus, as one test.
name=${1##*/}
if [ -z "$(ls -A "$2" 2>/dev/null)" ]; then
	echo "not ok 1 - $name has no corpus in $2"
elif "$1" "$2"; then
	echo "ok 1 - $name survives its corpus"
else
	echo "not ok 1 - $name survives its corpus"
fi
echo 1..1
