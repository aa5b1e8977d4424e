/* SPDX-License-Identifier: MIT */
/* sub.h: an instance of the subscriber, and what its parts offer each other.
 *
 *   plugin.c      descriptor, settings, the calls of the host
 *   output.c      which file
 *   writer.c      connection, transactions, errors;  rows.c: rows on their way into a table
 *   dictionary.c  numbers for what repeats
 *   run.c         what is known of the run: processes, streams and fields, clock, ledger
 *   tracepoints.c rtl_tracepoint, rtl_string
 *   store.c       events, as their streams describe them: a table for each type, and the view that decodes it
 *   plan.c        how an event's fields become a row's cells
 *   args.c        rtl_args
 *   pieces.c      views over streams that only a run knows: regions and XPTI's
 *   exact.c       each event once: positions, and what an earlier host has left
 *   reader.c      the source: reads what the others have written
 *
 * Rows of events are committed in flush and finish only, in one transaction with the positions up to which they go: a
 * database never holds the one without the other.
 *
 * All of it runs on the host's thread, but for the making of the tables, which the host's calls
 * wait for: there are no locks. */
#pragma once

#include "host.h"
#include "map.h"
#include "output.h"
#include "plan.h"
#include "wanted.h"
#include "writer.h"

#include <pthread.h>

#include <rtl/publish.h>

/* Id in rtl_string of the first name in tables.sql. */
#define STRING_EMPTY 1

struct settings {
	char *output;   /* pattern */
	bool args;      /* calls with their arguments, where there are any */
	bool rpd_args;  /* as RPD's tools split them */
	bool gpu_index; /* in rocpd_op GPUs are counted from 0; an output that is continued says */
};

/* A process that events come from. */
struct process {
	struct process *next;
	const struct rtl_process *info;
	uint32_t number;      /* in the database */
	uint32_t host_number; /* in the host */
	int32_t pid;
	bool ended;
	uint64_t first_ns, last_ns; /* extent of its events */
	bool extent_changed;
	struct map uids;    /* tracepoints that have a row: see tracepoints.c */
	struct map strings; /* host's string -> id in rtl_string */
};

/* The table of a type: see store.c. */
struct store;

/* A type of a stream as its events become rows. */
struct type {
	struct stream *stream;
	const struct rtl_type_info *info;
	struct store *store;            /* NULL: there was no event yet, or it could not be made */
	struct rtl_subscription *taken; /* NULL: not */
};

/* A stream as the host described it. */
struct stream {
	struct stream *next;
	struct sub *sub;
	const struct rtl_stream_info *info;
	int64_t number; /* in rtl_stream; 0: not written yet */
	struct type *types;
	uint64_t skipped; /* events that could not become rows */
	uint64_t skipped_written;
	uint64_t delivered, stored; /* events, and of them those that are committed */
};

struct sub {
	const struct rtl_host *host;
	struct settings settings;
	struct output_file output;
	bool open;
	bool begins; /* a thread makes the tables: see plugin.c */
	bool begun;  /* the thread's result */
	pthread_t beginner;
	bool recovers;       /* the output is one that another host has left */
	bool replays;        /* all of it is of the past, and can be written again */
	bool continues;      /* and something is in it */
	bool events_pending; /* rows of events may wait for a commit */
	struct writer writer;
	struct rows string, args, origin, tracepoint, metadata, position;
	struct dictionary strings, args_known, origins;
	struct store *stores; /* of all streams */
	int64_t next_id;      /* of an event, or of a process's begin and end */
	int64_t next_stream;
	uint32_t next_process; /* where it is not the host's number */
	struct process *processes, *last_process;
	struct stream *streams;
	uint64_t ledger_written_ns;
};

/* run.c */

/* Writes what an output begins with. */
bool run_begin(struct sub *sub);
/* Writes the streams so far: the others when they come. */
bool run_streams(struct sub *sub);
/* Writes what it ends with. */
void run_end(struct sub *sub);
/* Where the writer has failed: what was delivered and is not stored goes into the ledger, if the database
 * takes that by now. */
