/* SPDX-License-Identifier: MIT */
/* rtl doctor: permissions, folders, limits and the clock. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <rtl/collector.h>

#include "cli.h"
#include "collect.h"
#include "doctor.h"
#include "launch.h"

#define KFD         "/dev/kfd"
#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define MIB         (1024 * 1024ull)
#define BUDGET_MIB  (RTL_BUFFER_TOTAL_LEAST / MIB)
/* The first buffer of a thread, and what goes with it. */
#define FIRST_BUFFER_MIB (2 * RTL_BUFFER_SIZE_DEFAULT / MIB)
#define FILES_LEAST      256u

/* ---- devices ---- */

bool doctor_is_container(void)
{
	const char *name = getenv("container");

	return !access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK) ||
	       (name && *name);
}

/* Why a device cannot be opened by this user, and what to do. */
static void refuse_device(struct doctor *doctor, const char *path, int error)
{
	struct group *group = NULL;
	char remedy[256];
	struct stat st;

	if (error == EACCES && !stat(path, &st))
		group = getgrgid(st.st_gid);
	if (group && group->gr_gid)
		snprintf(
			remedy, sizeof(remedy),
			"join the group %s (usermod -aG %s USER, then log in again; in a container "
			"--group-add)",
			group->gr_name, group->gr_name);
	else
		snprintf(remedy, sizeof(remedy),
			 "have its owner allow you to read and write it (in a container, its "
			 "device rules, too)");
	doctor_fault(doctor, "device", remedy, "%s: %s", path, strerror(error));
}

static bool can_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The driver is not there; `found`: the runtime has a GPU all the same. */
static void say_no_driver(struct doctor *doctor, bool found)
{
	if (found)
		doctor_ok(doctor, "device", "no " KFD ", but the runtime has a GPU: emulated");
	else if (doctor_is_container())
		doctor_fault(doctor, "device",
			     "start the container with --device=/dev/kfd --device=/dev/dri "
			     "--group-add render",
			     "no " KFD " in this container");
	else
		doctor_fault(doctor, "device",
			     "load the driver (modprobe amdgpu) on a machine with an AMD GPU, or, "
			     "in a container, start it with --device=/dev/kfd --device=/dev/dri",
			     "no " KFD);
}

static void look_at_nodes(struct doctor *doctor)
{
	glob_t nodes;

	if (glob("/dev/dri/renderD*", 0, NULL, &nodes)) {
		doctor_fault(doctor, "device",
			     "pass --device=/dev/dri to the container, or load the driver",
			     "no /dev/dri/renderD*");
		return;
	}
	for (size_t i = 0; i < nodes.gl_pathc; i++)
		if (can_open(nodes.gl_pathv[i]))
			doctor_ok(doctor, "device", "%s can be used", nodes.gl_pathv[i]);
		else
			refuse_device(doctor, nodes.gl_pathv[i], errno);
	globfree(&nodes);
}

static void look_at_devices(struct doctor *doctor)
{
	if (can_open(KFD)) {
		doctor_ok(doctor, "device", KFD " can be used");
		look_at_nodes(doctor);
	} else if (errno == ENOENT) {
		say_no_driver(doctor, doctor->works || doctor->has_gpu);
	} else {
		refuse_device(doctor, KFD, errno);
	}
}

/* ---- folders ---- */

static uint64_t free_mib(const char *folder)
{
	struct statvfs fs;

	return statvfs(folder, &fs) ? 0 : (uint64_t)fs.f_bavail * fs.f_frsize / MIB;
}

/* Makes a collector as `rtl trace` does; the folder in which its folder was. False after a finding. */
static bool try_spool(struct doctor *doctor, const char *folder, char *place, size_t size)
{
	const struct rtl_collector_options options = {
		.struct_size = sizeof(options),
		.kind = RTL_COLLECT,
		.subscribers = "",
		.folder = folder,
		.own = &collect_nothing,
		.paused = true,
	};
	struct rtl_collector *collector;
	char message[4096] = "";
	uint32_t left;

	unsetenv("RTL_SUBSCRIBERS");
	unsetenv("RTL_COLLECTOR");
	if (rtl_collector_create(&options, &collector, message, sizeof(message))) {
		doctor_fault_line(doctor, "spool", message, "name another folder with RTL_SPOOL");
		return false;
	}
	snprintf(place, size, "%s", rtl_collector_folder(collector));
	*strrchr(place, '/') = '\0';
	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
	return true;
}

