/* SPDX-License-Identifier: MIT */
/* Preloaded: a process that makes its spool while the collector ends. It makes the folder only when the collector's has
 * been removed (LATE_FOLDER=before), or goes on only when the collector has removed the new one (LATE_FOLDER=after).
 *
 * LATE_FILE, in the collector: a process makes a file in its spool just before that is removed. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void wait_until_gone(const char *path)
{
	const struct timespec pause = {0, 1000000};

	for (int i = 0; i < 60000 && !access(path, F_OK); i++)
		nanosleep(&pause, NULL);
}

int rmdir(const char *path)
{
	int (*const real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "rmdir");
	static bool made;
	char file[4096];

	if (getenv("LATE_FILE") && strstr(path, "/rtl-spool-") && !made) {
		snprintf(file, sizeof(file), "%s/ring-9", path);
		made = true;
		fclose(fopen(file, "w"));
	}
	return real(path);
}

char *mkdtemp(char *template)
{
	char *(*const real)(char *) = (char *(*)(char *))dlsym(RTLD_NEXT, "mkdtemp");
	const char *when = getenv("LATE_FOLDER");
	char *base = strdup(template), *folder;

	*strrchr(base, '/') = '\0';
	if (when && !strcmp(when, "before"))
		wait_until_gone(base);
	free(base);
	folder = real(template);
	if (folder && when && !strcmp(when, "after"))
		wait_until_gone(folder);
	return folder;
}
