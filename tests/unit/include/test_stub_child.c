/* SPDX-License-Identifier: MIT */
/* A program with two libraries that may be traced and do not require rtl. Run by test_stub.c, with the name of a
 * scenario; and by hand or by tests/bench:
 *
 *     test_stub_child bench [COUNT]
 *
 * prints one line: ns for each turn of an empty loop, and of one with a disabled tracepoint of the library. With librtl
 * (LD_LIBRARY_PATH, RTL_SUBSCRIBERS) the stream is registered first, and RTL_STREAMS should leave it out. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rtl/types.h>

#include "probe.h"
#include "test_stub_library.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "CHECK failed: line %d: %s\n", __LINE__, #condition);      \
			_exit(99);                                                                 \
		}                                                                                  \
	} while (0)

static const struct stub_library *libraries[2];

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void check_times(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	uint64_t now = now_ns(CLOCK_BOOTTIME);

	for (size_t i = 0; i < count; i++)
		CHECK(events[i]->time_ns <= now + 1000000 &&
		      events[i]->time_ns + 100000000000u > now);
}

static const struct probe_hooks hooks = {.buffered = check_times};
extern const struct probe_hooks *probe_hooks;
const struct probe_hooks *probe_hooks = &hooks;

static bool librtl_is_mapped(void)
{
	char line[4096];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");

	CHECK(maps);
	while (fgets(line, sizeof(line), maps))
		found = found || strstr(line, "/librtl.so");
	fclose(maps);
	return found;
}

static void absent(void)
{
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 2; k++)
			CHECK(libraries[i]->register_stream() == RTL_ENOTSUP);
		CHECK(!libraries[i]->publish(100));
		libraries[i]->mark();
		CHECK(libraries[i]->others_absent());
		CHECK(!libraries[i]->available() && !libraries[i]->second_found());
		libraries[i]->disabled(100);
	}
	CHECK(!librtl_is_mapped());
}

static void traced(void)
{
	for (int i = 0; i < 2; i++) {
		CHECK(!libraries[i]->register_stream());
		CHECK(libraries[i]->available() && libraries[i]->second_found());
		CHECK(libraries[i]->publish(100) == 100);
		libraries[i]->mark();
		CHECK(libraries[i]->others_work());
	}
}

/* The first use is a mark: it looks for librtl. */
static void marks_only(void)
{
	libraries[0]->mark();
	libraries[1]->mark();
	CHECK(libraries[0]->available() && libraries[1]->available());
}

static void late(void)
{
	const char *path = getenv("STUB_LIBRTL");
	char subscribers[2048];

	absent();
	snprintf(subscribers, sizeof(subscribers), "%s?streams=&detail=1&output=%s", PROBE_SUB,
		 getenv("BUS_OUT"));
	CHECK(path && dlopen(path, RTLD_NOW | RTLD_LOCAL));
	setenv("RTL_SUBSCRIBERS", subscribers, 1);
	CHECK(!libraries[0]->publish(100)); /* nobody has looked */
	CHECK(libraries[0]->available() && !libraries[1]->second_found());
	traced();
}

static void *register_one(void *library)
{
	CHECK(!((const struct stub_library *)library)->register_stream());
	return NULL;
}

/* All look at once. */
static void threads(void)
{
	pthread_t all[16];

	for (int i = 0; i < 16; i++)
		CHECK(!pthread_create(&all[i], NULL, register_one,
				      (void *)(uintptr_t)libraries[i % LIBRARIES_AT_ONCE]));
	for (int i = 0; i < 16; i++)
		CHECK(!pthread_join(all[i], NULL));
	for (int i = 0; i < 2; i++) {
		CHECK(!libraries[i]->register_stream());
		CHECK(libraries[i]->publish(8) == 8);
	}
}

/* What there is to publish was published by the libraries' constructors. */
static void constructors(void)
{
	CHECK(libraries[0]->available() && libraries[1]->available());
	CHECK(libraries[0]->publish(10) == 10 && libraries[1]->publish(10) == 10);
}

static void missing(void)
{
	CHECK(libraries[0]->register_stream() == RTL_ENOTSUP);
	CHECK(libraries[0]->register_stream() == RTL_ENOTSUP); /* says nothing more */
	CHECK(!libraries[0]->publish(100));
}

static void bench(uint64_t count)
{
	uint64_t i, begin = now_ns(CLOCK_MONOTONIC), between;

	for (i = 0; i < count; i++)
		__asm__ volatile("");
	between = now_ns(CLOCK_MONOTONIC);
	libraries[0]->disabled(count);
	printf("empty %.3f disabled %.3f ns\n", (double)(between - begin) / (double)count,
	       (double)(now_ns(CLOCK_MONOTONIC) - between) / (double)count);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenarios[] = {
		{"absent", absent},   {"traced", traced},   {"marks_only", marks_only},
		{"late", late},       {"threads", threads}, {"constructors", constructors},
		{"missing", missing},
	};

	libraries[0] = stub_library_c();
	libraries[1] = stub_library_cpp();
	if (argc > 1 && !strcmp(argv[1], "bench")) {
		libraries[0]->register_stream();
		bench(argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000000u);
		return 0;
	}
	for (size_t i = 0; argc == 2 && i < sizeof(scenarios) / sizeof(*scenarios); i++)
		if (!strcmp(scenarios[i].name, argv[1])) {
			scenarios[i].run();
			return 0;
		}
	fprintf(stderr, "usage: %s SCENARIO | bench [COUNT]\n", argv[0]);
	return 2;
}
