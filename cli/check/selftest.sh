# SPDX-License-Identifier: MIT
# `rtl selftest`: runs $program alone and traced by $self, with $counters counted too (or ""). What came of that, a record a
# line, is what `rtl selftest` reports when it is called again with it. Its options are this script's.
export LC_ALL=C
folder='' child='' id=0 rounds=1
fail() {
	echo "rtl: selftest: $1" >&2
	exit 1
}
interrupt() {
	trap '' INT TERM HUP
	if [ "$child" ]; then
		kill "$child"
		wait "$child"
	fi
	fail interrupted
}
trap '[ -z "$folder" ] || rm -rf "$folder"' EXIT
trap interrupt INT TERM HUP

# Nothing of rtl's in "alone", and no setting that changes what is recorded.
for name in LD_PRELOAD HSA_TOOLS_LIB; do
	eval "value=\${$name-}"
	case $value in
	*librtl_rocm.so*) fail "$name names librtl_rocm.so here, so nothing can run without rtl; use a shell in which \`rtl env\` was not evaluated" ;;
	esac
done
for name in $(env | sed -n 's/^\(RTL_[A-Z_]*\)=.*/\1/p'); do
	case $name in
	RTL_SPOOL | RTL_PLUGIN_PATH) ;;
	*) unset "$name" ;;
	esac
done
case ${TMPDIR-} in
/*) template=$TMPDIR/rtl-selftest-XXXXXX ;;
*) template=/tmp/rtl-selftest-XXXXXX ;;
esac
why=$(mktemp -d "$template" 2>&1) || fail "cannot make a folder: $template: ${why##*: }; name another with TMPDIR"
folder=$why

# ---- the machine ----

# No names of hosts, users, folders or boards.
say() { [ -z "$2" ] || echo "fact $1 $2"; }
machine() {
	say processor "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)"
	say processors "$(getconf _NPROCESSORS_ONLN)"
	say load "$(cut -d ' ' -f 1 /proc/loadavg) at the beginning"
	say kernel "$(uname -srm)"
	say distribution "$(sed -n 's/^PRETTY_NAME="*\([^"]*\)"*$/\1/p' /etc/os-release)"
	if [ -e /.dockerenv ] || [ -e /run/.containerenv ] || [ "${container-}" ]; then say container yes; else say container no; fi
	say clocksource "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
	if [ -r /sys/module/amdgpu/version ]; then
		say driver "amdgpu $(cat /sys/module/amdgpu/version)"
	elif [ -e /sys/module/amdgpu ]; then
		say driver "amdgpu, the kernel's own"
	else
		say driver none
	fi
	if [ -e /dev/kfd ]; then say device /dev/kfd; else say device none; fi
}

# ---- the runs ----

# Of a workload, traced in the mode $2 (or alone) beside the run $3, counting $4; `compared` if its trace is. Whether it came to its end.
run() {
	id=$((id + 1))
	echo "run $id $1 ${2:-alone} ${3:-0} ${5:+1}"
	[ ! -t 2 ] || printf '\rrtl: self test: %-10s %-10s' "$1" "${2:-alone}" >&2
	trace=$folder/$id.db
	(
		[ -z "${4-}" ] || export RTL_COUNTERS="$4"
		set -- "${2-}" "$program" "$1" "$folder/kernels" "$rounds"
		mode=$1
		shift
		[ -z "$mode" ] || set -- "$self" trace -q --mode "$mode" -o "$trace" -- "$@"
		exec "$@" </dev/null >"$folder/out" 2>"$folder/err"
	) &
	child=$!
	wait $child 2>/dev/null
	ending=$?
	child=''
	if [ $ending -gt 128 ]; then echo "ending signal $((ending - 128))"; else echo "ending status $ending"; fi
	sed 's/^/said /' "$folder/out"
	sed -n 's/^rtl/error rtl/p' "$folder/err" # what rtl said, and not what a runtime did
	if [ "${5-}" ]; then echo "trace $trace"; else rm -f "$trace"; fi
	[ ! -t 2 ] || printf '\r%40s\r' '' >&2
	grep -qx end "$folder/out"
}

run_all() {
	run about || return
	run calibrate
	rounds=$(sed -n 's/^rounds //p' "$folder/out")
	rounds=${rounds:-1}
	for workload in kernels copies threads graph killed; do
		run $workload && run $workload hip $id '' compared
	done
	[ -z "$counters" ] || { run waves && run waves standard $id "$counters" compared; }
	# Interleaved: what else the machine does meets all.
	compared=compared
	for round in 1 2 3 4 5; do
		run loop || return
		alone=$id
		run loop standard $alone '' $compared
		run loop hip $alone '' $compared
		compared=''
	done
}

{
	machine
	run_all
} >"$folder/records"
RTL_SELFTEST_RECORDS=$folder/records "$self" selftest "$@"
