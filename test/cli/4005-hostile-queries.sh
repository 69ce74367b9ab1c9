#!/usr/bin/env bash
# Whatever is asked: an answer or a sentence, soon, and nothing of how it is looked for.
. test/harness/lib.sh
export ARBOR_HOME=$T/store
cp -r demo "$T/claude"
arbor sync --source "$T/claude"; check test "$rc" = 0

# Asks what is in $query.
ask() {
	local before=$SECONDS word
	arbor search -- "$query"
	[ "$rc" -le 2 ] || fail "'${query:0:60}' ended with $rc: $(head -c 300 "$T/err")"
	[ $((SECONDS - before)) -le 10 ] || fail "'${query:0:60}' took $((SECONDS - before)) s"
	# What was typed may be repeated in quotes.
	sed "s/'.*'//; s/^arbor: search: [a-z]*:[^ ]*//" "$T/err" >"$T/said"
	for word in fts5 FTS5 SQL sqlite syntax MATCH 'no such' malformed; do
		! grep -qF -- "$word" "$T/said" || fail "'${query:0:60}': $(head -c 300 "$T/err")"
	done
	LC_ALL=C grep -q "$(printf '[\001-\010\033]')" "$T/err" && fail "'${query:0:60}': a control character is said"
	return 0
}

it "answers every one of three hundred odd queries"
lines=0
while IFS= read -r line; do
	query=$(printf '%bx' "$line"); query=${query%x}
	ask
	lines=$((lines + 1))
done < <(grep -v '^#' test/table/hostile.test)
check test "$lines" -ge 300

it "answers long ones"
for part in 'a ' 'a' '(' ')' '"' '-a ' 'NOT ' 'a OR ' 'OR ' '(a OR ' 'NEAR(' 'NEAR(a b) ' 'role:user ' 'tool:x ' 'file:a/b ' 'x:y ' '💥' '検' '*' 'a* ' 'camelCase ' $'\n'; do
	query=$(printf "%*s" 10240 '' | sed "s/ /$(printf '%s' "$part" | sed 's/[\/&]/\\&/g' | tr '\n' ' ')/g" | head -c 10240)
	ask
done

it "answers in SQL's words only where SQL was asked for"
query='a OR b -c NEAR(d e, 2) (f'
arbor sql "SELECT count(*) FROM messages WHERE messages MATCH 'cents OR \"(('"; code 0
arbor sql "SELECT count(*) FROM messages WHERE messages MATCH 'role:user NOT x'"; code 0

the_end
