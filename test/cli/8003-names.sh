#!/bin/bash
# What a name means: where its session is, in which file, and where it goes on when somebody has worked in the client since.
. test/harness/lib.sh
export ARBOR_HOME=$T/store ARBOR_CLAUDE=$PWD/test/harness/claude.py ANTHROPIC_API_KEY=none
W=$T/work ID=0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01
P=$T/.claude/projects/${W//[^a-zA-Z0-9]/-}
F=$P/$ID.jsonl
mkdir -p "$W" "$T/other" "$P"
u() { printf '000000%02d-0000-4000-8000-000000000000' "$1"; }
now() { date -u +%Y-%m-%dT%H:%M:%S.%3NZ; }
# line FILE N PARENT REST: a line, hung on another (0 = none), said just now.
line() {
	local parent=null
	[ "$3" = 0 ] || parent="\"$(u "$3")\""
	printf '{"parentUuid":%s,"isSidechain":false,"uuid":"%s","timestamp":"%s","cwd":"%s","sessionId":"%s","version":"2.1.197",%s}\n' \
		"$parent" "$(u "$2")" "$(now)" "$W" "$(basename "$1" .jsonl)" "$4" >>"$1"
}
says() { line "$1" "$2" "$3" "\"type\":\"user\",\"promptSource\":\"typed\",\"message\":{\"role\":\"user\",\"content\":\"$4\"}"; }
answers() { line "$1" "$2" "$3" "\"type\":\"assistant\",\"message\":{\"id\":\"m$2\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"opus\",\"content\":[{\"type\":\"text\",\"text\":\"$4\"}]}"; }
notes() { line "$1" "$2" "$3" '"type":"attachment","attachment":{"type":"hook_non_blocking_error","hookName":"Stop","stderr":"no"}'; }

# A hook fails after every answer, of which the client makes a note: what follows hangs on that.
says "$F" 1 0 'make the cart right'; answers "$F" 2 1 'The cart is right.'; notes "$F" 3 2; notes "$F" 4 3
says "$F" 5 4 'simplify it'; answers "$F" 6 5 'Simple now.'; notes "$F" 7 6
arbor sync; code 0

get() { jq -r "$1" "$T/out"; }
files() { find "$T/.claude" -name '*.jsonl' | wc -l; }
uuids() { jq -r 'select(.uuid) | .uuid | .[6:8] | tonumber' "$1" | tr '\n' ' '; }
# resumed NAME: which file the client would go on with, and how many there are then.
resumed() { arbor resume "$@" --json; code 0; session=$(get .session); }

it "goes on in the file that was made for it, though the client noted something before the prompt"
arbor fork "$ID@$(u 5)" way --json; code 0; made=$(get .session); file=$(get .path); head=$(get .head); n=$(files)
check test "$(uuids "$file")" = '1 2 3 4 '
resumed way; check test "$session" = "$made"; resumed way; check test "$session" = "$made"; check test "$(files)" = "$n"
check test "$("$ARBOR" log way --json | jq -r 'select(.kind == "message") | .id' | tail -n 1)" = "$head"
it "and chats there"
arbor call claudecode.chat '{"session":"way","prompt":"say on"}'; code 0; arbor call claudecode.get '{"session":"way"}'
check test "$(get .claude_session_id)" = "$made"; check test "$(files)" = "$n"
it "goes on there after a head was moved to such a place"
arbor checkout way "$(u 5)"; code 0; resumed way; moved=$session; check test "$moved" != "$made"; n=$(files)
resumed way; check test "$session" = "$moved"; check test "$(files)" = "$n"

it "means the file of its own, however many others stopped where it is"
for name in alpha beta gamma delta; do arbor fork "$ID@$(u 6)" "$name" --json; code 0; done
for name in alpha beta gamma delta; do
	own=$("$ARBOR" call claudecode.get "{\"session\":\"$name\"}" --json | jq -r .claude_session_id)
	for verb in log tree; do arbor "$verb" "$name" --json; code 0; check test "$(get 'select(.kind == "session") | .id' | head -n 1)" = "$own"; done
	arbor diff "$name" "$ID" --json; code 0; check test "$(get 'select(.side == "a") | .title + " " + .session' | head -n 1)" = "$name $own"
	arbor merge "$name" "$ID" --as prompt --json; code 0; check test "$(get .session)" = "$own"
done
it "goes on with what was said in the client since, in the same file, mirrored or not"
arbor fork "$ID@$(u 6)" mine --json; code 0; made=$(get .session); file=$(get .path)
says "$file" 41 6 'in the client'; answers "$file" 42 41 'Yes, here.'
resumed mine; check test "$session" = "$made"; arbor log mine; out_has 'Yes, here.'
says "$file" 43 42 'and again'; answers "$file" 44 43 'Again here.'; arbor sync; code 0
resumed mine; check test "$session" = "$made"; arbor log mine; out_has 'Again here.'
arbor diff "$ID" mine; code 0; out_has '2 turns, 4 messages'
arbor fork "$ID@$(u 5)" noted --json; code 0; made2=$(get .session); file=$(get .path); says "$file" 45 4 'behind a note'; answers "$file" 46 45 'Behind it.'
resumed noted; check test "$session" = "$made2"; arbor log noted; out_has 'Behind it.'
it "so does a prompt then"
arbor call claudecode.chat '{"session":"mine","prompt":"say more"}'; code 0; arbor call claudecode.get '{"session":"mine"}'; check test "$(get .claude_session_id)" = "$made"
it "but not from where its head was moved away"
arbor checkout mine "$(u 42)"; code 0; resumed mine; check test "$session" != "$made"; arbor log mine; out_has 'Yes, here.'; out_lacks 'Again here.'
it "nor with what another name of the conversation has said"
arbor call claudecode.adopt "{\"name\":\"one\",\"conversation\":\"$made\"}"; code 0; arbor call claudecode.adopt "{\"name\":\"two\",\"conversation\":\"$made\"}"; code 0
arbor call claudecode.chat '{"session":"one","prompt":"say something of one"}'; code 0
resumed two; check test "$session" != "$made"; arbor log two; out_lacks 'something of one'
it "takes a whole conversation to where it ends now"
says "$F" 51 6 'not mirrored yet'; answers "$F" 52 51 'Just said.'
arbor fork "$ID" --json; code 0; check grep -q 'Just said.' "$(get .path)"
says "$F" 53 52 'nor this'; answers "$F" 54 53 'Said right now.'
arbor checkout alpha "$ID"; code 0; arbor log alpha; out_has 'Said right now.'

it "is among the branches where it was moved to, though no file ends there"
says "$F" 55 54 'one more'; answers "$F" 56 55 'One more.'; says "$F" 57 56 'the last'; answers "$F" 58 57 'The last.'
arbor fork "$ID" late --json; code 0; arbor checkout late "$(u 56)"; code 0; arbor branches "$ID" --json; code 0
check test "$(get 'select((.names // [])[] == "late") | "\(.current) \(.here[] | select(.name == "late") | .at | .[0:8])"')" = "true $("$ARBOR" show "$(u 56)" --json | jq -r 'select(.kind == "message") | .id | .[0:8]')"
it "has the ways that lead on from there"
arbor branches late --json; code 0; check test "$(get 'select(.title == "the last") | "\(.messages) \(.current)"')" = '2 false'

it "is taken wherever an id is, and so is the id that 'chats' shows"
arbor fork "$ID" by-id -q; arbor chats --json; short=$(get 'select(.name == "by-id") | .id' | cut -c1-8); own=$(get 'select(.name == "by-id") | .claude_session_id')
# shellcheck disable=SC2086 # words
for words in show log tree branches 'diff late' note "show $short@$(u 2)"; do case $words in note) words="note $short good";; *@*) ;; *) words="$words $short";; esac; arbor $words; code 0; done
resumed "$short"; check test "$session" = "$own"; arbor fork "$short@$(u 2)" --json; code 0
arbor fork "$short" of-id --json; code 0; check test "$(get .from)" = "$own"
arbor checkout "$short" "$(u 2)" --json; code 0; check test "$(get .name)" = by-id
for name in of-id by-id; do arbor delete $name; code 0; done
arbor call claudecode.get '{"session":"beta"}' --json; own=$(get .claude_session_id)
# shellcheck disable=SC2086 # words
for words in 'show beta' 'resolve beta' 'note beta well done' 'tag beta keep' 'bookmark beta b1' "show beta@$(u 2)" 'search right --session beta' 'notes beta'; do arbor $words; code 0; done
arbor show beta --json; check test "$(get 'select(.kind == "session") | .id')" = "$own"
arbor agents beta; err_has 'no sub-agents'; arbor files beta; err_lacks 'is no id'
it "cannot be what could be an id"
arbor fork "$ID" 0b7f3c1e; code 2; err_has 'could be an id; to go on from a message: SESSION@0b7f3c1e'
for name in 0b7f3c1e 0b7f cafe dead-beef 1234; do arbor rename beta $name; code 2; err_has 'could be the beginning of an id'; done
arbor fork "$ID" 0b7f; code 2; arbor adopt 0b7f "$ID"; code 2; err_has 'could be the beginning of an id'
arbor rename beta bad; code 0; arbor rename bad beta; code 0
it "is left by a node only for another of its tree"
O=$P/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e09.jsonl; says "$O" 81 0 'another matter'; answers "$O" 82 81 'It is.'; arbor sync -q; code 0
for verb in fork resume; do arbor $verb "beta@$(u 82)"; code 1; err_has "no node of 'beta' begins with '$(u 82)'"; done
arbor fork "beta@$(u 2)" --json; code 0; arbor fork "beta@$ID@$(u 2)"; code 2
it "is where its own head can be moved to"
arbor checkout beta beta; code 0
it "is needed for what only a session with a name remembers"
for option in '--system-prompt hello' '--metadata {}' '--mcp-config {}' '--loopback off'; do
	# shellcheck disable=SC2086 # two words
	arbor fork "$ID" $option; code 2; err_has "${option%% *} needs a NAME"
