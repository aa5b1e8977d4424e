/* SPDX-License-Identifier: MIT */
/*
 * What the interceptors of HIP, HSA and roctx leave each other.
 *
 * Threads: any, where nothing else is said. No locks.
 */
#pragma once

#include <rtl/stream.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the calling thread works for, beside its scope (rtl/scope.h), which gives the correlation: HIP's interceptor
 * leaves here when its call began, roctx the innermost range, and the HSA interceptor counts what it submits. One for
 * each thread; nobody else looks. */
struct call_context {
	uint64_t call_ticks; /* when the innermost call of HIP that is recorded began; 0: none */
	uint64_t hip_stream; /* the hipStream_t among its arguments; 0: none */
	uint64_t range;      /* instance of the innermost pushed range that is recorded; 0: none */
	/* Of scopes of ours that are nested deeper than rtl/scope.h keeps, 0 where they are kept: */
	uint64_t inner;       /* instance of the innermost */
	uint64_t correlation; /* of the innermost call among them */
	uint32_t work;  /* dispatches and copies that were submitted within the innermost call */
	uint32_t depth; /* calls of HIP that are open */
};

extern __thread struct call_context thread_context __attribute__((tls_model("initial-exec")));

/* For librtl_rccl, which finds it by name: the thread's last call of HIP that has submitted something; 0: none. */
uint64_t rtl_rocm_last_work(void);

/* Not 0 if the begin (an even type) or the end (the next one) is wanted: rtl_enabled for both in one relaxed load. The
 * array begins at an even place: test_abi.c. */
static inline unsigned wanted_pair(const struct rtl_stream *stream, uint16_t begin)
{
	typedef uint16_t __attribute__((may_alias)) pair;
	const pair *both = (const pair *)__builtin_assume_aligned(&stream->wanted[begin], 2);

	return __atomic_load_n(both, __ATOMIC_RELAXED);
}

/* Whether anybody wants work of the GPU. Then calls of HIP and ranges of roctx are followed, recorded or not: a
 * dispatch names both. rtl_stream_none until registered: release, acquire by who looks. */
struct work_streams {
	struct rtl_stream *dispatches, *copies;
};

extern struct work_streams work_streams;

static inline void work_streams_set(struct rtl_stream *dispatches, struct rtl_stream *copies)
{
	__atomic_store_n(&work_streams.dispatches, dispatches, __ATOMIC_RELEASE);
	__atomic_store_n(&work_streams.copies, copies, __ATOMIC_RELEASE);
}

static inline bool work_wanted(void)
{
	return (wanted_pair(__atomic_load_n(&work_streams.dispatches, __ATOMIC_ACQUIRE),
			    RTL_TASK_BEGIN) |
		wanted_pair(__atomic_load_n(&work_streams.copies, __ATOMIC_ACQUIRE),
			    RTL_TRANSFER_BEGIN)) != 0;
}

/* Whether the program has paused recording (roctxProfilerPause). What it submits, calls and marks meanwhile is passed
 * on and not counted, as when nobody listens; what had begun before is recorded when it ends. Queues, code, GPUs and
 * memory are recorded all the time. Relaxed: what other threads do around the change may be recorded or not. */
extern bool program_paused;
extern uint32_t program_pause_changes; /* how often that was set */

static inline bool is_paused(void)
{
	return __builtin_expect(__atomic_load_n(&program_paused, __ATOMIC_RELAXED), 0);
}

static inline void set_paused(bool paused)
{
	__atomic_store_n(&program_paused, paused, __ATOMIC_RELAXED);
	/* Release: with the acquire below. */
	__atomic_fetch_add(&program_pause_changes, 1, __ATOMIC_RELEASE);
}

/* For who looks now and then at what calls have left: the same number as before means no change between. */
static inline uint32_t paused_changes(void)
{
	return __atomic_load_n(&program_pause_changes, __ATOMIC_ACQUIRE);
}

/* Whether the program is outside of the roctx ranges that the user wants recorded (RTL_RANGE: names, one a line). While
 * such a range is open on any thread, pushed or started, everything is recorded on all threads. What begins outside is
 * counted as left out when it would have been published; what began inside is recorded when it ends. Queues, code,
 * GPUs, memory and names are recorded all the time. Relaxed: as above. */

/* 0: not known yet; below: all is wanted; else how many such ranges are open, plus 1. */
extern int outside_open;

/* Reads the setting; what outside_open is then. */
int outside_find_out(void);

static inline bool is_outside(void)
{
	int open = __atomic_load_n(&outside_open, __ATOMIC_RELAXED);

	if (__builtin_expect(open < 0, 1))
		return false;
	if (!open)
		open = outside_find_out();
	return open == 1;
}

/* Whether the user has named ranges: then all are followed. */
static inline bool outside_ranges_count(void)
{
	return is_outside() || __atomic_load_n(&outside_open, __ATOMIC_RELAXED) > 1;
}

/* Whether a range of that name is wanted. Then it is open from here on, until outside_range_closes. */
bool outside_range_opens(const char *name, size_t length);
void outside_range_closes(void);

/* What HIP's interceptor tells hsa/report/profiler.c; NULL where that does not ask HIP for its work. Set when the
 * library is loaded, or in hsa_init; relaxed by who looks. */
struct reports {
	/* The program is about to call a function of HIP's that it has not called before. */
	void (*before_first_call)(void);
	/* A call that is followed has returned; its scope is open still. id: the function's number.
	 * slots: its arguments. */
	void (*call_ended)(uint32_t id, const char *function, const uint64_t *slots,
			   bool succeeded);
};

extern struct reports reports;
