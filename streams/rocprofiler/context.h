/* SPDX-License-Identifier: MIT */
/* Contexts: what is counted together, its memory, packets and values. All features of a context are one group. It is
 * used on a queue of the caller's (start, read, stop), or for one dispatch after the other (dispatch.c), never both.
 *
 * Threads: one at a time for each context; in intercept mode the submitting thread, then the service, then its
 * handler's thread, or whoever asks for its data or closes it instead. */
#pragma once

#include "runtime.h"

struct pool_entry;

struct context {
	struct gpu *gpu;
	rocprofiler_feature_t *features; /* the caller's */
	rocprofiler_feature_t **pointers;
	uint32_t feature_count;
	struct metric **metrics; /* of each feature */

	struct library_events events;
	struct library_count *count; /* NULL: without features, for times only */
	struct library_sample *samples;
	size_t sample_count;
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

	/* Below 1: what was submitted last has ended; its turn has come, or, standalone, counters run; it has the turn.
	 *  */
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

hsa_status_t context_create(struct gpu *gpu, rocprofiler_feature_t *features, uint32_t count,
			    struct context **context);
/* Waits for what the GPU does, and for no handler: a tool may close it with a lock that its handlers want. */
void context_destroy(struct context *context);
/* A use ends; with the last one the context. */
void context_unuse(struct context *context);
/* Contexts that are used on it use it no more. */
void context_queue_is_gone(const hsa_queue_t *queue);

/* The dispatch of a pool's entry has ended (pool.c). */
void pool_complete(struct pool_entry *entry);
/* The dispatch that it was fetched for is not counted: it can be fetched again. */
hsa_status_t pool_give_back(struct pool_entry *entry);

/* The service: a thread that sees what has ended and gives turns, and one that calls the tool's handlers. Not the
 * runtime's thread of handlers: there the program may wait for the kernel whose turn we would give.
 *
 * Threads: any hand work over; the rest is the service's own. One lock, around the list of new work. */

/* A dispatch of which the tool wants something. Made by the submitting thread, then the service's. */
struct work {
	struct work *next;  /* of the service's list */
	struct work *after; /* of those that wait for their turn */
	struct gpu *gpu;
	struct queue *queue;
	uint64_t position; /* packets of the queue up to its last */
	struct context *context;
	rocprofiler_group_t group;
	hsa_signal_t kernel, original; /* ours in the packet, or 0, and the program's */
	/* The tool's once it was told of it: freed by nobody here, and given `complete` at the end in any
	 * case. NULL: no times. */
	rocprofiler_dispatch_record_t *record;
	bool counts;
	bool arrived, has_turn, kernel_ended, counts_ended; /* seen by the service */
};

struct queue {
	struct queue *next;
	hsa_queue_t *queue;
	struct gpu *gpu;
	uint32_t id;
	bool times;                     /* of its kernels are wanted */
	struct library_packet *packets; /* of one call */
	size_t room;
	uint64_t written; /* packets, in the queue's lock */
	/* How many of these are known to have ended; work under way. Release by the service, acquire by who waits for
	 * room. The memory stays, as work may name it. */
	uint64_t ended;
	uint32_t under_way;
	bool destroyed; /* release, acquire */
};

/* Waits, so long at most, until the queue's ring has surely room for so many packets, or nothing of it is under way.
 * (dispatch.c) */
void queue_wait(const struct queue *queue, uint64_t packets, uint32_t ms);

/* From now on the service's. False after a line: there is no service. */
bool service_take(struct work *work);

/* Whether turns have ended for good: nothing more is counted. */
bool service_released(void);

/* RTL_COUNTERS_TIMEOUT, or what it is without that. */
uint64_t service_wait_ns(void);

/* Waits until the tool has been told of all that was submitted before, five seconds at most; whether it was. */
bool service_wait(void);
/* The same; what has not ended by then is dropped. */
void service_finish(void);

/* The last that is written of a record: its tool may wait for that. */
void record_complete(rocprofiler_dispatch_record_t *record);

/* The HSA system clock, ns. */
uint64_t clock_hsa_ns(void);

/* Dispatches: queues that are intercepted, and kernels that are counted one at a time, in turns as in hsa/counter. A
 * turn ends with the packet that stops the counters, or with its queue. If one does not end, all go, and nothing more
 * is counted.
 *
 * Threads: the program's, one at a time for each queue; the service. */

/* Hooks the creation and destruction of queues, in OnLoad: to intercept them, to let their work count in samples, or
 * both. The runtime removes hooks when it ends. (queues.c) */
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
