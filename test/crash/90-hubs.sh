#!/bin/bash
# kill -9 at any moment while other hubs are started, asked and stopped: nothing that was
# started, by whomever, is left; also what went into sessions of its own.
#
#     arbor ── near (an Arbor) ── wild (a program that starts others, which try to stay)
#        └──── wild
#
# Moments are drawn from the time an undisturbed call takes. A kill counts when it found something
# to leave behind; while these are too few there are more, and if they stay so the test says it.
. test/harness/lib.sh
case ${SCALE:-short}:${MODE:-dev} in
long:*) kills=300 ;;
*:asan) kills=15 ;;
*) kills=40 ;;
esac
RANDOM=${SEED:-1}
mark=hub-kill-$$
cat >"$T/wild" <<'END'
#!/bin/sh
# Whatever it is asked, it starts three that try to stay, and answers.
while read -r l; do
	id=${l#*'"id":'}; id=${id%%,*}
	sleep 1000 &
	setsid sleep 1000 >/dev/null 2>&1 </dev/null &
	setsid sh -c '(setsid sleep 1000 &)' >/dev/null 2>&1 </dev/null
	echo '{"jsonrpc":"2.0","id":'"$id"',"result":{}}'
done
END
chmod +x "$T/wild"
wild=$(printf '{ "command": ["~/wild"], "env": { "HUB_MARK": "%s" } }' "$mark")
mkdir -p "$T/.config/arbor" "$T/near/arbor"
printf '{ "hubs": { "wild": %s } }\n' "$wild" >"$T/near/arbor/settings.json"
printf '{ "hubs": { "wild": %s, "near": { "command": ["%s", "rpc", "--stdio", "--scopes", "read,write"], "env": { "HUB_MARK": "%s", "XDG_CONFIG_HOME": "%s" } } } }\n' \
	"$wild" "$ARBOR" "$mark" "$T/near" >"$T/.config/arbor/settings.json"

alive() { grep -lzsx "HUB_MARK=$mark" /proc/[0-9]*/environ 2>/dev/null | wc -l; }
wait_for_nobody() {
	local n
	for ((n = 0; n < 400; n++)); do
		[ "$(alive)" = 0 ] && return 0
		sleep 0.05
	done
	return 1
}
call() { HUB_MARK=$mark "$ARBOR" call "$1" >"$T/out" 2>"$T/err"; }

it "leaves nobody when nobody disturbs it"
from=$(date +%s%N)
call near.wild.x || fail "near.wild.x: $(cat "$T/err")"
ms=$((($(date +%s%N) - from) / 1000000 + 1))
call wild.x || fail "wild.x: $(cat "$T/err")"
wait_for_nobody || fail "$(alive) are left"

it "leaves nobody whenever it is killed"
found=0
for ((i = 0; i < kills || (found * 5 < i && i < kills * 4); i++)); do
	methods=(near.wild.x wild.x near.hub.info)
	HUB_MARK=$mark "$ARBOR" call "${methods[RANDOM % 3]}" >"$T/out" 2>"$T/err" &
	pid=$!
	at=$(((RANDOM * 32768 + RANDOM) % (ms * 1000)))
	sleep "$(printf '%d.%06d' $((at / 1000000)) $((at % 1000000)))"
	[ "$(alive)" -gt 1 ] && found=$((found + 1))
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	wait_for_nobody || { fail "killed after $at us: $(alive) are left"; break; }
done
echo "# $found of $i kills found somebody who could have stayed"
check test $((found * 5)) -ge "$i"

it "leaves nobody when a hub between is killed, and says so"
for ((i = 0; i < kills / 5; i++)); do
	HUB_MARK=$mark "$ARBOR" call near.wild.x >"$T/out" 2>"$T/err" &
	pid=$!
	near=
	for ((n = 0; n < 400 && ! near; n++)); do
		while read -r p; do
			p=${p#/proc/} p=${p%/environ}
			[ "$(cat "/proc/$p/comm" 2>/dev/null)" = arbor ] && near=$p # and not its guard
		done < <(grep -lzsx "XDG_CONFIG_HOME=$T/near" /proc/[0-9]*/environ 2>/dev/null)
		sleep 0.005
	done
	sleep "0.0$((RANDOM % 100))"
	[ -n "$near" ] && kill -9 "$near" 2>/dev/null
	wait "$pid"; rc=$?
	[ $rc = 0 ] || [ $rc = 12 ] || fail "ended with $rc: $(cat "$T/err")"
	wait_for_nobody || { fail "$(alive) are left"; break; }
done
the_end
