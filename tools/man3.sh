#!/bin/sh
# tools/man3.sh HEADER: prints the manual page arbor(3), made of the header itself: its comments as
# paragraphs, its declarations below the comment in front of them. So the page cannot lack a
# function, or tell of one that has changed.
#
# What it relies on: comments begin in the first column and stand in front of what they explain, an
# empty line ends that; "/* ---- Title" begins a section; lines set in by four blanks in a comment
# are code. What stands between #if and #endif for compilers is left out.
set -eu
header=${1:?usage: tools/man3.sh HEADER}

awk '
function safe(line) {
	gsub(/\\/, "\\e", line)
	return line ~ /^[.\047]/ ? "\\\\&" line : line
}

# mdoc wants every sentence on a line of its own.
function sentences(line) {
	while (match(line, /[.!?] +[^ ]/)) {
		print safe(substr(line, 1, RSTART))
		line = substr(line, RSTART + RLENGTH - 1)
	}
	print safe(line)
}

# One line of a comment, without its marks.
function text(line) {
	if (line == "") {
		end_code()
		fresh = 1
	} else if (line ~ /^    /) {
		if (!code) {
			print ".Bd -literal -offset indent"
			code = 1
		}
		print safe(substr(line, 5))
	} else {
		end_code()
		if (fresh && !first)
			print ".Pp"
		fresh = first = 0
		sentences(line)
	}
}

function end_code() {
	if (code)
		print ".Ed"
	code = 0
}

function section(title) {
	print ".Ss " title
	first = fresh = 1
}

# A line of a declaration.
function declare(line) {
	if (!code) {
		print ".Bd -literal"
		code = 1
	}
	sub(/^ARBOR_PUBLIC /, "", line)
	sub(/^\t\t[\t ]+/, "        ", line)
	print safe(line)
	fresh = 1
	first = 0
}

BEGIN {
	print ".Dd November 16, 2026\n.Dt ARBOR 3\n.Os\n.Sh NAME\n.Nm arbor\n.Nd the store of Arbor, from C"
	print ".Sh LIBRARY\nlibarbor, with\n.Ic pkg-config --cflags --libs arbor"
	print ".Sh SYNOPSIS\n.In arbor.h\n.Sh DESCRIPTION"
	first = fresh = 1
}
NR == 1 { comment = 1; next }
comment && NR == 2 { sub(/^ \* arbor.h: /, " * ") }

/^#if/ { depth++ }
/^#if|^#endif|^#ifdef/ || depth > 1 && !comment {
	if (/^#endif/)
		depth--
	next
}
/^#include|^#define ARBOR_H$|^#define ARBOR_PUBLIC/ { next }

!comment && /^\/\* ----/ {
	end_code()
	title = $0
	sub(/^\/\* -+ /, "", title)
	sub(/ -+.*/, "", title)
	section(title)
	if ($0 !~ /\*\/$/)
		comment = 1
	next
}
!comment && /^\/\*/ {
	end_code()
	fresh = 1
	if ($0 == "/*") {
		comment = 1
		next
	}
	line = substr($0, 4)
	if (!sub(/ *\*\/$/, "", line))
		comment = 1
	text(line)
	next
}
comment && /^ \*\// { comment = 0; end_code(); next }
comment {
	line = $0
	sub(/^ \* ?/, "", line)
	if (sub(/ *\*\/$/, "", line)) {
		comment = 0
		text(line)
		end_code()
	} else
		text(line)
	next
}
$0 == "" { end_code(); next }
{ declare($0) }
END {
	end_code()
	print ".Sh SEE ALSO\n.Xr arbor 1"
}' "$header"
