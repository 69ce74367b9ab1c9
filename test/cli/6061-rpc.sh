#!/bin/sh
# arbor rpc: another program calls methods by JSON-RPC on standard input and output.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
arbor sync --source demo
mkfifo "$T/to" "$T/from"

# A server that can be talked to: say sends a line, hear reads one into $line.
begin() { # ARG...
	"$ARBOR" rpc --stdio "$@" <"$T/to" >"$T/from" 2>"$T/err" &
	server=$!
	exec 3>"$T/to" 4<"$T/from"
}
say() { printf '%s\n' "$1" >&3; }
hear() { line=; IFS= read -r line <&4; }
end() { exec 3>&- 4<&-; wait "$server"; rc=$?; }
# hear the next line and compare it, or a part of it.
hears() { hear; [ "$line" = "$1" ] || fail "heard '$line', wanted '$1'"; }
hears_of() { hear; case $line in *"$1"*) ;; *) fail "heard '$line', wanted something with '$1'" ;; esac; }
request() { printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}\n' "$1" "$2" "${3:-{\}}"; }
# Messages in a file, answers in $T/out.
talk() { "$ARBOR" rpc --stdio "$@" >"$T/out" 2>"$T/err"; rc=$?; }

it "answers a call with one result, by the id it was given"
arbor call hub.hash; hash=$(sed 's/{"v":1,//' "$T/out")
begin
say "$(request 1 hub.hash)"; hears "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{$hash}"
say "$(request '"a b"' hub.hash)"; hears "{\"jsonrpc\":\"2.0\",\"id\":\"a b\",\"result\":{$hash}"
say "$(request -5 hub.hash)"; hears_of '"id":-5,'
end; code 0; check test ! -s "$T/err"

it "gives streams as notices, and says in the end how many"
arbor call storage.sources; sed 's/^{"v":1,/{/' "$T/out" >"$T/want"
request 7 storage.sources | talk; code 0
sed -n 's/^{"jsonrpc":"2.0","method":"$\/item","params":{"id":7,"item":\(.*\)}}$/\1/p' "$T/out" >"$T/got"
same "$T/want" "$T/got"
check test "$(tail -n 1 "$T/out")" = '{"jsonrpc":"2.0","id":7,"result":29}'
check test "$(wc -l <"$T/out")" -eq 30

it "gives bytes as base64"
request 7 storage.export '{"file":"history.jsonl"}' | talk; code 0
sed -n 's/.*"base64":"\([^"]*\)".*/\1/p' "$T/out" | base64 -d >"$T/got"
same demo/history.jsonl "$T/got"
out_has "\"id\":7,\"result\":$(wc -c <demo/history.jsonl)}"

it "tells notes, which are for people"
request 1 memory.sessions '{"limit":1}' | talk; code 0
out_has '{"jsonrpc":"2.0","method":"$/note","params":{"id":1,"text":"1 of '

it "says what is wrong with a message, and goes on"
begin
say 'Hello'; hears_of '"id":null,"error":{"code":-32700,'
say '{"jsonrpc":"2.0","id":4,"method":"x","params":[1]}'; hears_of '"id":4,"error":{"code":-32600,'
say '[{"jsonrpc":"2.0","id":1,"method":"hub.hash"}]'; hears_of '"id":null,"error":{"code":-32600,'
say '{"jsonrpc":"2.0","id":null,"method":"hub.hash"}'; hears_of '"id":null,"error":{"code":-32600,'
say ''
say '{"jsonrpc":"2.0","method":"hub.hash"}' # a notice: nobody waits for an answer
say '{"jsonrpc":"2.0","id":9,"result":1}'   # an answer to nothing
say "$(request 5 hub.hash)"; hears_of '"id":5,"result"'
end; code 0

it "says what is wrong with a call"
begin
say "$(request 1 storage.sorces)"; hears_of '"error":{"code":-32601,"message":"no method '
say "$(request 2 storage.generations)"; hears_of '"error":{"code":-32602,"message":"storage.generations: file: missing'
say "$(request 3 storage.generations '{"file":"nowhere"}')"; hears_of '"error":{"code":-32001,"message":"'
case $line in *'"data":{"status":"not_found"}}}') ;; *) fail "no status in $line" ;; esac
end

it "lets nobody do more than was said when it was started"
rm -rf "$T/other" && cp -R demo "$T/other"
sync=$(request 1 memory.sync "{\"source\":\"$T/other\"}")
sql=$(request 2 storage.sql '{"query":"SELECT 1"}')
printf '%s\n' "$sync" "$sql" | talk; code 0
out_has '"id":1,"error":{"code":-32008,"message":"sync needs the scope'
out_has '"id":2,"error":{"code":-32008,"message":"sql needs the scope'
printf '%s\n' "$sync" "$sql" | talk --scopes read,write,drive,approve; code 0
out_has '"id":1,"result":'
out_has '"id":2,"error":{"code":-32008,"message":"sql needs the scope'
request 3 hub.call '{"method":"storage.sql","params":{"query":"SELECT 1"}}' | talk --scopes read,write; out_has '"code":-32008'
request 4 hub.hubs | talk --scopes read,write; out_has '"code":-32008'
printf '%s\n' "$sync" | talk --scopes write; out_has '"id":1,"result":'
request 5 hub.hash | talk --scopes write; out_has '"code":-32008'
talk --scopes everything </dev/null; code 2; err_has 'none of read, write, drive, approve'
talk --scopes local </dev/null; code 2
arbor rpc </dev/null; code 2; err_has '--stdio'