static void look_at_spool(struct doctor *doctor, const char *folder)
{
	static const char remedy[] =
		"make room there, enlarge it (mount -o remount,size=2G /dev/shm; in a container "
		"--shm-size=2g), or name another folder with RTL_SPOOL";
	char place[PATH_MAX];
	uint64_t mib;

	if (!folder)
		folder = getenv("RTL_SPOOL");
	if (!try_spool(doctor, folder && *folder ? folder : NULL, place, sizeof(place)))
		return;
	mib = free_mib(place);
	if (mib < FIRST_BUFFER_MIB)
		doctor_fault(doctor, "spool", remedy,
			     "the folder for spools, %s, is full: %" PRIu64 " MiB are left", place,
			     mib);
	else if (mib < 2 * BUDGET_MIB)
		doctor_warn(doctor, "spool", remedy,
			    "the folder for spools, %s, has %" PRIu64 " MiB; the buffers of a "
			    "process use up to half of what is there, and would use %" PRIu64
			    " MiB or more",
			    place, mib, (uint64_t)BUDGET_MIB);
	else
		doctor_ok(doctor, "spool", "spools are made in %s: %" PRIu64 " MiB are free", place,
			  mib);
}

static void look_at_output(struct doctor *doctor)
{
	char *folder = getcwd(NULL, 0);

	if (!folder || access(folder, W_OK | X_OK))
		doctor_warn(doctor, "output", "go to another folder, or name the output with -o",
			    "nothing can be written to the working directory: %s", strerror(errno));
	else if (!free_mib(folder))
		doctor_fault(doctor, "output", "make room, or name the output with -o",
			     "the disk of the working directory, %s, is full", folder);
	else
		doctor_ok(doctor, "output", "outputs are written to %s: %" PRIu64 " MiB are free",
			  folder, free_mib(folder));
	free(folder);
}

/* ---- limits ---- */

static const char *limit_text(rlim_t limit, uint64_t unit, char text[32])
{
	if (limit == RLIM_INFINITY)
		return "unlimited";
	snprintf(text, 32, "%" PRIu64, (uint64_t)limit / unit);
	return text;
}

static void look_at_limits(struct doctor *doctor)
{
	struct rlimit files = {0}, size = {0}, locked = {0};
	char text[32];

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_FSIZE, &size);
	getrlimit(RLIMIT_MEMLOCK, &locked);
	if (files.rlim_cur < FILES_LEAST)
		doctor_warn(doctor, "files", "raise it: ulimit -n 1024",
			    "only %s files may be open at once",
			    limit_text(files.rlim_cur, 1, text));
	else
		doctor_ok(doctor, "files", "open files: %s", limit_text(files.rlim_cur, 1, text));
	if (size.rlim_cur != RLIM_INFINITY && size.rlim_cur < FIRST_BUFFER_MIB * MIB)
		doctor_fault(doctor, "file_size", "raise it: ulimit -f unlimited",
			     "files may not grow beyond %s KiB: processes get no buffers",
			     limit_text(size.rlim_cur, 1024, text));
	else if (size.rlim_cur != RLIM_INFINITY)
		doctor_warn(doctor, "file_size", "raise it: ulimit -f unlimited",
			    "files may not grow beyond %s MiB, and traces neither",
			    limit_text(size.rlim_cur, MIB, text));
	else
		doctor_ok(doctor, "file_size", "size of files: unlimited");
	doctor_ok(doctor, "memory_lock", "locked memory: %s KiB; rtl itself locks none",
		  limit_text(locked.rlim_cur, 1024, text));
}

/* ---- clock ---- */

static void look_at_clock(struct doctor *doctor)
{
	const char *force = getenv("RTL_CLOCK");
	FILE *file = fopen(CLOCKSOURCE, "re");
	char source[32] = "";

	if (file && fgets(source, sizeof(source), file))
		source[strcspn(source, "\n")] = '\0';
	if (file)
		fclose(file);
	if (force && !strcmp(force, "boottime"))
		doctor_ok(doctor, "clock", "clock: clock_gettime, by RTL_CLOCK");
	else if (!strncmp(source, "tsc", 3))
		doctor_ok(doctor, "clock", "clock: TSC");
	else
		doctor_warn(doctor, "clock",
			    "nothing is wrong with times; boot with tsc=reliable if the hardware's "
			    "is known to be sound",
			    "the kernel does not trust the TSC (clocksource: %s): each event costs "
			    "some ns more",
			    *source ? source : "not known");
}

void doctor_machine(struct doctor *doctor, const struct launch *launch)
{
	doctor_section(doctor, "permissions");
	look_at_devices(doctor);
	look_at_spool(doctor, launch->spool);
	look_at_output(doctor);
	doctor_section(doctor, "limits");
	look_at_limits(doctor);
	look_at_clock(doctor);
}
