/* SPDX-License-Identifier: MIT */
/* The program that the tests of the bus run (test_bus.c): each scenario in a process of its own, as the bus starts once
 * in a process. A scenario returns normally when all went well; CHECK ends the process with a line that says what did
 * not. */
#pragma once

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rtl/rtl.h>

#include "probe.h"

struct scenario {
	const char *name;
	void (*run)(void);
	struct scenario *next;
};

void scenario_add(struct scenario *scenario);

/* SCENARIO(name) { ... }: a scenario, known to main by its name. */
#define SCENARIO(name_)                                                                            \
	static void run_##name_(void);                                                             \
	__attribute__((constructor)) static void add_##name_(void)                                 \
	{                                                                                          \
		static struct scenario self = {#name_, run_##name_, NULL};                         \
		scenario_add(&self);                                                               \
	}                                                                                          \
	static void run_##name_(void)

void check_failed(const char *file, int line, const char *what) __attribute__((noreturn));

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			check_failed(__FILE__, __LINE__, #condition);                              \
	} while (0)

/* ---- the stream of the tests */

/* Payload of RTL_TASK_BEGIN and RTL_TASK_END; a tail of any size may follow, see publish_item. */
struct item {
	uint64_t sequence;
	uint32_t thread;
	uint32_t tail; /* bytes that follow, pattern_byte() each */
};

/* Registers it: types RTL_TASK_BEGIN, RTL_TASK_END (struct item) and RTL_SIGNAL (no payload). */
struct rtl_stream *register_stream(const char *name);

/* Publishes an item; false: nobody wants it, or it was discarded. */
bool publish_item(struct rtl_stream *stream, uint16_t type, uint32_t thread, uint64_t sequence,
		  uint32_t tail);
/* Whether an item arrived as publish_item made it. */
bool item_is_whole(const struct rtl_event *event);

static inline const struct item *event_item(const struct rtl_event *event)
{
	return event->payload;
}

struct rtl_ledger ledger_of(const struct rtl_stream *stream);
/* rtl_flush, and it has to work. */
void flush_all(void);

/* ---- counting what arrives: hooks to put into probe_hooks */

#define THREADS_MAX 2048

/* Buffered events of RTL_TASK_BEGIN: whole, and each thread's with rising sequence. */
struct arrived {
	uint64_t total;
	uint64_t gaps; /* sequence numbers left out */
	uint64_t next[THREADS_MAX];
};

extern struct arrived arrived;

void count_arrived(struct probe *probe, const struct rtl_event *const *events, size_t count);

pthread_t start_thread(void *(*fn)(void *), void *user);
void join_thread(pthread_t thread);
/* The state of a thread as the kernel shows it: 'R', 'S', ... */
char thread_state(uint32_t tid);
/* Atomics for flags between threads. */
static inline uint32_t flag_get(const uint32_t *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static inline void flag_set(uint32_t *flag, uint32_t value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

void flag_wait(const uint32_t *flag, uint32_t value);

#if defined(__SANITIZE_ADDRESS__)
#	define UNDER_ASAN 1
#elif defined(__has_feature)
#	if __has_feature(address_sanitizer)
#		define UNDER_ASAN 1
#	endif
#endif
#ifndef UNDER_ASAN
#	define UNDER_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#	define UNDER_TSAN 1
#elif defined(__has_feature)
#	if __has_feature(thread_sanitizer)
#		define UNDER_TSAN 1
#	endif
#endif
#ifndef UNDER_TSAN
#	define UNDER_TSAN 0
#endif

/* Ends a scenario that ThreadSanitizer cannot do; `why` is for the reader. */
#define NOT_UNDER_TSAN(why)                                                                        \
	do {                                                                                       \
		if (UNDER_TSAN)                                                                    \
			_exit(SKIPPED);                                                            \
	} while (0)
/* Status of a scenario that cannot run here. */
#define SKIPPED 77
