/* SPDX-License-Identifier: MIT */
/* What the parts of librocprofiler64 share: the HSA runtime's functions, its GPUs, and errors.
 *
 * The library is a tool of the HSA runtime (OnLoad), or a program that has begun the runtime calls it. It never links
 * to the runtime, nor to librtl. It has rtl's definitions of counters (metrics.h) and vendor's library (library.h).
 *
 * Threads: the program's, and the service (service.c). No lock is held around a callback or a call that waits. */
#pragma once

#include "../common/threads.h"
#pragma GCC visibility push(default)
#include "include/rocprofiler/rocprofiler.h"
#pragma GCC visibility pop
#include "interceptor.h"
#include "library.h"

#define EXPORT __attribute__((visibility("default")))

/* The runtime's functions, which library.c calls, too. */
static struct hsa_functions *const hsa = &interceptor.hsa;

/* On this thread rocprofiler itself makes a queue: hooks only pass on. */
extern _Thread_local bool runtime_own_call __attribute__((tls_model("initial-exec")));

/* Finds the functions, once. HSA_STATUS_ERROR_NOT_INITIALIZED after a line: no runtime is loaded. */
hsa_status_t runtime_find(void);

/* OnLoad: the library's own looks at signals are none of the program's, which are hooked next (harvest.h). */
struct root_table;
void runtime_keep_waits(struct root_table *table);

/* The runtime has ended: its GPUs are found anew when it begins again. */
void runtime_forget(void);
/* Which of the runtime's lives this is, and whether that one still lasts: what was made in it is gone then. */
uint64_t runtime_life(void);
bool runtime_lasts(uint64_t life);

/* Ticks of the system clock that a wait of so many ns takes. */
uint64_t runtime_ticks(uint64_t ns);
/* A time of that clock in ns. */
uint64_t runtime_ns(uint64_t ticks);

/* ROCm's timeout, ns; all ones: for ever. */
extern uint64_t runtime_timeout_ns;

/* Waits until the signal is below 1. False, after an error, when that time or the timeout is over. */
bool runtime_wait(hsa_signal_t signal, const char *what, uint64_t most_ns);

/* library_find, by any thread. */
hsa_status_t vendor_find(void);

struct gpu;

/* library_enable, by any thread: a copy. False after a line in `why`. */
bool vendor_enable(struct gpu *gpu, struct library_packet *packet, char *why, size_t size);

/* ---- errors ---- */

/* The line that rocprofiler_error_string gives; returns `status`. */
hsa_status_t fail(hsa_status_t status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A line to stderr, "rocprofiler: ...". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- GPUs ---- */

struct work;

struct gpu {
	hsa_agent_t agent;
	uint32_t index;
	struct counter_set *set; /* NULL: gpu_set says why */
	/* The service's (dispatch.c): whose turn it is, since when, and who waits for it. */
	struct work *turn, *first;
	uint64_t turn_since_ns;
};

/* NULL after a line: it is no GPU of this process. */
struct gpu *gpu_of(hsa_agent_t agent);
/* The same without a line, of any agent. */
struct gpu *gpu_if_any(hsa_agent_t agent);
struct gpu *gpu_at(uint32_t index); /* NULL: there are no more */
/* Its definitions; NULL after a line. */
struct counter_set *gpu_set(struct gpu *gpu);
