/* SPDX-License-Identifier: MIT */
/*
 * Copies: hooks of the functions that copy and fill memory.
 *
 * An asynchronous copy keeps its completion signal, from which its times are read before it is reused, as a dispatch's
 * (signal_watch.h). The runtime writes times only where profiling of copies is enabled, for the whole process: the
 * first copy that somebody wants enables it, and it stays enabled. Copies that share a signal have no times.
 *
 * Copies under way are slots in their own pool, which the harvester looks after like those of a queue.
 *
 * hsa_memory_copy and hsa_amd_memory_fill return when the GPU is done and have no signal: their times are those of the
 * call. Between memories of the host they are no work of a GPU and are not published.
 *
 * Threads: the application's. Locks: one around the pool's two rings, held for some loads and stores; signal_watch.h's.
 */
#pragma once

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#include "publish.h"
#include "table.h"

struct copy_slot;

/* What a copy's caller asks for. */
struct copy_request {
	uint64_t src, dst, bytes;
	hsa_agent_t src_agent, dst_agent;
	uint32_t extent[3];
	uint32_t engine, parts;
	uint8_t function; /* enum rtl_hsa_copy_kind */
	bool waits;       /* for signals */
};

/* Puts the hooks into the runtime's table, where it has these functions. */
void copies_hook(struct root_table *root);

/* Whether somebody wants copies now; which mode lite does not trace. */
bool copies_wanted(void);
bool copies_traced(void);

/* Before the runtime is called: a slot for the copy with that signal, or NULL if it cannot be traced, which has been
 * counted. */
struct copy_slot *copies_begin(const struct copy_request *request, uint64_t signal);

/* After it: with what it returned. */
void copies_end(struct copy_slot *slot, hsa_status_t status);

/* After the runtime was called for such as are not traced: counts what mode lite leaves out. */
void copies_untraced(uint64_t bytes, uint32_t count, hsa_status_t status);

/* Whether profiling of copies is on by our doing, and has to stay so. */
bool copies_are_profiled(void);

/* What a copy under way is; in a slot, or, of a synchronous one, with its caller. */
struct copy_call {
	struct copy copy;
	struct work_scope scope;
	bool in_scope;
	bool left_out; /* by the user's selection: it is only counted */
};

/* Before the runtime is called; its time begins to run. */
void copies_call_begin(struct copy_call *call, const struct copy_request *request);

/* After it: with what it returned. */
void copies_call_end(struct copy_call *call, hsa_status_t status);

/* copy_batch.c */
hsa_status_t copy_batch(const void *ops, uint32_t op_count, uint32_t dep_count,
			const hsa_signal_t *deps);