it "believes a route, which can only take away"
printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":{},"route":%s}\n' \
	1 hub.hash '{"scopes":[]}' 2 hub.hash '{"scopes":["local","read"]}' 3 hub.hash '{"via":7}' \
	4 hub.hubs '{"scopes":["local"]}' 5 hub.hash '{"timeout_ms":60000,"via":["x"],"shallow":true}' | talk
out_has '"id":1,"error":{"code":-32008'; out_has '"id":2,"result"'; out_has '"id":3,"error":{"code":-32602'
out_has '"id":4,"error":{"code":-32008'; out_has '"id":5,"result"'

it "runs several calls at once, and ends one that is cancelled"
begin --scopes read,write
say "$(request 1 memory.sync "{\"source\":\"$T/other\",\"watch\":true}")"
hear; while case $line in *'"event":"summary"'*) false ;; esac; do hear; done
for id in 2 3 4; do say "$(request $id hub.hash)"; hears_of "\"id\":$id,\"result\""; done
say "$(request 1 hub.hash)"; hears_of '"id":1,"error":{"code":-32602,"message":"a call with this id is under way'
say '{"jsonrpc":"2.0","method":"$/cancel","params":{"id":77}}'
say '{"jsonrpc":"2.0","method":"$/cancel","params":{"id":1}}'
hears_of '"id":1,"error":{"code":-32014,'
say "$(request 1 hub.hash)"; hears_of '"id":1,"result"'
end; code 0

it "tells whoever asks for too much at once to come again"
begin --scopes read,write
i=0; while [ $i -lt 16 ]; do say "$(request $i memory.sync "{\"source\":\"$T/other\",\"watch\":true}")"; i=$((i + 1)); done
while [ $i -lt 272 ]; do say "$(request $i hub.hash)"; i=$((i + 1)); done
say "$(request 999 hub.hash)"
hear; while case $line in *'"id":999,'*) false ;; esac; do hear; done
case $line in *'"error":{"code":-32007,"message":"too many calls at once"'*) ;; *) fail "heard $line" ;; esac
say '{"jsonrpc":"2.0","method":"$/cancel","params":{"id":3}}' # and the waiting ones get their turn
hear; while case $line in *'"id":271,"result"'*) false ;; esac; do hear; done
end; code 0

it "ends calls under way when nobody reads any more, whatever else is open"
begin --scopes read,write
say "$(request 1 memory.sync "{\"source\":\"$T/other\",\"watch\":true}")"; hear
exec 4<&-
wait "$server"; rc=$?; code 0
exec 3>&-

it "lets calls under way end when there will be no more"
{ request 1 storage.dump; request 2 hub.hash; } >"$T/requests"
talk <"$T/requests"; code 0; out_has '"id":2,"result"'; out_has '"id":1,'

it "ends by the signal it gets"
begin --scopes read,write
say "$(request 1 memory.sync "{\"source\":\"$T/other\",\"watch\":true}")"; hear
kill -TERM "$server"; wait "$server"; rc=$?; code 143
exec 3>&- 4<&-

it "makes methods wait for a slow reader, and keeps nothing"
mkdir -p "$T/big/projects/p"
head -c 12000000 /dev/urandom | base64 -w 1000 >"$T/big/projects/p/big.jsonl"
ARBOR_HOME=$T/bigger "$ARBOR" sync -q --source "$T/big"
ARBOR_HOME=$T/bigger begin
say "$(request 1 storage.export '{"file":"projects/p/big.jsonl"}')"
hear
read_so_far() { sed -n 's/^rchar: //p' "/proc/$server/io"; }
before=-1; now=$(read_so_far)
while [ "$now" != "$before" ]; do before=$now; sleep 0.3; now=$(read_so_far); done # it stands still
check test "$now" -lt 8000000
say "$(request 2 hub.hash)" # and gets its turn between two pieces
hear; n=1; while case $line in *'"id":2,'*) false ;; esac; do hear; n=$((n + 1)); done
check test $n -lt 40
exec 3>&-
{ printf '%s\n' "$line"; cat <&4; } >"$T/rest"
wait "$server"; rc=$?; code 0; exec 4<&-
check grep -q '"id":1,"result":16' "$T/rest"

it "takes a message in pieces, and refuses one that is too long"
begin
printf '{"jsonrpc":"2.0","id":1,' >&3; sleep 0.1; printf '"method":"hub.hash"' >&3; sleep 0.1; say '}'; hears_of '"id":1,"result"'
{ printf '{"jsonrpc":"2.0","id":2,"method":"'; head -c 67200000 /dev/zero | tr '\0' x; printf '"}\n'; } >&3
hears_of '"id":null,"error":{"code":-32600,"message":"the message is too long"'
say "$(request 3 hub.hash)"; hears_of '"id":3,"result"'
end

it "answers a last message that has no line feed, and one that is cut off"
printf '%s' "$(request 8 hub.hash)" | talk; code 0; out_has '"id":8,"result"'
printf '{"jsonrpc":"2.0","id":8,"meth' | talk; code 0; out_has '"id":null,"error":{"code":-32700,'

it "needs no store to say who it is"
ARBOR_HOME=$T/none "$ARBOR" call hub.info >"$T/out"; out_has '"protocol":1,"id":"'
check test ! -e "$T/none"
arbor call hub.info; id=$(sed 's/.*"id":"\([^"]*\)".*/\1/' "$T/out")
request 1 hub.info | talk; out_has "\"id\":\"$id\""; out_has '{"name":"claudecode","version":"'
the_end
