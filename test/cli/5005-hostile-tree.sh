#!/bin/sh
# Conversations that were made to hurt: whatever they hang on, and however much they hold,
# tree, log and show end with all that was said, once.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
P=$T/.claude/projects/p
mkdir -p "$P"
export PAGER=cat
n=0

# Each conversation in a file of its own.
next() {
	n=$((n + 1))
	id=$(printf '0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4%03x' $n)
	file=$P/$id.jsonl
}
user() { # UUID PARENT TEXT [SECOND]
	printf '{"type":"user","uuid":"%s","parentUuid":"%s","timestamp":"2026-01-01T00:%02d:00.000Z","message":{"role":"user","content":"%s"}}\n' \
		"$1" "$2" "${4:-1}" "$3"
}
answer() { # UUID PARENT TEXT [SECOND]
	printf '{"type":"assistant","uuid":"%s","parentUuid":"%s","timestamp":"2026-01-01T00:%02d:30.000Z","message":{"id":"m%s","role":"assistant","content":[{"type":"text","text":"%s"}]}}\n' \
		"$1" "$2" "${4:-1}" "$1" "$3"
}
is_json() { # FILE: a value a line
	if command -v node >/dev/null; then
		node -e 'for (const l of require("fs").readFileSync(process.argv[1], "utf8").split("\n")) if (l) JSON.parse(l)' "$1" ||
			fail "$1 is not JSON"
	fi
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null || fail "$1 is not UTF-8"
}
# Every way to look at it, for people and for programs.
look() { # ID
	for how in "tree $1" "tree $1 --messages --agents" "log $1" "log $1 --as-sent" "show $1"; do
		# shellcheck disable=SC2086 # words
		arbor $how --json; code 0; is_json "$T/out"
		# shellcheck disable=SC2086 # words
		on_terminal $how; code 0
	done
}
turns() { # ID: texts of all turns, sorted
	arbor tree "$1" --json; code 0
	sed -n 's/.*"kind":"turn".*"text":"\([^"]*\)".*/\1/p' "$T/out" | sort | tr '\n' ' '
}

it "draws a line that hangs on itself, and circles"
next; self=$id
{ user a1 a1 self; answer a2 a1 one; } >"$file"
next; circle=$id
{ user b1 b3 first 1; answer b2 b1 two 2; user b3 b2 third 3; } >"$file"
arbor sync; code 0
check test "$(turns "$self")" = "self "
check test "$(turns "$circle")" = "first third "
look "$self"; look "$circle"

it "draws turns that continue each other"
next; three=$id
{
	user c1 nowhere early 1
	printf '{"type":"system","subtype":"compact_boundary","uuid":"c2","parentUuid":null,"logicalParentUuid":"c4","content":"x"}\n'
	user c3 c2 middle 20
	user c4 elsewhere late 40
	user c4 elsewhere late 40
} >"$file"
next
{
	printf '{"type":"system","subtype":"compact_boundary","uuid":"d1","parentUuid":null,"logicalParentUuid":"d4","content":"x"}\n'
	user d2 d1 one 1
	printf '{"type":"system","subtype":"compact_boundary","uuid":"d3","parentUuid":null,"logicalParentUuid":"d2","content":"x"}\n'
	user d4 d3 two 9
} >"$file"
arbor sync; code 0
check test "$(turns "$id")" = "one two "
look "$id"
check test "$(turns "$three")" = "early late middle "
look "$three"

it "takes lines with one uuid that are a prompt here and an event there, in any order"
pair() { # FIRST SECOND: files of one line each
	next; one=$id; printf '%s\n' "$1" >"$file"
	next; other=$id; printf '%s\n' "$2" >"$file"
}
said='"uuid":"UUID","parentUuid":null,"timestamp":"2026-01-01T00:00:00.000Z"'
prompt="{\"type\":\"user\",$said,\"message\":{\"role\":\"user\",\"content\":\"hello\"}}"
k=0
for event in '"type":"system","subtype":"informational","content":"x",' '"type":"progress",' '"type":"unheard-of",' '"type":"file-history-snapshot",' ''; do
	for order in 1 2 3; do
		k=$((k + 1))
		case $order in
		1) pair "$prompt" "{$event$said}" ;;
		2) pair "{$event$said}" "$prompt" ;;
		3) pair "{$event$said,\"n\":1}" "{$event$said,\"n\":2}" ;;
		esac
		for f in "$one" "$other"; do
			sed -i "s/UUID/$(printf '0b7f3c1e-1111-4000-8000-%012d' $k)/" "$P/$f.jsonl"
		done
		arbor sync; code 0
		for f in "$one" "$other"; do
			arbor tree "$f" --json; check test "$rc" -le 1
			arbor log "$f" --json; check test "$rc" -le 1
			arbor branches "$f" --json; check test "$rc" -le 1
		done
	done
