# SPDX-License-Identifier: MIT
# `rtl check-subscriber`: runs the subscriber $1 through scenarios, each in a process of $self, for at most $2 seconds.
# A subscriber may crash, hang, or end the process.
export LC_ALL=C
exec 3>&2 2>/dev/null # a shell says how a command was killed
done=77 # the exit status of a scenario that came to its end
unset RTL_COLLECTOR RTL_SUBSCRIBERS RTL_STREAMS
base=${TMPDIR:-/tmp}
why=$(mktemp -d "$base/rtl-check-XXXXXX" 2>&1) || {
	echo "rtl: cannot make the folder $base/rtl-check-XXXXXX: ${why##*: }; set TMPDIR to another one" >&3
	exit 1
}
folder=$why
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP
export RTL_SPOOL="$folder/spool"
mkdir "$RTL_SPOOL"
faults=0 spec=$1

fault() {
	printf '%s: %s\n' "$1" "$2" | tr '\001-\010\013-\037\177' '?'
	faults=$((faults + 1))
}

# Runs scenario $1 in the folder $2 on the list $3, for at most $4 seconds; returns its status.
run() {
	(cd "$2" && RTL_CHECK_SCENARIO=$1 exec timeout -s KILL "${4:-$seconds}" "$self" check-subscriber "$3" \
		>"$folder/stdout" 2>"$folder/stderr" </dev/null)
}

# Reports the first line that is a fault. Of the host's own lines, only a failed instance is one.
judge_printed() {
	while IFS= read -r line || [ "$line" ]; do
		case $line in
		'rtl: check: '*) fault "$1" "${line#rtl: check: }" && return ;;
		'rtl: '*'error: '*) [ "$2" ] || { fault "$1" "fails: ${line#rtl: }" && return; } ;;
		'rtl: '*) ;;
		*) fault "$1" "prints to standard $3: $line; use host->report" && return ;;
		esac
	done
}

# Of a scenario: its name, whether the subscriber may fail, its status.
judge() {
	case $3 in
	$done) ;;
	137) fault "$1" "hangs: not finished after $seconds s" ;;
	134) fault "$1" "crashes: Aborted" ;;
	139) fault "$1" "crashes: Segmentation fault" ;;
	129 | 13? | 14? | 15?) fault "$1" "crashes: SIG$(kill -l $(($3 - 128)))" ;;
	*) fault "$1" "ends the process, with status $3" ;;
	esac
	judge_printed "$1" "$2" output <"$folder/stdout"
	judge_printed "$1" "$2" error <"$folder/stderr"
}

scenario() {
	before=$faults
	mkdir "$folder/$1"
	run "$1" "$folder/$1" "$4"
	judge "$1" "$3" $?
	[ $faults != $before ] || echo "$1: ok ($2)"
}

seconds=$2
run load . "$spec"
status=$?
case $status in
"$done") ;;
1)
	cat "$folder/stderr" >&3
	exit 1
	;;
*)
	judge load '' $status
	exit 1
	;;
esac
# Two entries for a list of subscribers, each with an output of its own; the second is "" if output= is given.
entries=$(sed -n 's/^entry //p' "$folder/stdout")
first=$(printf '%s\n' "$entries" | sed -n 1p) second=$(printf '%s\n' "$entries" | sed -n 2p)
mkdir "$folder/record"
run record "$folder/record" "$first" 300
if [ $? != $done ]; then
	echo "rtl: the synthetic streams cannot be recorded in $folder: is the disk full? Set TMPDIR to another folder" >&3
	exit 1
fi
scenario replay 'two processes, one recording, three times' '' "$first"
if [ "$second" ]; then
	scenario twins 'two instances side by side' '' "$first:$second"
else
	echo 'twins: not tried, as output= is given'
fi
scenario live 'running processes, one of them killed' '' "$first"
scenario nothing 'no process at all' '' "$first"
scenario in-process 'in the program that publishes' '' "$first"
scenario give-up 'destroyed without `finish`' may "$first"
scenario full-disk 'no file can grow' may "$first"
[ $faults = 0 ]
