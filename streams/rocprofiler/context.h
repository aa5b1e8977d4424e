/* SPDX-License-Identifier: MIT */
/*
 * Contexts: what is counted together, its memory, packets and values. All of a context's features are one
 * group. A context is used on a queue of the caller's (start, read, stop), or for one dispatch after the
 * other (dispatch.c), never both.
 *
 * Threads: one at a time for each context; in intercept mode that is the submitting thread, then the
 * service, then its handler's thread, or whoever asks for its data or closes it instead.
 */
#ifndef ROCPROFILER_CONTEXT_H
#define ROCPROFILER_CONTEXT_H

#include <stdbool.h>

#include "runtime.h"

struct pool_entry;

struct context {
	struct gpu *gpu;
	rocprofiler_feature_t *features; /* the caller's */
	rocprofiler_feature_t **pointers;
	uint32_t feature_count;
	struct metric **metrics; /* of each feature */

	struct library_event *events;
	uint32_t event_count;
	struct library_count *count; /* NULL: without features, for times only */
	struct library_sample *samples;
	size_t sample_count, sample_room;
	bool has_data;

	hsa_queue_t *queue;   /* standalone */
	struct context *next; /* of those */
	bool started;
	/* Of the queue. Release by who destroys it, acquire. */
	bool queue_is_gone;
	uint64_t life; /* of the runtime, whose memory and signals these are */

	rocprofiler_handler_t handler;
	void *handler_arg;
	struct pool_entry *entry; /* of a pool */

	/* Below 1: what was submitted last has ended; the turn (dispatch.c) has come, or, standalone, the
	 * counters run; the turn is given. */
	hsa_signal_t done, ready, grant;
	/* The caller's, until it is closed, and that of the dispatch that is counted with it. Acquire, release. */
	unsigned uses;
	/* Closed: nobody is told of its dispatch. Release by who closes, acquire before its handler. */
	bool closed;
	/* A dispatch is counted with it. Acquire and release, between submitting thread and handlers. */
	bool busy;
	/* Its dispatch has not ended in time: the GPU may still write. Release by the service, acquire. */
	bool abandoned;
};

static inline bool context_is_abandoned(const struct context *context)
{
	return __atomic_load_n(&context->abandoned, __ATOMIC_ACQUIRE);
}

/* Under way, and it will end. */
static inline bool context_is_busy(const struct context *context)
{
	return __atomic_load_n(&context->busy, __ATOMIC_ACQUIRE) && !context_is_abandoned(context);
}

hsa_status_t context_create(struct gpu *gpu, rocprofiler_feature_t *features, uint32_t count,
			    struct context **context);
/* Waits for what the GPU does, and for no handler: a tool may close it with a lock that its handlers want. */
void context_destroy(struct context *context);
/* A use ends; with the last one the context. */
void context_unuse(struct context *context);
rocprofiler_group_t context_group(struct context *context);
/* Contexts that are used on it use it no more. */
void context_queue_is_gone(const hsa_queue_t *queue);

/* Reads the GPU's memory; the values of counters go to the features. */
hsa_status_t context_collect(struct context *context);

/* The dispatch of a pool's entry has ended (pool.c). */
void pool_complete(struct pool_entry *entry);
/* The dispatch that it was fetched for is not counted: it can be fetched again. */
void pool_give_back(struct pool_entry *entry);

#endif
