#!/bin/sh
# check-banned.sh: what no source file may contain.
#
#   - functions with a safer form, or with hidden state; a shell, but in tests
#   - in the library, numbers printed or read as the locale of the process has them, and threads that
#     take its signals
#   - notes to self
#   - C lines over 120 columns (a tab counts 8); blanks at line ends
#   - functions over 100 lines
#   - a file that does not open with a comment saying what it is
#
# A line with "lint: allow" (and the reason) is excused. Prints file:line of each
# violation; fails when there is one.
set -eu
cd "$(dirname "$0")/.."

c_files=$(find include src test fuzz bench tools examples -name '*.[ch]' | sort)
scripts=$(find .ci tools test bench demo -name '*.sh' -o -path .ci/run -o -path test/run | sort)

bad=0
# shellcheck disable=SC2086 # lists of files; none has a blank in its name
LC_ALL=C awk '
function complain(line, why) {
	if ($0 ~ /lint: allow/)
		return
	printf "%s:%d: %s\n", FILENAME, line, why
	bad = 1
}

function columns(line,    n, parts, i, width) {
	n = split(line, parts, "\t")
	for (i = 1; i <= n; i++) {
		# Bytes that continue a UTF-8 character take no column.
		gsub(/[\200-\277]/, "", parts[i])
		width += length(parts[i])
		if (i < n)
			width += 8 - width % 8
	}
	return width
}

BEGIN {
	banned = "(^|[^A-Za-z0-9_])(strcpy|stpcpy|strcat|v?sprintf|strtok|ato[il]|gets|gmtime|localtime" \
		 "|asctime|ctime|alloca|tmpnam|mktemp)[ \t]*\\("
	locale = "%[-+#0-9.*]*L?[aefgAEFG][^a-z]|(^|[^A-Za-z0-9_])(strto(d|f|ld)|atof|setlocale|to(upper|lower)" \
		 "|is(alpha|alnum|upper|lower|space|punct|print)|strn?casecmp)[ \t]*\\("
	shell = "(^|[^A-Za-z0-9_])(system|popen)[ \t]*\\("
}
FNR == 1 {
	is_c = FILENAME ~ /\.[ch]$/
	is_script = !is_c
	start = 0
	if (is_c && $0 !~ /^\/\*/)
		complain(1, "does not open with a comment")
}
FNR == 2 && is_script && $0 !~ /^#/ { complain(2, "does not open with a comment") }

# Not in comments that go over several lines.
is_c && !/^ \*/ && ($0 ~ banned || ($0 ~ shell && FILENAME !~ /^test\//)) { complain(FNR, "a banned function") }
is_c && FILENAME ~ /^src\// && FILENAME !~ /^src\/face\// && !/^ \*/ && $0 ~ locale {
	complain(FNR, "depends on the locale")
}
is_c && FILENAME ~ /^src\// && !/^ \*|^\/\*/ && /(pthread|thrd)_create *\(/ { complain(FNR, "a thread that takes signals: thread_start()") }
/(^|[^A-Za-z0-9_])(TO[D]O|FIX[M]E|X[X]X)([^A-Za-z0-9_]|$)/ { complain(FNR, "a note to self") }
is_c && length($0) > 90 && columns($0) > 120 { complain(FNR, "over 120 columns") }
/[ \t]$/ { complain(FNR, "blanks at the end of the line") }

is_c && /^\{/ { start = FNR }
is_c && /^\}/ && start {
	if (FNR - start - 1 > 100)
		complain(start, "a function of " FNR - start - 1 " lines")
	start = 0
}
END { exit bad }' $c_files $scripts || bad=1
exit $bad
