/* SPDX-License-Identifier: MIT */
/* rtl doctor: what loads from where. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rtl/plugin.h>

#include "database.h"
#include "doctor.h"
#include "launch.h"
#include "library.h"

#define OTHER_PROJECT "rocm-trace-lite installs files of these names, too"
#define SUBSCRIBERS   "libsqlite_sub.so:libstats_sub.so"

/* ---- whose file ---- */

/* Whether these bytes are in a file: what tells a library of this project from others of its name. */
static bool contains(const char *path, const char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *bytes = MAP_FAILED;
	bool found = false;
	struct stat st;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes != MAP_FAILED) {
		found = memmem(bytes, (size_t)st.st_size, text, strlen(text));
		munmap(bytes, (size_t)st.st_size);
	}
	return found;
}

static void say_other(struct doctor *doctor, const char *check, const char *where, const char *path,
		      const char *own)
{
	if (contains(path, "rtl_stream_register"))
		doctor_warn(doctor, check, "remove one of them, or change the order",
			    "%s finds another rtl's library first: %s, not %s", where, path, own);
	else
		doctor_fault(
			doctor, check, "take its folder out of there, or move it to the end",
			"%s finds a library of another project first: %s, not %s (" OTHER_PROJECT
			")",
			where, path, own);
}

/* ---- our own ---- */

static void look_at_rocm(struct doctor *doctor)
{
	char *path = library_beside_rtl(LIBRARY_ROCM);
	void *handle;

	if (!path) {
		doctor->failed = true;
		return;
	}
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		doctor_ok(doctor, "librtl_rocm", "interceptors: %s", path);
	else if (access(path, F_OK))
		doctor_fault(doctor, "librtl_rocm",
			     "install the rtl that was built with ROCm's headers",
			     "no interceptors for ROCm: %s is not there", path);
	else
		doctor_fault(doctor, "librtl_rocm", "install rtl anew",
			     "the interceptors for ROCm cannot be loaded: %s", dlerror());
	free(path);
}

static void look_in_path(struct doctor *doctor)
{
	char own[PATH_MAX] = "", file[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length < 0 || launch_find_file("rtl", file, sizeof(file)))
		return;
	if (database_same_file(file, own))
		doctor_ok(doctor, "path", "`rtl` in PATH: %s", file);
	else if (contains(file, "librtl.so.0"))
		doctor_warn(doctor, "path", "remove one of them, or change the order in PATH",
			    "`rtl` in PATH is another one: %s, not %s", file, own);
	else if (!contains(own, "librtl.so.0"))
		doctor_ok(doctor, "path", "`rtl` in PATH: %s", file); /* run by a loader */
	else
		doctor_warn(doctor, "path",
			    "change the order in PATH, or call this one by its path",
			    "`rtl` in PATH is of another project: %s, not %s (" OTHER_PROJECT ")",
			    file, own);
}

/* ---- what the environment names ---- */

/* Calls fn for each part of a variable's value. */
static void each_part(struct doctor *doctor, const char *variable, const char *separators,
		      void (*fn)(struct doctor *doctor, const char *variable, const char *part))
{
	const char *value = getenv(variable);
	char *copy = value ? strdup(value) : NULL, *rest = copy, *part;

	doctor->failed |= value && !copy;
	while ((part = strsep(&rest, separators)))
		if (*part)
			fn(doctor, variable, part);
	free(copy);
}

/* Of LD_LIBRARY_PATH: a folder. */
static void look_into_folder(struct doctor *doctor, const char *variable, const char *folder)
{
	static const char *const names[] = {"librtl.so.0", "librtl.so"};
	char *own = library_rtl(), path[PATH_MAX];

	for (size_t i = 0; own && i < sizeof(names) / sizeof(*names); i++) {
		int length = snprintf(path, sizeof(path), "%s/%s", folder, names[i]);

		if (length < (int)sizeof(path) && !access(path, F_OK) &&
		    !database_same_file(path, own))
			say_other(doctor, "loader", variable, path, own);
	}
	free(own);
}

