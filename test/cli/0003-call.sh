#!/bin/sh
# Methods by name: what programs use.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
arbor sync --source demo

it "lists what can be called, a line of JSON each"
arbor call hub.methods; code 0
out_has '{"name":"storage.sources",'
out_has '{"name":"hub.hash",'

it "names its methods the same at every start"
arbor call hub.hash; code 0; cp "$T/out" "$T/first"
arbor call hub.hash; same "$T/first" "$T/out"

it "describes every method it lists"
arbor call hub.methods; grep -c '' "$T/out" >"$T/methods"
arbor call hub.schema; grep -c '' "$T/out" >"$T/schemas"
same "$T/methods" "$T/schemas"
out_has '"additionalProperties":false'

it "needs no store to describe itself"
arbor call hub.methods --store "$T/none.db"; code 0
check test ! -e "$T/none.db"

it "gives files, versions and bytes"
arbor call storage.sources; code 0; check test "$(grep -c '' "$T/out")" -eq 27
arbor call storage.generations '{"file":"history.jsonl"}'; code 0; out_has '"number":1,"bytes":1502'
arbor call storage.export '{"file":"history.jsonl"}'; code 0; same demo/history.jsonl "$T/out"
arbor call arbor.check; code 0; out_has '"ok":true'

it "mirrors, and tells what happened to each file"
mkdir -p "$T/own/projects/p" && echo '{}' >"$T/own/projects/p/1.jsonl"
arbor call memory.sync "{\"source\":\"$T/own\"}"; code 0
out_has '{"event":"added","path":"projects/p/1.jsonl"}'
out_has '{"event":"summary","root":"claude-2","files":1,"unchanged":0,"new_bytes":3}'
arbor call memory.sync '{"source":"nowhere"}'; code 1; err_has nowhere

it "says what is wrong with a call"
arbor call storage.sorces; code 1; err_has "did you mean 'storage.sources'?"
arbor call storage.generations; code 2; err_has 'file: missing'
arbor call storage.generations '{"fil":"x"}'; code 2; err_has "did you mean 'file'?"
arbor call storage.export '{"file":"history.jsonl","generation":9}'; code 1; err_has 'generations'
arbor call storage.export '{'; code 9
the_end
