# SPDX-License-Identifier: MIT
# `rtl doctor`: what the facts mean that rtl has found (doctor_fact), and what the machine has. In front of it stand
# `part` of it and the file of the `facts`. Each finding is a record for doctor.c.
set -f
unset librtl self subscribers mode source no_rocm works ran ended refused losses processes file \
	probe_hangs probe_signal probe_status hsa_path hsa_error hsa_build hsa_status tool_loaded register_path gpus gpu_names spool \
	hip8_path hip8_version source8_asked source8_asked_how source8_left source8_left_how \
	hip7_path hip7_version source7_asked source7_asked_how source7_left source7_left_how \
	hip6_path hip6_version source6_asked source6_asked_how source6_left source6_left_how \
	hip5_path hip5_version source5_asked source5_asked_how source5_left source5_left_how
. "$facts"
newline='
'
us=$(printf '\037') rs=$(printf '\036')
section() { printf '%s%s' "$1" "$rs"; }
# The last argument says how to fix it.
ok() { printf '%s' "ok$us$1$us$2$us$rs"; }
warn() { printf '%s' "warning$us$1$us$2$us$3$rs"; }
fault() { printf '%s' "fault$us$1$us$2$us$3$rs"; }
other_project='rocm-trace-lite installs files of these names, too'

# ---- libraries ----

look_in_path() {
	file=$(command -v rtl) || return
	if [ "$file" -ef "$self" ]; then
		ok path "\`rtl\` in PATH: $file"
	elif grep -qF librtl.so.0 "$file"; then
		warn path "\`rtl\` in PATH is another one: $file, not $self" "remove one of them, or change the order in PATH"
	elif ! grep -qF librtl.so.0 "$self"; then
		ok path "\`rtl\` in PATH: $file" # run by a loader
	else
		warn path "\`rtl\` in PATH is of another project: $file, not $self ($other_project)" \
			"change the order in PATH, or call this one by its path"
	fi
}

look_into_folder() {
	for path in "$1/librtl.so.0" "$1/librtl.so"; do
		if [ ! -e "$path" ] || [ "$path" -ef "$librtl" ]; then
			continue
		elif grep -qF rtl_stream_register "$path"; then
			warn loader "LD_LIBRARY_PATH finds another rtl's library first: $path, not $librtl" \
				"remove one of them, or change the order"
		else
			fault loader "LD_LIBRARY_PATH finds a library of another project first: $path, not $librtl ($other_project)" \
				"take its folder out of there, or move it to the end"
		fi
	done
}

# Of the variable $1: library $2.
look_at_tool() {
	name=${2##*/}
	if [ "$name" != "$2" ] && [ ! -r "$2" ]; then
		why="Permission denied"
		[ -e "$2" ] || why="No such file or directory"
		fault tools "$1 names $2, which cannot be read: $why" "remove it there, or install it"
	elif [ "${name#librtl.so}" != "$name" ]; then
		[ "$2" -ef "$librtl" ] ||
			fault tools "$1 names $2, which is not a tool of this project ($other_project)" "remove it there"
	elif [ "$1" = HSA_TOOLS_LIB ] && [ "${name#librtl_}" = "$name" ]; then
		warn tools "HSA_TOOLS_LIB loads another tool, too: $2" \
			"remove it there, unless you want both tools"
	fi
}

look_at_variables() {
	IFS=':;'
	for folder in ${LD_LIBRARY_PATH-}; do look_into_folder "$folder"; done
	IFS=' '
	for tool in ${HSA_TOOLS_LIB-}; do look_at_tool HSA_TOOLS_LIB "$tool"; done
	IFS=': '
	for tool in ${LD_PRELOAD-}; do look_at_tool LD_PRELOAD "$tool"; done
	IFS=" 	$newline"
	case ${subscribers:+${HSA_TOOLS_LIB-}} in
	*librtl_rocm.so*) ;;
	*) [ -z "$subscribers" ] || warn environment \
		"RTL_SUBSCRIBERS is set, but HSA_TOOLS_LIB does not name rtl: programs that are started here are not traced" \
		"run eval \"\$(rtl env)\" in the shell, or use \`rtl trace\`" ;;
	esac
	[ -z "${RTL_STREAMS-}" ] || warn environment "RTL_STREAMS=$RTL_STREAMS: other streams are left out" "unset it to record all"
	for name in ROCP_TOOL_LIBRARIES ROCPROFILER_REGISTER_LIBRARY DEBUG_CLR_DIRECT_DOORBELL; do
		eval "value=\${$name-}"
		what="another tool is loaded, which may keep rtl out"
		[ $name != DEBUG_CLR_DIRECT_DOORBELL ] || what="the runtime bypasses all interception"
		case $value in
		'' | 0 | *librtl_rocm.so*) ;;
		*) warn environment "$name=$value: $what" "unset it if rtl misses something" ;;
		esac
	done
}