done
arbor fork "$ID" --allowed-tools Read --model opus; code 0; out_has '--model opus --allowedTools Read'
it "says which command has an option that this one has not"
arbor resume "$ID" --model opus; code 2; err_has "unknown option '--model'; 'arbor fork' has it"
it "is one word, of so many bytes of text"
arbor fork "$ID" one two; code 2; err_has 'too many arguments; a name is one word'
arbor resume one or another; code 2; err_has "too many arguments; an id or a name is one word, and 'arbor search' finds by words"
arbor resume "$ID" /; code 2; err_has "too many arguments; did you mean '--cwd /'?"
arbor goto x; code 2; err_has "'resume'"
arbor fork "$ID" "$(printf 'n%.0s' $(seq 101))"; code 2; err_has 'it has 101 bytes, and at most 100 will do'
arbor fork "$ID" "$(printf 'n\377')"; code 2; err_has 'no UTF-8'
it "says whose title it is what was a name"
arbor fork "$ID" once --json; code 0; made=$(get .session); arbor rename once now; code 0
for verb in resume fork show tree; do arbor $verb once; code 2; err_has "no session is called 'once'; it is a title, that of $made"; done
arbor delete now; code 0; arbor resume once; code 2; err_has "it is a title, that of $made"; arbor resume now; code 2; err_has 'nor what a session is called'
it "says that nothing is called so"
arbor delete "$ID"; code 1; err_has "no session is called '$ID'"; err_has "'arbor purge $ID' removes it from the store"
arbor fork betta; code 2; err_has "'betta' is no id, nor what a session is called"
arbor fork feedfeed; code 1; err_has "'arbor sync' brings in new ones"

