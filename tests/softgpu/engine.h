/* SPDX-License-Identifier: MIT
 *
 * Engines: a thread that works on the queues it was given, one for the AQL queues of a GPU
 * and one for its SDMA queues. It polls: closely while there is work, then ever more
 * seldom, down to once every SOFTGPU_SLEEP_US; sg_engines_kick() wakes those that sleep.
 *
 * Threads: all functions from any thread. The lock of an engine is held while it takes a
 * step and while its list of queues changes. The thread blocks all signals.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel.h"
#include "log.h"
#include "queue.h"

/* Works on what a queue has to offer now; whether it got anywhere. Lowers *wake_ns to the
 * time when there will be something to do that no producer announces. */
typedef bool sg_step(struct sg_engine *engine, struct sg_queue *queue, uint64_t *wake_ns);

struct sg_engine {
	sg_step *step;
	char name[16];
	struct sg_queue *queues;
	pthread_t thread;
	pthread_mutex_t lock;
	_Atomic uint32_t lock_wanted;
	_Atomic bool quit;
	bool running;

	/* the thread's own */
	struct sg_log log;
	struct sg_kernel_cache kernels;
};

/* Does not start the thread yet. May be called again on an engine of the parent, in the child after a fork. */
void sg_engine_init(struct sg_engine *engine, sg_step *step, uint32_t gpu, const char *suffix);

/* Starts the thread if need be. 0 or an errno value. */
int sg_engine_start(struct sg_engine *engine);

/* Ends the thread; its queues must be gone. */
void sg_engine_stop(struct sg_engine *engine);

void sg_engine_add(struct sg_engine *engine, struct sg_queue *queue);

/* When it returns the engine does not touch the queue any more. */
void sg_engine_remove(struct sg_queue *queue);

/* Let all engines that sleep look at their queues at once. */
void sg_engines_kick(void);
