/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: a process that makes its spool while the collector ends. It makes the folder only when
 * the collector's has been removed (LATE_FOLDER=before), or goes on only when the new one has been
 * (LATE_FOLDER=after): by the collector, which may not know it, or else by us.
 *
 * LATE_FILE, in the collector: a process makes a file in its spool just before that is removed.
 */
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
	const int base = (int)(strrchr(template, '/') - template);
	const bool before = when && !strcmp(when, "before");
	char session[4096], *folder = NULL;

	if (!when)
		return real(template);
	snprintf(session, sizeof(session), "%.*s/session", base, template);
	if (!before)
		folder = real(template);
	wait_until_gone(session);
	if (!before) {
		rmdir(folder);
		return folder;
	}
	session[base] = '\0';
	wait_until_gone(session);
	return real(template);
}
