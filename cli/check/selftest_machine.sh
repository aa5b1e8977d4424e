# SPDX-License-Identifier: MIT
# What machine this is, for `rtl selftest`: "NAME TEXT" a line. No names of hosts, users, folders or boards.
say() { [ -z "$2" ] || echo "$1 $2"; }

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
