/* SPDX-License-Identifier: MIT */
/* What the programs of tests/bench/bus share: samples of a measurement, clocks, CPUs. */
#pragma once

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 8

/* Fields of an event of the benchmark: the same for rtl and for its peer. */
struct bench_payload {
	uint64_t a, b, c, d;
};

/* Nanoseconds for each operation, one number for each batch. */
struct samples {
	double *ns;
	size_t count, room;
};

static inline uint64_t bench_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline void samples_add(struct samples *s, double ns)
{
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->ns = realloc(s->ns, s->room * sizeof(*s->ns));
		if (!s->ns)
			abort();
	}
	s->ns[s->count++] = ns;
}

static inline int by_value(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

/* Adds those of all threads to the first's, and sorts them. */
static inline void samples_join(struct samples *s, unsigned threads)
{
	for (unsigned t = 1; t < threads; t++)
		for (size_t i = 0; i < s[t].count; i++)
			samples_add(&s[0], s[t].ns[i]);
	qsort(s[0].ns, s[0].count, sizeof(*s[0].ns), by_value);
}

static inline void samples_print(const char *name, const struct samples *sorted)
{
	printf("%s %.3f %.3f\n", name, sorted->ns[0], sorted->ns[sorted->count / 2]);
}

/* The calling thread runs there; threads that it starts inherit it. cpu < 0: left as it is. */
static inline void use_cpu(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
}

/* Prints what of /proc/self/status tells of memory, in KiB: "memory NAME rss R peak P ..." */
static inline void print_memory(const char *name)
{
	static const char *const keys[][2] = {{"VmRSS:", "rss"},
					      {"VmHWM:", "peak"},
					      {"RssAnon:", "anon"},
					      {"RssFile:", "file"},
					      {"RssShmem:", "shmem"}};
	FILE *in = fopen("/proc/self/status", "r");
	char line[256];

	printf("memory %s", name);
	while (in && fgets(line, sizeof(line), in))
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			if (!strncmp(line, keys[i][0], strlen(keys[i][0])))
				printf(" %s %ld", keys[i][1], atol(line + strlen(keys[i][0])));
	printf("\n");
	if (in)
		fclose(in);
}
