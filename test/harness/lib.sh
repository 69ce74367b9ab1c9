# Shell tests: a story told in subtests, printed as TAP.
#
#   . test/harness/lib.sh
#   it "says how many files it found"
#   arbor sync --source "$S" ; code 0 ; err_has '3 files'
#
# `it` names a subtest and ends the one before; it has failed when any check in
# it did. `arbor` runs the program under test and keeps stdout in $T/out,
# stderr in $T/err and the exit code. $T is a private folder, also HOME.
T=$HOME
n=0 name='' bad=0 why=''

finish() {
	[ -n "$name" ] || return 0
	n=$((n + 1))
	if [ -n "$why" ]; then echo "ok $n - $name # SKIP $why"
	elif [ "$bad" = 0 ]; then echo "ok $n - $name"
	else echo "not ok $n - $name"; failed=1; fi
	name='' bad=0 why=''
}
it() { finish; name=$1; }
skip() { why=$1; }
fail() { bad=1; printf '# %s: %s\n' "$name" "$*"; }
the_end() { finish; echo "1..$n"; exit "${failed:-0}"; }
trap 'c=$?; [ -z "$name" ] || { echo "not ok $((n + 1)) - $name (the test ended early, code $c)"; exit 1; }' EXIT

arbor() {
	"$ARBOR" "$@" >"$T/out" 2>"$T/err"
	rc=$?
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
