#!/bin/sh
# Methods by name: what programs use.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
arbor sync --source demo

it "lists what can be called, a line of JSON each"
arbor call hub.methods; code 0
out_has '{"v":1,"name":"storage.sources","verb":"sources",'
out_has '{"v":1,"name":"hub.hash",'

it "names its methods the same at every start"
arbor call hub.hash; code 0; cp "$T/out" "$T/first"
arbor call hub.hash; same "$T/first" "$T/out"

it "describes every method it lists"
arbor call hub.methods; grep -c '' "$T/out" >"$T/methods"
arbor call hub.schema; grep -c '"type":"method"' "$T/out" >"$T/schemas"
same "$T/methods" "$T/schemas"
out_has '"additionalProperties":false'

it "needs no store to describe itself"
arbor call hub.methods --store "$T/none.db"; code 0
check test ! -e "$T/none.db"

it "gives files, versions and bytes"
arbor call storage.sources; code 0; check test "$(grep -c '' "$T/out")" -eq 29
arbor call storage.generations '{"file":"history.jsonl"}'; code 0; out_has '"number":1,"bytes":1502'
arbor call storage.export '{"file":"history.jsonl"}'; code 0; same demo/history.jsonl "$T/out"
arbor call arbor.check; code 0; out_has '"ok":true'

it "mirrors, and tells what happened to each file"
mkdir -p "$T/own/projects/p" && echo '{}' >"$T/own/projects/p/1.jsonl"
arbor call memory.sync "{\"source\":\"$T/own\"}"; code 0
out_has '{"v":1,"event":"added","path":"projects/p/1.jsonl"}'
out_has '{"v":1,"event":"summary","root":"claude-2","files":1,"unchanged":0,"new_sessions":0,"updated_sessions":0,"new_bytes":3,"store_bytes":'
arbor call memory.sync '{"source":"nowhere"}'; code 1; err_has nowhere

it "takes parameters as options, too"
arbor call storage.generations --file history.jsonl; code 0; cp "$T/out" "$T/first"
arbor call storage.generations history.jsonl; code 0; same "$T/first" "$T/out"
arbor call storage.generations '{"file":"history.jsonl"}'; code 0; same "$T/first" "$T/out"
arbor call --store "$T/store/arbor.db" storage.generations --file=history.jsonl; code 0; same "$T/first" "$T/out"
arbor call storage.export --file history.jsonl --generation 1; code 0; same demo/history.jsonl "$T/out"

it "calls by a method, too, but not itself"
arbor call hub.hash; hash=$(sed 's/.*"hash"/"hash"/' "$T/out")
arbor call hub.call --method hub.hash; code 0; out_is "{\"v\":1,\"item\":{$hash}"
arbor call hub.call '{"method":"storage.generations","params":{"file":"history.jsonl"}}'; code 0
out_has '"item":{"number":1,"bytes":1502'
arbor call hub.call --method hub.call; code 2; err_has 'does not call itself'
arbor call hub.call --method storage.export; code 2; err_has 'bytes'
arbor call hub.call '{"method":"storage.generations","params":{}}'; code 2; err_has 'file: missing'

it "says what is wrong with a call"
arbor call; code 2; err_has 'usage: arbor call'
arbor call storage.generations --file; code 2; err_has "'--file' needs a value"
arbor call storage.export --file x --generation y; code 2; err_has "--generation: 'y' is not a whole number"
arbor call storage.export '{"file":"x","generation":0}'; code 2; err_has ' generation: 0 is less than 1'
arbor call storage.sorces; code 1; err_has "did you mean 'storage.sources'?"
arbor call storage.generations '{}'; code 2; err_has 'file: missing'
arbor call storage.generations '{"fil":"x"}'; code 2; err_has "did you mean 'file'?"
arbor call storage.export '{"file":"history.jsonl","generation":9}'; code 1; err_has 'generations'
arbor call storage.export '{'; code 2
the_end
