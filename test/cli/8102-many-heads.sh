#!/bin/bash
# Many sessions in one tree: where each of them is, as 'tree', 'branches', 'list' and 'diff' tell it.
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py ANTHROPIC_API_KEY=none
W=$T/work ID=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01
P=$T/.claude/projects/${W//[^a-zA-Z0-9]/-}
F=$P/$ID.jsonl
mkdir -p "$W" "$P"
u() { printf '000000%02d-0000-4000-8000-000000000000' "$1"; }
# line FILE N PARENT REST: a line, hung on another (0 = none).
line() {
	local parent=null
	[ "$3" = 0 ] || parent="\"$(u "$3")\""
	printf '{"parentUuid":%s,"isSidechain":false,"uuid":"%s","timestamp":"%s","cwd":"%s","sessionId":"%s","version":"2.1.197",%s}\n' \
		"$parent" "$(u "$2")" "${at:-2026-11-15T10:00:$(printf %02d "$2").000Z}" "$W" "$(basename "$1" .jsonl)" "$4" >>"$1"
}
says() { line "$1" "$2" "$3" "\"type\":\"user\",\"promptSource\":\"typed\",\"message\":{\"role\":\"user\",\"content\":\"$4\"}"; }
answers() { line "$1" "$2" "$3" "\"type\":\"assistant\",\"message\":{\"id\":\"m$2\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"opus\",\"content\":[{\"type\":\"text\",\"text\":\"$4\"}]}"; }
get() { jq -r "$1" "$T/out"; }
fork() { arbor fork "$@" --json; code 0; }
drawn() { screen=80x60 on_terminal "$@" --color never --no-pager; code 0; tr -d '\r' <"$T/out" >"$T/plain"; mv "$T/plain" "$T/out"; check test "$(wc -L <"$T/out")" -le 80; }

says "$F" 1 0 'first question'; answers "$F" 2 1 'First answer.'
says "$F" 3 2 'second question'; answers "$F" 4 3 'Second answer.'
says "$F" 5 4 'third question'; answers "$F" 6 5 'Third answer.'
arbor sync; code 0
for n in $(seq 12); do fork "$ID@$(u 4)" "second$n"; done
for n in 1 2 3; do fork "$ID" "third$n"; done

it "draws where the session is that was asked for, however many are there"
for name in second7 second12 third2; do
	drawn tree "$name"; check grep -q "⇐ $name ← .* +[0-9]*\$" "$T/out"; check test "$(grep -c "⇐ " "$T/out")" = 1
	arbor tree "$name"; check grep -q "⇐ $name ← " "$T/out"
	drawn tree "$name" --messages; check grep -q "assistant .*⇐ $name" "$T/out"
done
drawn tree "$ID"; check grep -q 'third question.*⇐ 0b7f3c1e ← third1' "$T/out"
it "tells programs each session once, the one that was asked for first"
arbor tree second7 --json; code 0
check test "$(get 'select(.text == "second question") | .here | [length, .[0].name, .[0].asked, .[1].name] | join(" ")')" = '12 second7 true second1'
check test "$(get 'select(.text == "third question") | .here | map(.name // .session) | join(" ")')" = "third1 third2 third3 $ID"
check test "$(get 'select(.kind == "turn") | "\(.number) \(.current)"' | tr '\n' '|')" = '1 true|2 true|3 null|'
it "goes back from where that is, and not from where another has gone on"
turn() { "$ARBOR" tree "$ID" --json | jq -r "select(.text == \"$1 question\") | .id[:8]"; }
drawn tree second7; out_has "here the one at ⇐"; out_has "arbor resume $(turn second)"
drawn tree third1; out_has "here the last"; out_has "arbor resume $(turn third)"
it "follows a name to where it was moved"
fork "$ID" moved; arbor checkout moved "$(u 2)"; code 0
drawn tree moved; check grep -q 'first question.*⇐ moved$' "$T/out"; out_has "arbor resume $(turn first)"
arbor tree moved --json; check test "$(get 'select(.current) | .text')" = 'first question'
arbor delete moved; code 0

it "tells in the list of chats what each was forked from"
arbor chats --json; check test "$(get 'select(.name == "third1") | .made_of')" = "$ID"
drawn chats; check grep -q '^third1  .*  0b7f3c1e  ' "$T/out"

it "lists each end once, with who is on the way there, and no way on which nothing was said"
for name in third2 "$ID"; do
	drawn branches "$name"; check test "$(grep -c ' messages ' "$T/out")" = 1; check grep -q "^\* .* 6 messages  first question  *← $(printf %.8s "$name") +16\$" "$T/out"; out_has 'it has no branches'
done
drawn branches second7; check test "$(grep -c ' messages ' "$T/out")" = 2
check grep -q '^\* .* 4 messages  first question  *← second7 +11$' "$T/out"; check grep -q '^  .* 2 messages  third question  *← third1 +4$' "$T/out"
it "has what was said in forks of forks as ways of their own, each as long as it is itself"
n=21 above=6 of=$ID
for k in 1 2 3 4; do
	fork "$of" "chain$k"; fork "$of" "idle$k"; arbor fork "$of" "chain$k-$k" -q; arbor fork "chain$k" "silent$k" -q
	line="$P/$("$ARBOR" call claudecode.get "{\"session\":\"chain$k\"}" | jq -r .claude_session_id).jsonl"
	at=$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)
	says "$line" $n $above "way $k"; answers "$line" $((n + 1)) $n "Answer $k."; says "$line" $((n + 2)) $((n + 1)) "more of $k"; answers "$line" $((n + 3)) $((n + 2)) "More $k."
	n=$((n + 4)); arbor sync -q
	[ $k -lt 3 ] || of=chain3 above=$((n - 1))
done
arbor branches "$ID" --json; code 0
check test "$(get .id | sort | uniq -d)" = ''
check test "$(get '[.messages, .title, .here[0].name // .here[0].session] | join(" ")' | sort)" = "$(printf '%s way %s chain%s\n' 4 1 1 4 2 2; echo "6 first question $ID"; echo '8 way 3 chain4')"
check test "$(get '.here[].session' | sort | uniq -d)" = ''

it "compares with what has something of its own, and not with what stands at the same end"
fork chain4 untouched; arbor diff chain4 --json; code 0; check test "$(get 'select(.kind == "side") | .messages > 0' | sort -u)" = true
arbor diff "$ID" --json; code 0; check test "$(get 'select(.kind == "side" and .side == "b") | .messages > 0')" = true
the_end
