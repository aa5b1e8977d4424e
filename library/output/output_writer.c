/* SPDX-License-Identifier: MIT */
#include "output_writer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void read_line(const char *file, char *line, size_t size)
{
	FILE *f = fopen(file, "re");

	line[0] = '\0';
	if (!f)
		return;
	if (!fgets(line, (int)size, f))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(f);
}

/* When a process started, in ticks since boot (proc(5), field 22 of stat); 0: there is none, or it
 * has ended and nobody has waited for it. */
static unsigned long long start_of(int pid)
{
	char file[64], line[1024];
	const char *at;
	unsigned long long start = 0;
	long threads = 0;
	char state = 0;

	snprintf(file, sizeof(file), "/proc/%d/stat", pid);
	read_line(file, line, sizeof(line));
	at = strrchr(line, ')');
	if (at)
		sscanf(at + 1,
		       " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld"
		       " %*d %llu",
		       &state, &threads, &start);
	/* where only the first thread has ended, the others count as well */
	return (state == 'Z' || state == 'X') && threads <= 1 ? 0 : start;
}

/* The place where pids mean what they mean here: host, boot, pid namespace. */
static void place_of_self(char *text, size_t size)
{
	char host[256] = "", boot[64], space[64] = "";
	ssize_t n;

	gethostname(host, sizeof(host) - 1);
	read_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	n = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);
	space[n > 0 ? n : 0] = '\0';
	snprintf(text, size, "%s %s %s", host, boot, space);
}

void output_writer(char *text, size_t size)
{
	char place[512];

	place_of_self(place, sizeof(place));
	snprintf(text, size, "%d %llu %s", getpid(), start_of(getpid()), place);
}

bool output_writer_lives(const char *writer)
{
	char place[512];
	unsigned long long start;
	int pid, at = 0;

	if (sscanf(writer, "%d %llu %n", &pid, &start, &at) < 2 || !at)
		return false;
	place_of_self(place, sizeof(place));
	if (strcmp(writer + at, place) != 0) {
		size_t host = strcspn(place, " ");
		size_t boot = host + 1 + strcspn(place + host + (place[host] != '\0'), " ");

		/* Same host, other boot: it went down with the machine. */
		return strncmp(writer + at, place, host + 1) != 0 ||
		       strncmp(writer + at, place, boot) == 0;
	}
	return start_of(pid) == start;
}
