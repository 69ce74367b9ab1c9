# Shell tests: a story told in subtests, printed as TAP.
#
#   . test/harness/lib.sh
#   it "says how many files it found"
#   arbor sync --source "$S" ; code 0 ; err_has '3 files'
#
# `it` names a subtest and ends the one before; it has failed when any check in
# it did. `arbor` runs the program under test and keeps stdout in $T/out,
# stderr in $T/err and the exit code; `on_terminal` runs it on a terminal. $T is
# a private folder, also HOME.
# shellcheck shell=sh
T=$HOME
_n=0 _name='' _bad=0 _why=''

finish() {
	[ -n "$_name" ] || return 0
	_n=$((_n + 1))
	if [ -n "$_why" ]; then echo "ok $_n - $_name # SKIP $_why"
	elif [ "$_bad" = 0 ]; then echo "ok $_n - $_name"
	else echo "not ok $_n - $_name"; failed=1; fi
	_name='' _bad=0 _why=''
}
it() { finish; _name=$1; }
skip() { _why=$1; }
fail() { _bad=1; printf '# %s: %s\n' "$_name" "$*"; }
the_end() { finish; echo "1..$_n"; exit "${failed:-0}"; }
# shellcheck disable=SC2154 # c is assigned in the trap
trap 'c=$?; [ -z "$_name" ] || { echo "not ok $((_n + 1)) - $_name (the test ended early, code $c)"; exit 1; }' EXIT

arbor() {
	"$ARBOR" "$@" >"$T/out" 2>"$T/err"
	rc=$?
}
# The same on a terminal of its own; what reaches it, errors included, is $T/out.
on_terminal() {
	TERM=xterm "$BUILD/tool/pty" "${screen:-120x40}" "$ARBOR" "$@" >"$T/out" 2>"$T/err"
	rc=$?
}
# demo_here DIR: the demo, with the folder that most of it was said in.
demo_here() {
	mkdir -p "$T/webshop" && cp -R demo "$1" && grep -rlF /home/dev/webshop "$1" | xargs sed -i "s|/home/dev/webshop|$T/webshop|g"
}
# The trees and streams that examples name, into the store that ARBOR_HOME says.
plant_trees() {
	"$BUILD/tool/plant" "$ARBOR_HOME/arbor.db" >"$T/planted" 2>&1 || { fail 'no stream'; show "$T/planted"; }
	while read -r _method _params; do
		"$ARBOR" call "$_method" "$_params" >"$T/planted" 2>&1 || { fail "$_method $_params"; show "$T/planted"; }
	done <test/table/trees.calls
}
show() { sed 's/^/#   /' "$1" | head -n 20; }
code() { [ "$rc" = "$1" ] || { fail "exit code $rc, wanted $1"; show "$T/err"; }; }
out_has() { grep -qF -- "$1" "$T/out" || { fail "stdout lacks '$1'"; show "$T/out"; }; }
err_has() { grep -qF -- "$1" "$T/err" || { fail "stderr lacks '$1'"; show "$T/err"; }; }
out_lacks() { ! grep -qF -- "$1" "$T/out" || { fail "stdout has '$1'"; show "$T/out"; }; }
err_lacks() { ! grep -qF -- "$1" "$T/err" || { fail "stderr has '$1'"; show "$T/err"; }; }
out_is() { [ "$(cat "$T/out")" = "$1" ] || { fail "stdout is not '$1'"; show "$T/out"; }; }
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }
check() { "$@" || fail "$*"; }