# ---- runtime ----

judge_probe() {
	if [ "$probe_hangs" ]; then
		fault probe "the runtime does not answer within $probe_hangs s" "try \`rocminfo\`: if that hangs as well, it is not rtl's doing"
	elif [ "$probe_signal" ]; then
		fault probe "the runtime crashes when it starts: $probe_signal" "try \`rocminfo\`: if that crashes as well, it is not rtl's doing"
	elif [ "$probe_status" ]; then
		fault probe "the runtime ends the process: status $probe_status" "try \`rocminfo\`"
	fi
}

judge_gpus() {
	if [ "$gpu_names" ]; then
		s=s
		[ "$gpus" != 1 ] || s=
		ok gpu "$gpus GPU$s: $gpu_names"
	elif [ "$works" ]; then
		ok gpu "no GPU found here, but the command has one"
	elif [ "$hsa_status" != 0 ]; then
		fault gpu "the HSA runtime cannot start (hsa_init: $hsa_status): no program can use a GPU" "see the devices below"
	else
		fault gpu "the HSA runtime finds no GPU" "see the devices below, and ROCR_VISIBLE_DEVICES if it is set"
	fi
}

judge_hsa() {
	if [ ! "$hsa_path" ]; then
		remedy="install ROCm's runtime (hsa-rocr, libhsa-runtime64-1), or name its folder in LD_LIBRARY_PATH or /etc/ld.so.conf.d"
		if [ "$works" ]; then
			warn hsa_runtime "the loader finds no HSA runtime here; the command does" "$remedy"
		else
			fault hsa_runtime "no HSA runtime: $hsa_error" "$remedy"
		fi
		return
	fi
	build=${hsa_build#\"}
	build=${build%%[-\"]*}
	ok hsa_runtime "HSA runtime ${build:-of unknown version}: $hsa_path"
	[ ! "$hsa_status" ] || judge_gpus
	if [ "$no_rocm" ]; then
		:
	elif [ "$hsa_status" != 0 ]; then
		warn hsa_tool "unknown whether the HSA runtime loads rtl: the runtime does not start" "run \`rtl doctor\` again when the runtime starts"
	elif [ "$tool_loaded" ]; then
		ok hsa_tool "the HSA runtime loads rtl by HSA_TOOLS_LIB${register_path:+, which HSA_TOOLS_ROCPROFILER_V1_TOOLS=1 keeps on beside librocprofiler-register}"
	else
		fault hsa_tool "the HSA runtime ignores HSA_TOOLS_LIB: dispatches and copies are not seen" \
			"use mode hip, which preloads it, or a runtime that was built with tools"
	fi
}

# A HIP that was found: path, version, and which sources can observe its work.
judge_hip() {
	name="HIP $(($2 / 10000000)).$(($2 / 100000 % 100)).$(($2 % 100000))"
	[ "$2" != 0 ] || name="HIP of unknown version"
	hips=$((hips + 1))
	hip_version=${hip_version:-$2}
	ok hip_runtime "$name: $1"
	[ ! "$4" ] || sources="$sources$(if [ "$3" ] && [ "$5" ]; then
		ok source "with $name the sources queue and runtime ($4) are possible, and auto takes runtime"
	elif [ "$3" ]; then
		ok source "with $name the sources queue and runtime ($4) are possible, and auto takes queue: $6"
	elif [ "$source" = runtime ]; then
		fault source "with $name the source runtime is not possible: $4" "use --source queue, or auto"
	else
		ok source "with $name the source queue is possible, and auto takes it; runtime is not: $4"
	fi)"
}

# AMD's packages have it in the file's name, too: libhsa-runtime64.so.1.18.70204.
judge_version() {
	version=${hsa_path##*.}
	case $version in
	[5-9][0-9][0-9][0-9][0-9] | [1-9][0-9][0-9][0-9][0-9][0-9]) version=$((version / 100)) ;;
	*) version=$((hip_version / 10000000 * 100 + hip_version / 100000 % 100)) ;;
	esac
	[ $version != 0 ] || return
	name="$((version / 100)).$((version % 100))"
	if [ $version -lt 502 ] || [ $version -gt 799 ]; then
		warn version "this is ROCm $name: rtl was made for 5.2 to 7.x" "use ROCm 5.2 to 7.x, or try it with a command"
	elif [ $version = 702 ]; then
		warn version "ROCm 7.2 has a fault in its intercept queues: programs that take more than 256 places of a queue at once may crash under any tracer" \
			"most programs are not affected; if one crashes only under rtl, use another version of ROCm"
	else
		ok version "ROCm $name"
	fi
}

judge_runtime() {
	judge_probe
	judge_hsa
	hips=0 hip_version='' sources=''
	for n in 8 7 6 5; do
		eval "[ \"\$hip${n}_path\" ] || continue
			judge_hip \"\$hip${n}_path\" \"\${hip${n}_version:-0}\" \"\$source${n}_asked\" \"\$source${n}_asked_how\" \
				\"\$source${n}_left\" \"\$source${n}_left_how\""
	done
	if [ $hips = 0 ]; then
		warn hip_runtime "the loader finds no HIP runtime: libamdhip64.so.5 to .8" \
			"install it (hip-runtime-amd, libamdhip64), unless programs bring their own"
	elif [ $hips != 1 ]; then
		warn hip_runtime "the loader finds $hips versions of HIP" "check with \`ldd PROGRAM\` which one a program loads"
	fi
	judge_version
	printf '%s' "$sources"
}

# ---- the machine ----

look_at_device() {
	if why=$( (: <>"$1") 2>&1); then
		ok device "$1 can be used"
		return
	fi
	why=${why##*: }
	group=$(stat -c %G "$1")
	case $why,$group in
	*,root | *,UNKNOWN) fault device "$1: $why" "get read and write access to it (in a container, from its device rules, too)" ;;
	"Permission denied",*) fault device "$1: $why" \
		"join the group $group (usermod -aG $group USER, then log in again; in a container --group-add)" ;;
	*) fault device "$1: $why" "get read and write access to it (in a container, from its device rules, too)" ;;
	esac
}

