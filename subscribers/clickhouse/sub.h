/* SPDX-License-Identifier: MIT */
/* sub.h: an instance of the subscriber that writes to ClickHouse, and what its parts offer each other.
 *
 *   plugin.c   descriptor, settings, the calls of the host: when rows are sent, and what is kept
 *   run.c      the run, its processes and GPUs, the ledger; what is stored of a process already
 *   events.c   events, by the descriptions of their streams
 *   lookup.c   names that the host knows
 *   store.h    what waits for the server; block.h: rows; http.h: the server
 *
 * All of it runs on the host's thread. */
#pragma once

#include <rtl/events.h>
#include <rtl/publish.h>

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
	struct process *next;
	const struct rtl_process *info;
	uint32_t run, host; /* names */
	uint16_t day;       /* since 1970 */
	struct map strings; /* id -> name and 1 */
	struct map gpus;    /* node -> name of the uuid and 1 */
	struct mark *marks; /* it was stored in part before */
	size_t mark_count;
	int64_t boot_ns;
	bool ended;
};

struct type; /* events.c */
struct layout;

struct stream {
	struct stream *next;
	struct sub *sub;
	const struct rtl_stream_info *info;
	struct type *types;
	uint64_t skipped; /* events that were not as described */
};

/* Settings, in the order of the descriptor. */
enum {
	SERVER,
	PORT,
	TLS,
	CA,
	DATABASE,
	USER,
	PASSWORD,
	RUN,
	INTERVAL,
	WAIT,
	TIMEOUT,
	ARGS,
	SETTINGS
};

struct sub {
	const struct rtl_host *host;
	char *texts[SETTINGS]; /* settings; NULL: none */
	uint64_t interval_ns, wait_ns;
	uint32_t timeout_s;
	bool args;
	bool recovers, replays, in_process;

	struct names names;
	struct store store;
	bool failed, said_away, lost_memory;
	bool unprepared; /* a recovery's table has no name yet, and the server is away */
	char *run;       /* NULL: no process has begun */
	uint16_t day;

	struct stream *streams, **last_stream;
	struct process *processes;
	struct layout *layouts;
	const struct rtl_process *newest_info; /* that was looked up */
	struct process *newest;
	struct wanted_calls hip_calls, hsa_calls;
	struct map tracepoints; /* uid -> name and 1 */
};

/* lookup.c */

/* Of an event; NULL: no memory. */
struct process *lookup_process_slowly(struct sub *sub, const struct rtl_process *info);
static inline struct process *lookup_process(struct sub *sub, const struct rtl_process *info)
{
	return __builtin_expect(sub->newest_info == info, 1) ? sub->newest
							     : lookup_process_slowly(sub, info);
}
/* The number of a text's name, 0: of none, and where there is no memory. */
uint32_t lookup_name(struct sub *sub, const char *text);
/* The name of a host's string; 0: none. */
uint32_t lookup_string(struct sub *sub, struct process *process, uint64_t id);
/* That of an event's tracepoint, readable; a metadata event may say more of it than before. */
uint32_t lookup_tracepoint(struct sub *sub, const struct rtl_event *event);
void lookup_fini(struct sub *sub);

/* run.c */

/* A process has begun: finds out what of it is stored. 0 or an error, said. */
int run_begin(struct sub *sub, struct process *process);
void run_end(struct sub *sub, struct process *process);
/* The same at the end of all, when it is known how the command has ended. */
void run_finish(struct sub *sub);
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

/* events.c */

/* What names of events' tables begin with. */
#define EVENT_TABLES "rtl_e_"

/* Adds the tables of rtl's own streams; false: no memory. */
bool events_init(struct sub *sub);
/* Subscribes to all types of which no other says the same. */
int events_subscribe(struct stream *stream);
void events_fini(struct sub *sub);
