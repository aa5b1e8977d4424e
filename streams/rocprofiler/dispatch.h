/* SPDX-License-Identifier: MIT */
/*
 * Dispatches: queues that are intercepted, and kernels that are counted one at a time.
 *
 * A GPU's registers are all queues', so a counted dispatch first waits for its turn: a barrier tells that
 * it has arrived, a second one waits until the turn is given. Turns are given in the order of arrival, by
 * a thread of ours, and go on when the packet that stops the counters has ended, or its queue is gone. If
 * a turn does not end, all go, and nothing more is counted.
 *
 * Threads: the program's, one at a time for each queue; the service, which also calls the tool's handlers.
 */
#ifndef ROCPROFILER_DISPATCH_H
#define ROCPROFILER_DISPATCH_H

#include "context.h"
#include "table.h"

/* Hooks the creation and destruction of queues; in OnLoad. Each is intercepted, or its work is to count in samples,
 * or both. The runtime takes out hooks when it ends. (queues.c) */
void dispatch_hook(struct root_table *table, bool intercepts, bool enables);

/* Kernels' times are wanted; callbacks are told of queues and packets alone (opt_mode). Set in OnLoad. */
extern bool dispatch_times, dispatch_terse;

struct dispatch_callbacks {
	rocprofiler_queue_callbacks_t functions;
	void *data;
	bool there, started;
};

/* Those that the tool has set last. */
struct dispatch_callbacks dispatch_callbacks(void);

/* What the runtime calls with a queue's packets, in its lock; data: a struct queue. */
void dispatch_on_packets(const void *packets, uint64_t count, uint64_t index, void *data,
			 packet_writer write);

/* A kernel's name as the program has it, demangled where it was mangled, or that it is not known. Stays. (kernels.c) */
const char *kernel_name(uint64_t object);
const amd_kernel_code_t *kernel_code(uint64_t object);
void kernels_hook(struct root_table *table);
/* Whether callbacks are called with code objects and kernels: what the tool's settings say, until it has ended. */
void kernels_are_told(bool wanted);

#endif