it "is compared up to what was said last, not to what the client noted behind it"
arbor fork "$ID@$(u 2)" early -q; code 0; says "$F" 61 4 'otherwise'; answers "$F" 62 61 'Otherwise.'; arbor sync -q; code 0
arbor diff "$(u 6)" "$(u 62)" --json; code 0; check test "$(get 'select(.kind == "common") | .text')" = 'The cart is right.'
arbor diff "$(u 2)" "$(u 62)" --json; code 0; check test "$(get 'select(.kind == "turn") | .text')" = otherwise
it "is not the only one there, though no file ends there"
arbor call claudecode.adopt "{\"name\":\"p1\",\"conversation\":\"$ID\"}"; code 0; arbor checkout p1 "$(u 56)"; code 0
screen=100x40 on_terminal branches late --color never; code 0; check grep -q '^\* .*← late +[0-9]' "$T/out"

it "is not resumed while an agent of its is at work, but forked beside it"
arbor fork "$ID" busy -q; code 0; arbor call claudecode.chat_async '{"session":"busy","prompt":"wait"}'; code 0
arbor call claudecode.get '{"session":"busy"}'; before=$(cat "$T/out")
arbor resume busy --json; code 6; err_has "'busy' is at work"; arbor call claudecode.get '{"session":"busy"}'
check test "$(get '[.claude_session_id, .head] | join(" ")')" = "$(printf %s "$before" | jq -r '[.claude_session_id, .head] | join(" ")')"
arbor fork busy --json; code 0; arbor stop busy; code 0

it "is drawn in a line of the screen, with what 'fork' takes, however many are there"
for n in 1 2 3 4 5 6; do arbor fork "$ID" "a-rather-long-name-of-the-branch-$n-日本語日本語日本語" -q; code 0; done
screen=80x40 on_terminal tree "$ID" --color never; code 0
check test "$(tr -d '\r' <"$T/out" | wc -L)" -le 80; check grep -q '← .* +[0-9]' "$T/out"
screen=80x200 on_terminal tree "$ID" --messages --color never --no-pager; code 0
check test "$(tr -d '\r' <"$T/out" | wc -L)" -le 80; check grep -q 'assistant .*One more.*← late' "$T/out"; check grep -q '^│     user ' "$T/out"
screen=80x40 on_terminal tree "$ID" --color never; code 0
turn=$(tr -d '\r' <"$T/out" | sed -n 's/^.*● 2  \([0-9a-f]*\)  simplify it.*/\1/p'); arbor fork "$turn" --json; code 0; check test "$(get .prompt)" = 'simplify it'
the_end
