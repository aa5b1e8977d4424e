/* SPDX-License-Identifier: MIT */
/* rtl selftest: what machine this is. No names of hosts, users, folders or boards. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rtl/types.h>

#include "doctor.h"
#include "selftest.h"

/* What stands behind a key and a separator in a file's first line that has it; false: none has. */
static bool find_value(const char *path, const char *key, char *value, size_t size)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (file && !found && getline(&line, &room, file) > 0) {
		char *at = line + strlen(key);

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		at += strspn(at, " \t:=\"");
		at[strcspn(at, "\"\n")] = '\0';
		snprintf(value, size, "%s", at);
		found = *value;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static void say_driver(struct selftest *test)
{
	char version[64];

	if (find_value("/sys/module/amdgpu/version", "", version, sizeof(version)))
		selftest_fact(test, "driver", "amdgpu %s", version);
	else if (!access("/sys/module/amdgpu", F_OK))
		selftest_fact(test, "driver", "amdgpu, the kernel's own");
	else
		selftest_fact(test, "driver", "none%s",
			      access("/dev/kfd", F_OK) ? ": no /dev/kfd" : "");
	test->emulated = access("/dev/kfd", F_OK);
}

void selftest_machine(struct selftest *test)
{
	char value[128];
	struct utsname name;
	double load[1];

	selftest_fact(test, "rtl", "%s", rtl_version());
	if (find_value("/proc/cpuinfo", "model name", value, sizeof(value)))
		selftest_fact(test, "processor", "%s", value);
	selftest_fact(test, "processors", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	if (getloadavg(load, 1) == 1)
		selftest_fact(test, "load", "%.1f at the beginning", load[0]);
	if (!uname(&name))
		selftest_fact(test, "kernel", "%s %s %s", name.sysname, name.release, name.machine);
	if (find_value("/etc/os-release", "PRETTY_NAME", value, sizeof(value)))
		selftest_fact(test, "distribution", "%s", value);
	selftest_fact(test, "container", "%s", doctor_is_container() ? "yes" : "no");
	if (find_value("/sys/devices/system/clocksource/clocksource0/current_clocksource", "",
		       value, sizeof(value)))
		selftest_fact(test, "clocksource", "%s", value);
	say_driver(test);
}
