/* SPDX-License-Identifier: MIT */
/*
 * roctx_calls [library]: ranges and marks in all ways that roctx has, and what it returned. Built
 * without a library of roctx: its functions are those of whoever has them, at run time. Writes
 * what a trace should have, for roctx_database.py:
 *
 *	range LEVEL NAME PARENT...	pushed; the names of the two ranges around it, "-" if none
 *	started NAME, open NAME		stopped; never stopped or popped
 *	mark NAME PARENT, name KIND OBJECT NAME
 *
 * Names have no blanks. With "library" a library of roctx is there: it has been loaded.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Weak: nobody need have them when this is linked. libroctx64 has the first five only. */
#pragma weak roctxMarkA
#pragma weak roctxRangePushA
#pragma weak roctxRangePop
#pragma weak roctxRangeStartA
#pragma weak roctxRangeStop
#pragma weak roctxGetThreadId
#pragma weak roctxProfilerPause
#pragma weak roctxProfilerResume
#pragma weak roctxNameOsThread
#pragma weak roctxNameHsaAgent
#pragma weak roctxNameHipDevice
#pragma weak roctxNameHipStream
void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
int roctxGetThreadId(uint64_t *tid);
int roctxProfilerPause(uint64_t tid);
int roctxProfilerResume(uint64_t tid);
int roctxNameOsThread(const char *name);
int roctxNameHsaAgent(const char *name, const void *agent);
int roctxNameHipDevice(const char *name, int device);
int roctxNameHipStream(const char *name, const void *stream);

#define EXPECT(what, value)                                                                        \
	do {                                                                                       \
		const long got_ = (long)(what);                                                    \
		if (got_ != (long)(value)) {                                                       \
			printf("roctx_calls: FAILED: %s is %ld, not %ld\n", #what, got_,           \
			       (long)(value));                                                     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void nested(int depth)
{
	char name[32], parent[32] = "-";

	for (int i = 0; i < depth; i++) {
		snprintf(name, sizeof(name), "deep%d", i);
		EXPECT(roctxRangePushA(name), i);
	}
	for (int i = depth - 1; i >= 0; i--) {
		EXPECT(roctxRangePop(), i);
		if (i)
			snprintf(parent, sizeof(parent), "deep%d", i - 1);
		printf("range %d deep%d %s\n", i, i, i ? parent : "-");
	}
}

static void *other_thread(void *id)
{
	EXPECT(roctxRangePop(), -1); /* its own stack is empty */
	roctxRangeStop(*(uint64_t *)id);
	printf("started by-another\n");
	EXPECT(roctxRangePushA("in-thread"), 0);
	roctxMarkA("mark-in-thread");
	printf("mark mark-in-thread in-thread\n");
	EXPECT(roctxRangePop(), 0);
	printf("range 0 in-thread -\n");
	EXPECT(roctxRangePushA("left-open"), 0);
	printf("open left-open\n");
	return NULL;
}

static void start_and_stop(void)
{
	const uint64_t first = roctxRangeStartA("first"), second = roctxRangeStartA("second");
	uint64_t third = roctxRangeStartA("by-another");
	pthread_t thread;

	EXPECT(first != second && second != third && first, 1);
	roctxRangeStop(first); /* they may overlap */
	printf("started first\n");
	roctxRangeStop(second);
	printf("started second\n");
	roctxRangeStop(second); /* again, and one that never was */
	roctxRangeStop(UINT64_MAX);
	if (pthread_create(&thread, NULL, other_thread, &third))
		exit(1);
	pthread_join(thread, NULL);
}

static void names(bool library)
{
	const uint64_t agent = 0x4711;
	uint64_t tid = 0;

	if (!roctxGetThreadId)
		return;
	EXPECT(roctxGetThreadId(&tid), 0);
	if (!library)
		EXPECT(tid, syscall(SYS_gettid));
	EXPECT(roctxNameOsThread("main-thread"), 0);
	printf("name 1 0x%lx main-thread\n", (long)syscall(SYS_gettid));
	EXPECT(roctxNameHsaAgent("an-agent", &agent), 0);
	printf("name 2 0x4711 an-agent\n");
	EXPECT(roctxNameHsaAgent("no-agent", (void *)16), 0);
	printf("name 2 0x0 no-agent\n");
	EXPECT(roctxNameHipDevice("device-3", 3), 0);
	printf("name 3 0x3 device-3\n");
	EXPECT(roctxNameHipStream("a-stream", (void *)0x5000), 0);
	printf("name 4 0x5000 a-stream\n");
	EXPECT(roctxProfilerPause(0), 0);
	EXPECT(roctxProfilerResume(0), 0);
}

static void long_names(void)
{
	char name[2001];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	EXPECT(roctxRangePushA(name), 0);
	roctxMarkA(name);
	EXPECT(roctxRangePop(), 0);
	printf("mark %.1024s %.1024s\n", name, name);
	printf("range 0 %.1024s -\n", name);
	EXPECT(roctxRangePushA(""), 0);
	EXPECT(roctxRangePop(), 0);
	printf("range 0 (empty) -\n");
}

/* The libraries themselves may not survive it. */
static void null_names(void)
{
	EXPECT(roctxRangePushA(NULL), 0);
	roctxMarkA(NULL);
	EXPECT(roctxRangePop(), 0);
	printf("mark (empty) (empty)\n");
	printf("range 0 (empty) -\n");
	roctxRangeStop(roctxRangeStartA(NULL));
	printf("started (empty)\n");
}

int main(int argc, char **argv)
{
	const bool library = argc > 1 && !strcmp(argv[1], "library");

	if (!roctxMarkA) {
		printf("roctx_calls: FAILED: nobody has roctx\n");
		return 1;
	}
	EXPECT(dlopen("libroctx64.so.4", RTLD_NOLOAD | RTLD_LAZY) != NULL, library);
	EXPECT(roctxRangePop(), -1);
	roctxMarkA("a-mark");
	printf("mark a-mark -\n");
	nested(1000);
	EXPECT(roctxRangePop(), -1);
	start_and_stop();
	names(library);
	long_names();
	if (!library)
		null_names();
	printf("roctx_calls: ok\n");
	return 0;
}