done
arbor dump --logical; code 0
check test "$(grep '^tree ' "$T/out" | cut -d ' ' -f 2 | sort | uniq -d | wc -l)" -eq 0

it "hangs a line that names itself on nothing, whether it comes with others of its uuid or later"
next
user 99999999-1111-4000-8000-000000000001 '' first 1 >"$file"
arbor sync; code 0
user 99999999-1111-4000-8000-000000000001 99999999-1111-4000-8000-000000000001 second 2 >>"$file"
arbor sync; code 0
"$ARBOR" dump --logical >"$T/lived"
"$ARBOR" sync -q --store "$T/fresh.db"; "$ARBOR" dump --logical --store "$T/fresh.db" >"$T/fresh"
check cmp "$T/lived" "$T/fresh"

it "goes down a chain of 20,000 and over 20,000 branches"
next; deep=$id
awk 'BEGIN { for (i = 1; i <= 20000; i++) printf "{\"type\":\"%s\",\"uuid\":\"e%d\",\"parentUuid\":\"e%d\",\"message\":{\"content\":\"t\"}}\n", i % 2 ? "user" : "assistant", i, i - 1 }' >"$file"
next; wide=$id
{
	user f0 '' root
	awk 'BEGIN { for (i = 1; i <= 20000; i++) printf "{\"type\":\"user\",\"uuid\":\"f%d\",\"parentUuid\":\"f0\",\"message\":{\"content\":\"t\"}}\n", i }'
} >"$file"
arbor sync; code 0
arbor log "$deep" --json; code 0; check test "$(wc -l <"$T/out")" -eq 20001
arbor log "$deep" --as-sent --through --json; code 0; check test "$(wc -l <"$T/out")" -eq 20001
arbor tree "$deep" --messages --json; code 0; check test "$(grep -c '"kind":"message"' "$T/out")" -eq 20000
arbor tree "$wide" --json; code 0; check test "$(grep -c '"kind":"turn"' "$T/out")" -eq 20001
arbor tree "$wide" --messages --json; out_has '"branches":20000'
arbor tree "$wide"; code 0; arbor tree "$deep"; code 0

it "shows lines of megabytes"
big=$(head -c 3000000 /dev/zero | tr '\0' w)
next
{ user g1 '' "big $big"; answer g2 g1 "$big"; user g3 g2 end; } >"$file"
arbor sync; code 0
look "$id"
arbor log "$id" --json; check test "$(wc -c <"$T/out")" -gt 6000000
arbor tree "$id" --json; check test "$(wc -c <"$T/out")" -lt 20000

it "shows broken UTF-8, halves of characters, script and escapes as what they are"
next
{
	user h1 '' "$(printf 'bad \200\377\300\257 end')"
	answer h2 h1 '\ud83d alone <script>alert(1)</script> \u001b[31mred \u0000 nul'
	printf '{"type":"assistant","uuid":"h4","parentUuid":"h2","message":{"id":"mh2","content":[{"type":"tool_use","id":"h","name":"n","input":{"k\377":"v\377"}}]}}\n'
	user h3 h2 '</pre><img src=x onerror=alert(1)>'
	printf 'not JSON \033[31m\n\n{"type":"user"\n[]\n"x"\n{"type":7,"uuid":[],"parentUuid":{},"message":[]}\n'
} >"$file"
arbor sync; code 0
look "$id"
arbor log "$id" --json; out_has '<script>alert(1)</script>'
arbor log "$id" --as-sent --json; out_has 'onerror=alert(1)'
check test "$(LC_ALL=C tr -d '\n\040-\176\200-\377' <"$T/out" | wc -c)" -eq 0

it "hangs what names a sub-agent's message where it hangs however the file came in"
next
printf '{"type":"progress","uuid":"t1","data":{"type":"agent_progress","agentId":"a51c7987e0cb69ab7","prompt":"p","message":{"type":"user","uuid":"t2","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"told"}}}}\n' >"$file"
arbor sync; code 0
printf '{"parentUuid":"t2","uuid":"t3"}\n' >>"$file"
arbor sync; code 0
arbor dump --logical; code 0; cp "$T/out" "$T/lived"
arbor rebuild; code 0
arbor dump --logical; code 0; check cmp "$T/lived" "$T/out"

it "shows a conversation of nothing, or of nothing that was said"
next; empty=$id
echo >"$file"
next
printf '{"type":"summary","summary":"s","leafUuid":"x"}\n{"type":"last-prompt","leafUuid":null,"explicit":true}\n' >"$file"
arbor sync; code 0
for i in "$empty" "$id"; do
	arbor tree "$i" --json; check test "$rc" -le 1
	arbor log "$i" --json; code 1
	arbor log "$i" --as-sent; code 1
done
the_end