look_at_devices() {
	if [ -e /dev/kfd ]; then
		look_at_device /dev/kfd
		set +f
		for node in /dev/dri/renderD*; do
			if [ -e "$node" ]; then
				look_at_device "$node"
			else
				fault device "no /dev/dri/renderD*" "pass --device=/dev/dri to the container, or load the driver"
			fi
		done
		set -f
	elif [ "$works" ] || [ "$gpu_names" ]; then
		ok device "no /dev/kfd, but the runtime has a GPU: emulated"
	elif [ -e /.dockerenv ] || [ -e /run/.containerenv ] || [ "${container-}" ]; then
		fault device "no /dev/kfd in this container" "start the container with --device=/dev/kfd --device=/dev/dri --group-add render"
	else
		fault device "no /dev/kfd" "load the driver (modprobe amdgpu) on a machine with an AMD GPU, or, in a container, start it with --device=/dev/kfd --device=/dev/dri"
	fi
}

free_mib() { echo $(($(stat -f -c '%a * %S / 1048576' "$1"))); }

look_at_spool() {
	remedy="make room there, enlarge it (mount -o remount,size=2G /dev/shm; in a container --shm-size=2g), or name another folder with RTL_SPOOL"
	[ "$spool" ] || return
	mib=$(free_mib "$spool")
	if [ "$mib" -lt "$first_mib" ]; then
		fault spool "the folder for spools, $spool, is full: $mib MiB are left" "$remedy"
	elif [ "$mib" -lt $((2 * budget_mib)) ]; then
		warn spool "the folder for spools, $spool, has only $mib MiB free: the buffers of a process may use half of that, and want $budget_mib MiB or more" "$remedy"
	else
		ok spool "spools are made in $spool: $mib MiB are free"
	fi
}