void run_not_stored(struct sub *sub);
int run_stream(struct sub *sub, const struct rtl_stream_info *info);
struct process *run_process(struct sub *sub, const struct rtl_process *info);
void run_process_end(struct sub *sub, struct process *process);
/* Writes the ledger as it stands; due when that has not happened for a second. */
void run_ledger(struct sub *sub);
bool run_ledger_due(const struct sub *sub);
/* Writes how many events could not become rows, as far as that is not written. */
void run_skipped(struct sub *sub);
/* Before each commit: the extents of the processes. */
void run_before_commit(void *user);
void run_fini(struct sub *sub);

/* exact.c */

bool exact_init(struct sub *sub);
/* Writes how far the host's rings have been delivered; from flush and finish only. */
void exact_positions(struct sub *sub);
/* Tells the host what is in the database of that process's events. 0 or an enum rtl_error, said. */
int exact_resume(struct sub *sub, const struct rtl_process *info);
/* Takes the output over from the host that left it. */
void exact_take_over(struct sub *sub);
/* The number of a process that is in the database, and its extent; 0: it is new. */
uint32_t exact_find_process(struct sub *sub, struct process *process);

/* The state of an event's process; NULL: out of memory, the writer has failed. */
static inline struct process *sub_process(struct sub *sub, const struct rtl_process *info)
{
	if (__builtin_expect(sub->last_process && sub->last_process->info == info, 1))
		return sub->last_process;
	return run_process(sub, info);
}

/* Extends a process's extent by a time; 0 is no time, and what SQLite cannot hold neither. */
static inline void process_extend(struct process *process, uint64_t ns)
{
	if (ns - 1 >= INT64_MAX || (ns >= process->first_ns && ns <= process->last_ns))
		return;
	if (ns < process->first_ns || !process->first_ns)
		process->first_ns = ns;
	if (ns > process->last_ns)
		process->last_ns = ns;
	process->extent_changed = true;
}

/* tracepoints.c */

bool tracepoints_init(struct sub *sub);
void tracepoints_write(struct sub *sub, struct process *process, uint64_t uid);
/* Takes note of those that an earlier host has written. */
void tracepoints_resume(struct sub *sub, struct process *process);
/* Writes all that are known once more: they may have got metadata since. */
void tracepoints_refresh(struct sub *sub, struct process *process);
/* Sees to it that a tracepoint has its row. */
static inline void tracepoints_need(struct sub *sub, struct process *process, uint64_t uid)
{
	if (uid && !map_get(&process->uids, uid))
		tracepoints_write(sub, process, uid);
}
/* Id in rtl_string. */
int64_t string_id(struct sub *sub, const char *text, size_t length);
/* The same of a string of the host's; 0 is none. */
int64_t string_of_host(struct sub *sub, struct process *process, uint64_t string);

/* store.c */

/* Subscribes to the types that are stored. 0, or an enum rtl_error. */
int store_subscribe(struct sub *sub, struct stream *stream);
/* Makes the tables of rtl's own streams. */
bool store_known(struct sub *sub);
/* Highest id of an event so far, in an output that is continued. */
int64_t store_last_id(struct sub *sub);
/* The name of a type's view, which is made if it is not there. False: the writer has failed. */
bool store_view(struct sub *sub, const struct rtl_stream_info *stream,
		const struct rtl_type_info *type, char *name, size_t size);
void store_fini(struct sub *sub);

/* args.c */

bool args_init(struct sub *sub);
/* The id in rtl_args of what a field of RTL_KIND_ARGS or RTL_KIND_VALUES holds; 0: nothing. */
int64_t args_id(struct sub *sub, struct process *process, const struct rtl_event *event,
		const struct rtl_field *field);

/* pieces.c */

/* Adds the view of a type's table, where it is a piece of one. Twice is as once. */
void pieces_add(struct sub *sub, const struct rtl_stream_info *stream, int64_t number,
		const struct rtl_type_info *type, const char *view);
