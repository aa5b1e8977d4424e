/* SPDX-License-Identifier: MIT */
/*
 * sub.h: an instance of the subscriber that writes to ClickHouse, and what its parts offer each other.
 *
 *   plugin.c   descriptor, settings, the calls of the host: when rows are sent, and what is kept
 *   run.c      the run, its processes and GPUs, the ledger; what is stored of a process already
 *   known.c    rtl's own streams: dispatches, copies, calls, ranges, memory
 *   generic.c  every other stream, by its description
 *   lookup.c   names that the host knows
 *   store.h    blocks on their way; block.h: rows; names.h: texts; http.h: the server
 *
 * All of it runs on the host's thread.
 */
#ifndef RTL_CLICKHOUSE_SUB_H
#define RTL_CLICKHOUSE_SUB_H

#include <rtl/events.h>
#include <rtl/publish.h>
#include <rtl/subscriber.h>

#include "host.h"
#include "map.h"
#include "store.h"
#include "wanted.h"

/* Up to where a table has a process's rows of a ring. */
struct mark {
	char *table;
	uint32_t ring;
	uint64_t position;
};

struct process {
	struct process_columns columns; /* its rows point to them */
	struct process *next;
	const struct rtl_process *info;
	struct map strings; /* id -> name and 1 */
	struct map gpus;    /* node -> name of the uuid and 1 */
	struct mark *marks; /* it was stored in part before */
	size_t mark_count;
	int64_t boot_ns;
};

struct stream {
	struct stream *next;
	struct sub *sub;
	const struct rtl_stream_info *info;
	bool is_hip;        /* of a stream of calls */
	struct type *types; /* of generic.c */
	uint64_t skipped;   /* events that were not as described */
};

struct sub {
	const struct rtl_host *host;
	/* settings */
	char *server, *ca, *database, *user, *password, *run_pattern;
	uint64_t interval_ns, wait_ns;
	uint32_t timeout_s;
	bool args;
	bool recovers, replays, in_process;

	struct names names;
	struct store store;
	bool failed, said_away, lost_memory;
	bool unprepared; /* a recovery's table has no name yet, and the server is away */
	char *run;       /* NULL: no process has begun */
	uint32_t run_name;
	uint16_t day;

	struct stream *streams, **last_stream;
	struct process *processes, **last_process;
	const struct rtl_process *newest_info; /* that was looked up */
	struct process *newest;
	struct wanted_calls hip_calls, hsa_calls;
	uint32_t hip, hsa;  /* names */
	struct map kernels; /* uid -> name and 1 */
	struct store_table *process_table, *gpu_table, *ledger_table, *loss_table, *left_out_table;
	struct store_table *dispatch_table, *copy_table, *mem_table, *call_table, *range_table;
};

/* lookup.c */

/* Of an event; NULL: no memory. */
struct process *lookup_process_slowly(struct sub *sub, const struct rtl_process *info);
static inline struct process *lookup_process(struct sub *sub, const struct rtl_process *info)
{
	return __builtin_expect(sub->newest_info == info, 1) ? sub->newest
							     : lookup_process_slowly(sub, info);
}
/* Takes events, one after the other, each of its process. */
typedef void (*sub_take_fn)(struct stream *stream, struct process *process,
			    const struct rtl_event *event);
static inline __attribute__((always_inline)) void
sub_each(void *user, const struct rtl_event *const *events, size_t count, sub_take_fn take)
{
	struct stream *stream = user;

	for (size_t i = 0; i < count; i++) {
		struct process *process = lookup_process(stream->sub, events[i]->process);

		if (process)
			take(stream, process, events[i]);
	}
}
uint32_t lookup_string_slowly(struct sub *sub, struct process *process, uint64_t id);
/* The name of a host's string; 0: none. */
static inline uint32_t names_of_string(struct sub *sub, struct process *process, uint64_t id)
{
	const uint64_t name = id ? map_get(&process->strings, id) : 1;

	return __builtin_expect(name != 0, 1) ? (uint32_t)name - 1
					      : lookup_string_slowly(sub, process, id);
}
/* A kernel's readable name. */
uint32_t lookup_kernel(struct sub *sub, struct process *process, uint64_t uid, uint64_t string);
/* Its tracepoint may say more than before. */
void lookup_kernel_again(struct sub *sub, struct process *process, uint64_t uid);
void lookup_fini(struct sub *sub);

/* run.c */

/* Tables of its own, and of known.c; false: no memory. */
bool run_init(struct sub *sub);
/* A process has begun: finds out what of it is stored. 0 or an error, said. */
int run_begin(struct sub *sub, struct process *process);
void run_end(struct sub *sub, struct process *process);
/* Notes a GPU, which its tracepoint describes. */
void run_gpu(struct sub *sub, struct process *process, uint32_t node,
	     const struct rtl_tracepoint *tracepoint);
/* Waits until the server answers, as long as the user wants to; says what is wrong. */
enum http_result run_await_server(struct sub *sub);
bool run_has_stored(const struct process *process, const char *table,
		    const struct rtl_event *event);

/* Where the row of an event goes. NULL: it is there, or there is no memory. */
static inline struct block *run_block(struct sub *sub, struct store_table *table,
				      const struct process *process, const struct rtl_event *event)
{
	if (__builtin_expect(process->mark_count != 0, 0) &&
	    run_has_stored(process, table->info->name, event))
		return NULL;
	return store_block(&sub->store, table);
}

/* known.c */

/* Subscribes to a stream that it knows. RTL_ENOTSUP: it does not, or not like that. */
int known_subscribe(struct sub *sub, struct stream *stream);

/* generic.c */

/* Subscribes to all types of which no other says the same. */
int generic_subscribe(struct stream *stream);
void generic_events(void *user, const struct rtl_event *const *events, size_t count);
void generic_fini(struct stream *stream);

#endif
