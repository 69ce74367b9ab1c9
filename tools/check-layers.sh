#!/bin/sh
# check-layers.sh: who may include and call what.
#
#   - a folder of src/ includes only itself and folders before it in `order`;
#     store and claude do not know each other, nor do api and face; net knows only base
#   - the database: only store and query (sqlite3.h, store/db.h)
#   - libuv: only base/loop, live and net
#   - sockets and child processes: only live and net; face/pager.c starts the pager
#   - printing and ending the process: only face. base/base.c may do both when
#     memory is gone; live/guard.c is a process of its own.
#
# Prints file:line of each violation; fails when there is one. Comments and the
# insides of literals do not count.
set -eu
cd "$(dirname "$0")/.."

awk -v order="base claude store query ingest live hub net api face" '
function complain(why) {
	printf "%s:%d: %s\n", FILENAME, FNR, why
	bad = 1
}

function in_folder(list) {
	return index(" " list " ", " " mine " ") > 0
}

# The line without comments and without what is inside literals; `comment`
# remembers one that goes on.
function code_of(line,    out, i, c, two, quote) {
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (comment) {
			if (two == "*/") {
				comment = 0
				i++
			}
		} else if (quote != "") {
			if (c == "\\")
				i++
			else if (c == quote)
				quote = ""
		} else if (two == "/*") {
			comment = 1
			i++
		} else if (two == "//") {
			break
		} else {
			if (c == "\"" || c == "\047")
				quote = c
			out = out c
		}
	}
	return out
}

# Whether one of these functions is called. A name behind a dot, an arrow or
# another letter is something else.
function calls(names) {
	return (" " code) ~ ("[^A-Za-z0-9_.>](" names ")[ \t]*\\(")
}

function check_include(    name, theirs, quoted) {
	name = $0
	quoted = name ~ /^[^<]*"/
	sub(/^[^"<]*["<]/, "", name)
	sub(/[">].*$/, "", name)
	theirs = name
	if (quoted && !sub(/\/.*$/, "", theirs))
		complain("\"" name "\" is included without its folder")
	else if (quoted && !(theirs in rank))
		complain("\"" name "\" is in no known folder")
	else if (quoted && rank[theirs] > rank[mine])
		complain(mine " may not include " theirs)
	else if (quoted && mine == "net" && theirs != "net" && theirs != "base")
		complain("net may include base only, not " theirs)
	else if (quoted && mine == "store" && theirs == "claude")
		complain("store and claude do not know each other")
	else if (quoted && mine == "face" && theirs == "api")
		complain("face and api do not know each other")
	if ((name == "sqlite3.h" || name == "store/db.h") && !in_folder("store query"))
		complain("only store and query may include " name)
	if (name ~ /^uv(\/|\.h)/ && !in_folder("live net") && FILENAME !~ /^src\/base\/loop\.[ch]$/)
		complain("only base/loop, live and net may include " name)
	if (name ~ /^(sys\/socket|sys\/un|sys\/wait|netinet\/.*|arpa\/inet|netdb|spawn)\.h$/ && !in_folder("live net") &&
	    !(name ~ /wait|spawn/ && FILENAME == "src/face/pager.c"))
		complain("only live and net may include " name)
}

function check_calls() {
	if (!in_folder("live net")) {
		if (calls("socket|socketpair|connect|accept4?|listen|getaddrinfo"))
			complain("only live and net may use sockets")
		if (FILENAME != "src/face/pager.c" &&
		    calls("v?fork|clone3?|exec(l|le|lp|v|ve|vp|vpe)|fexecve|posix_spawnp?|popen|system|wait(pid|id)"))
			complain("only live and net may use child processes")
	}
	if (mine != "face") {
		if (calls("v?d?printf|puts|putchar|perror|psignal|errx?|warnx?") ||
		    (" " code " ") ~ /[^A-Za-z0-9_](stdout|stderr)[^A-Za-z0-9_]/ ||
		    (code ~ /STD(OUT|ERR)_FILENO/ && FILENAME !~ /^src\/(base\/base|live\/guard|live\/detach)\.c$/))
			complain("only face may print")
		if ((calls("_?exit|_Exit|quick_exit") && FILENAME !~ /^src\/live\/(guard|detach)\.c$/) || (calls("abort") && FILENAME != "src/base/base.c"))
			complain("only face may end the process")
	}
}

BEGIN {
	n = split(order, names, " ")
	for (i = 1; i <= n; i++)
		rank[names[i]] = i
}
FNR == 1 {
	split(FILENAME, parts, "/")
	mine = parts[2]
	comment = 0
	if (!(mine in rank))
		complain("folder src/" mine " is not in the list of layers")
}
{
	code = code_of($0)
	if (code ~ /^[ \t]*#[ \t]*include/)
		check_include()
	else
		check_calls()
}
END { exit bad }' src/*/*.[ch]