look_at_output() {
	folder=$(pwd -P)
	if [ ! -w . ] || [ ! -x . ]; then
		warn output "nothing can be written to the working directory" "go to another folder, or name the output with -o"
	elif [ "$(free_mib .)" = 0 ]; then
		fault output "the disk of the working directory, $folder, is full" "make room, or name the output with -o"
	else
		ok output "outputs are written to $folder: $(free_mib .) MiB are free"
	fi
}

look_at_limits() {
	files=$(ulimit -n) size=$(ulimit -f) locked=$(ulimit -l)
	if [ "$files" != unlimited ] && [ "$files" -lt 256 ]; then
		warn files "only $files files may be open at once" "raise it: ulimit -n 1024"
	else
		ok files "open files: $files"
	fi
	if [ "$size" = unlimited ]; then
		ok file_size "size of files: unlimited"
	elif [ "$size" -lt $((first_mib * 2048)) ]; then
		fault file_size "files may not grow beyond $((size / 2)) KiB: processes get no buffers" "raise it: ulimit -f unlimited"
	else
		warn file_size "files, and so traces, may not grow beyond $((size / 2048)) MiB" "raise it: ulimit -f unlimited"
	fi
	ok memory_lock "locked memory: $locked KiB; rtl itself locks none"
}

look_at_clock() {
	file=/sys/devices/system/clocksource/clocksource0/current_clocksource
	[ ! -r $file ] || read -r clock <$file
	if [ "${RTL_CLOCK-}" = boottime ]; then
		ok clock "clock: clock_gettime, by RTL_CLOCK"
	elif [ "${clock#tsc}" != "$clock" ]; then
		ok clock "clock: TSC"
	else
		warn clock "the kernel does not trust the TSC (clocksource: ${clock:-not known}): each event costs some ns more" \
			"times are correct; boot with tsc=reliable if the hardware's is known to be sound"
	fi
}

# ---- the command ----

not_seen="use a program that uses a GPU; if this one does, it ran without the variables that rtl sets (sudo, env -i, ssh, srun and mpirun may remove them)"

# A number in a file, at an offset, of so many bytes.
number() { od -An -v -t"u$3" -j"$2" -N"$3" "$1" 2>/dev/null | tr -d ' '; }

# Whether an ELF file for 64 bits names a loader (PT_INTERP: 3); true where that cannot be seen.
names_loader() {
	at=$(number "$1" 32 8) n=$(number "$1" 56 2)
	while [ "${n:-0}" != 0 ]; do
		kind=$(number "$1" "$at" 4)
		[ "${kind:-3}" != 3 ] || return 0
		at=$((at + 56)) n=$((n - 1))
	done
	return 1
}

# Whether a program gains privileges when it starts, as the loader decides it.
has_other_rights() {
	[ -u "$1" ] && [ "$(stat -L -c %u "$1")" != "$(id -u)" ] && return
	case $(stat -L -c %A "$1") in
	??????s*) [ "$(stat -L -c %g "$1")" != "$(id -g)" ] && return ;;
	esac
	[ "$(id -u)" != 0 ] && [ "$(getcap "$1" 2>/dev/null)" ]
}

