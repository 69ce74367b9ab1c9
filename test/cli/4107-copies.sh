#!/bin/sh
# A folder and a copy of it, both mirrored: what both have is shown once.
# shellcheck source=test/harness/lib.sh
. test/harness/lib.sh
export ARBOR_HOME="$T/store"
cp -R demo "$T/.claude"
cp -a "$T/.claude" "$T/backup"
P=projects/-home-dev-webshop/2396d03e-3b6d-406b-8ec3-9579853cd7ff.jsonl
LISTINGS='list
list -p webshop
history
todos --all
projects
plans
search the -n 0
show @~3
usage'
all() { # FOLDER: every listing, a file each, sorted, with what is said beside it
	mkdir "$1"
	echo "$LISTINGS" | while read -r words; do
		# shellcheck disable=SC2086
		"$ARBOR" $words </dev/null 2>&1 | case $words in
		search*) cut -f 4- ;; # of copies any may be given, and of several sessions that have a line
		*) cat ;;
		esac | sort >"$1/$words"
		[ -s "$1/$words" ] || echo "nothing: $words"
	done
}

it "has everything once in every listing, and in a search"
arbor sync -q; code 0
all "$T/once"
arbor sync -q --source "$T/backup" --label backup; code 0
all "$T/twice"
diff -r "$T/once" "$T/twice" >"$T/diff" || { fail "listings differ"; show "$T/diff"; }
for n in 1 5 20; do
	arbor search the -n $n; code 0
	check test "$(cut -f 1,2,7 "$T/out" | sort -u | wc -l)" -eq $n
	check test "$(wc -l <"$T/out")" -eq $n
done

it "counts back as it lists"
arbor list -n 0; cut -f 1 "$T/out" >"$T/ids"
n=0
while read -r id; do
	"$ARBOR" show "@~$n" --json </dev/null | head -n 1 | grep -qF "$id" || fail "@~$n is not $id"
	n=$((n + 1))
done <"$T/ids"
check test $n -eq 15
arbor show "@~$n"; code 1; err_has 'the oldest is @~14'

it "says which folder something comes from"
arbor list --json -n 1; out_has '"root":"'
arbor history --json -n 1; out_has '"root":"'
arbor todos --json; out_has '"root":"'
arbor plans --json; out_has '"root":"'

it "shows what was different in the copy"
echo '{"display":"typed elsewhere","timestamp":1794600000000,"project":"/p"}' >>"$T/backup/history.jsonl"
for plan in "$T"/backup/plans/*; do echo more >>"$plan"; done
for task in "$T"/backup/tasks/4e4f12db*/2.json; do sed -i 's/"pending"/"completed"/' "$task"; done
echo '{"type":"user","uuid":"c0de","message":{"role":"user","content":"only in the backup"}}' >>"$T/backup/$P"
arbor sync -q --source "$T/backup"; code 0
arbor history -n 1; out_has 'typed elsewhere'
arbor plans; check test "$(wc -l <"$T/out")" -eq 2
arbor plans shell; code 2; err_has 'backup:plans/'
arbor todos; out_lacks 'Migrate the orders table' # the later word counts
arbor list; check test "$(wc -l <"$T/out")" -eq 16
arbor projects; out_has "$(printf '\t5\t47\t2\t/home/dev/webshop')"
the_end
