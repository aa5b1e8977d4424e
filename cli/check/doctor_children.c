/* SPDX-License-Identifier: MIT */
/*
 * rtl doctor: which programs run below the command. A thread reads /proc every two milliseconds, so a program that
 * is shorter than that may not be seen.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "thread_start.h"

#define DEPTH_MOST 32
#define PAUSE_US   2000

static struct {
	pthread_t thread;
	bool started;
	bool stop; /* relaxed: the join orders the rest */
	struct doctor *into;
} watch;

static void add_program(const char *path)
{
	struct doctor *into = watch.into;

	for (size_t i = 0; i < into->child_count; i++)
		if (!strcmp(into->children[i], path))
			return;
	if (into->child_count < DOCTOR_CHILDREN_MOST &&
	    (into->children[into->child_count] = strdup(path)))
		into->child_count++;
}

struct rights {
	unsigned user[2], group[2]; /* real and effective */
};

static bool read_rights(const char *of, struct rights *rights)
{
	char path[64], line[256];
	int found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/status", of);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		found += sscanf(line, "Uid: %u %u", &rights->user[0], &rights->user[1]) == 2 ||
			 sscanf(line, "Gid: %u %u", &rights->group[0], &rights->group[1]) == 2;
	if (file)
		fclose(file);
	return found == 2;
}

/* Others may not be looked into for reasons of their own, such as ssh-agent, and heed the variables. */
static bool has_other_rights(pid_t pid)
{
	struct rights own, its;
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)pid);
	return read_rights("self", &own) && read_rights(name, &its) &&
	       memcmp(&own, &its, sizeof(own));
}

static void look_below(pid_t pid, int depth);

static void look_at(pid_t pid, int depth)
{
	char link[64], path[PATH_MAX];

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	ssize_t length = readlink(link, path, sizeof(path) - 1);
	if (length > 0) {
		path[length] = '\0';
		add_program(path);
	} else if ((errno == EACCES || errno == EPERM) && has_other_rights(pid)) {
		watch.into->hidden_children = true;
	}
	if (depth < DEPTH_MOST)
		look_below(pid, depth + 1);
}

static void look_below(pid_t pid, int depth)
{
	char pattern[64];
	glob_t lists;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/children", (int)pid);
	if (glob(pattern, GLOB_NOSORT, NULL, &lists))
		return;
	for (size_t i = 0; i < lists.gl_pathc; i++) {
		FILE *file = fopen(lists.gl_pathv[i], "re");
		int child;

		while (file && fscanf(file, "%d", &child) == 1)
			look_at(child, depth);
		if (file)
			fclose(file);
	}
	globfree(&lists);
}

static void *be_watch(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&watch.stop, __ATOMIC_RELAXED)) {
		look_below(getpid(), 0);
		usleep(PAUSE_US);
	}
	return NULL;
}

void doctor_watch_children(struct doctor *doctor)
{
	watch.into = doctor;
	watch.started = thread_start(&watch.thread, be_watch, NULL);
}

void doctor_watch_end(void)
{
	__atomic_store_n(&watch.stop, true, __ATOMIC_RELAXED);
	if (watch.started)
		pthread_join(watch.thread, NULL);
	watch.started = false;
}