# The HIP that a program is linked to, if it is not one of those found above: by its RPATH, or its own loader.
look_at_hip() {
	path=$(LD_PRELOAD='' LD_TRACE_LOADED_OBJECTS=1 "$1" 2>/dev/null </dev/null |
		sed -n 's|.*libamdhip64\.so.* => \(/.*\) (0x[0-9a-f]*)$|\1|p')
	[ "$path" ] || return 0
	path=$(readlink -f "$path")
	case " $hip5_path $hip6_path $hip7_path $hip8_path " in
	*" $path "*) ;;
	*) ok hip_runtime "the command loads another HIP than those above: $path" ;;
	esac
}

# A file, and whether it may be a script; of one its interpreter is looked at.
look_at_file() {
	case $(number "$1" 0 4),$(number "$1" 4 1) in
	1179403647,1) fault program "$1 is a program for 32 bits: rtl's libraries are for 64 bits, and the loader cannot load them there" \
		"build it for 64 bits; 64-bit programs that it starts are traced" ;;
	1179403647,*) if names_loader "$1"; then
		has_other_rights "$1" || look_at_hip "$1"
	else
		warn program "$1 is linked statically: nothing can be loaded into it" \
			"link it dynamically; programs that it starts are traced"
	fi ;;
	*)
		[ "$2" ] && [ "$(number "$1" 0 2)" = 8483 ] && read -r line <"$1" || return
		IFS=' 	'
		set -- ${line#??}
		look_at_file "$1" ''
		return
		;;
	esac
	! has_other_rights "$1" || fault program \
		"$1 runs with privileges of its own (set-user-ID, set-group-ID or capabilities): it ignores rtl's variables, and the loader preloads nothing" \
		"run it as its owner, or run a copy without these privileges"
}

# Of a process: number, program, events of HSA, dispatches, copies, HIP calls, ranges and marks, other events.
judge_process() {
	if [ "$3" != 0 ]; then
		ok hsa_tool "process $1, $2: loaded by its HSA runtime"
	elif [ "$6" != 0 ]; then
		fault hsa_tool "process $1, $2, made $6 HIP calls, but its HSA runtime has not loaded rtl: its dispatches and copies were not seen" \
			"have HSA_TOOLS_LIB and HSA_TOOLS_ROCPROFILER_V1_TOOLS reach it as rtl sets them; if they do, see what the runtime says above"
	fi
	dispatches=$((dispatches + $4)) copies=$((copies + $5)) hip=$((hip + $6)) roctx=$((roctx + $7)) others=$((others + $8))
}

judge_hooks() {
	if [ "$dispatches" != 0 ]; then
		ok dispatches "dispatches: $dispatches"
	else
		warn dispatches "no dispatch of a kernel was seen" "$not_seen"
	fi
	ok copies "copies by a GPU: $copies"
	case $mode,$hip in
	hip,0 | full,0) warn hip_calls "no HIP call was seen" \
		"this is fine if it uses HSA without HIP; if HIP is linked in statically, link it to libamdhip64.so" ;;
	hip,* | full,*) ok hip_calls "HIP calls: $hip" ;;
	*) ok hip_calls "HIP calls: $hip (mode hip records them)" ;;
	esac
	ok roctx "ranges and marks of roctx: $roctx"
	[ "$others" = 0 ] || ok other_streams "events of other streams: $others"
}

judge_command() {
	if [ ! "$ran" ]; then
		warn command "the command was not run" "fix the faults above first"
		return
	fi
	[ ! "$ended" ] || warn command "the command ended $ended" "check whether it also does so without rtl"
	[ "$refused" = 0 ] || fault spool "processes of the command could not make a spool: $refused" "see their messages on standard error"
	if [ "$processes" ]; then
		dispatches=0 copies=0 hip=0 roctx=0 others=0
		eval "$processes"
		judge_hooks
	else
		fault command "no process of the command published anything" "$not_seen"
	fi
	[ ! "$losses" ] || warn ledger "events were lost: $losses" "see docs/guides/guarantees.md for the causes"
}

case $part in
libraries)
	look_in_path
	look_at_variables
	;;
runtime) judge_runtime ;;
machine)
	look_at_devices
	look_at_spool
	look_at_output
	section limits
	look_at_limits
	look_at_clock
	;;
command)
	look_at_file "$file" script
	judge_command
	;;
esac
exit 0