/* Of HSA_TOOLS_LIB and LD_PRELOAD: a library. */
static void look_at_tool(struct doctor *doctor, const char *variable, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *own = library_rtl();

	if (slash && access(path, R_OK)) {
		doctor_fault(doctor, "tools", "take it out of there, or install it",
			     "%s names %s, which cannot be read: %s", variable, path,
			     strerror(errno));
	} else if (!strncmp(name, "librtl.so", 9)) {
		if (!slash || !own || !database_same_file(path, own))
			doctor_fault(doctor, "tools", "take it out of there",
				     "%s names %s, which is no tool of this project (" OTHER_PROJECT
				     ")",
				     variable, path);
	} else if (!strcmp(variable, "HSA_TOOLS_LIB") && strncmp(name, "librtl_", 7)) {
		doctor_warn(doctor, "tools",
			    "take it out of there, if what it does is not wanted beside rtl",
			    "%s loads another tool, before rtl's: %s", variable, path);
	}
	free(own);
}

static void look_at_setting(struct doctor *doctor)
{
	static const char *const others[] = {"ROCP_TOOL_LIBRARIES", "ROCPROFILER_REGISTER_LIBRARY",
					     "DEBUG_CLR_DIRECT_DOORBELL"};
	const char *list = getenv("RTL_SUBSCRIBERS"), *tools = getenv("HSA_TOOLS_LIB");

	if (list && *list && !(tools && strstr(tools, LIBRARY_ROCM)))
		doctor_warn(doctor, "environment",
			    "do eval \"$(rtl env)\" in the shell, or use `rtl trace`",
			    "RTL_SUBSCRIBERS is set, but HSA_TOOLS_LIB does not name rtl: programs "
			    "that are started here are not traced");
	list = getenv("RTL_STREAMS");
	if (list && *list)
		doctor_warn(doctor, "environment", "unset it to record all",
			    "RTL_STREAMS=%s: other streams are left out", list);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const char *value = getenv(others[i]);

		if (value && *value && strcmp(value, "0") && !strstr(value, LIBRARY_ROCM))
			doctor_warn(doctor, "environment", "unset it if rtl misses something",
				    "%s=%s: %s", others[i], value,
				    i < 2 ? "another tool is loaded, which may make rtl be skipped"
					  : "the runtime passes by all interception");
	}
}

/* ---- subscribers ---- */

static void look_at_subscriber(struct doctor *doctor, const char *spec)
{
	struct rtl_plugin *plugin;
	char message[4096];

	if (rtl_plugin_open(spec, &plugin, message, sizeof(message))) {
		doctor_fault_line(doctor, "subscriber", message,
				  "build it for this rtl, or take it out of RTL_SUBSCRIBERS");
		return;
	}
	doctor_ok(doctor, "subscriber", "subscriber %s %s: %s", rtl_plugin_subscriber(plugin)->name,
		  rtl_plugin_subscriber(plugin)->version, rtl_plugin_path(plugin));
	rtl_plugin_close(plugin);
}

static void look_at_subscribers(struct doctor *doctor)
{
	const char *list = getenv("RTL_SUBSCRIBERS");
	char *copy = strdup(list && *list ? list : SUBSCRIBERS), *rest = copy, *spec;

	doctor->failed |= !copy;
	while ((spec = strsep(&rest, ":")))
		if (*spec)
			look_at_subscriber(doctor, spec);
	free(copy);
}

void doctor_libraries(struct doctor *doctor)
{
	char *path = library_rtl();

	doctor_section(doctor, "libraries");
	if (path)
		doctor_ok(doctor, "librtl", "rtl %s: %s", rtl_version(), path);
	free(path);
	look_in_path(doctor);
	look_at_rocm(doctor);
	look_at_subscribers(doctor);
	each_part(doctor, "LD_LIBRARY_PATH", ":;", look_into_folder);
	each_part(doctor, "HSA_TOOLS_LIB", " ", look_at_tool);
	each_part(doctor, "LD_PRELOAD", ": ", look_at_tool);
	look_at_setting(doctor);
}
