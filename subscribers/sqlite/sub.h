/* SPDX-License-Identifier: MIT */
/*
 * sub.h: an instance of the subscriber, and what its parts offer each other.
 *
 *   plugin.c      descriptor, settings, the calls of the host
 *   output.c      which file
 *   schema.c      tables and views
 *   writer.c      connection, transactions, errors;  rows.c: rows on their way into a table
 *   image.c       rows as records, which SQLite copies;  stepper.c: a thread that has it do that
 *   append.c      names under which it copies without looking for their ids
 *   names.c       rocpd_string, rocpd_ustring
 *   run.c         what is known of the run: processes, streams and fields, clock, ledger
 *   tracepoints.c rtl_tracepoint
 *   dispatch.c    the stream rtl.hsa, as rocpd and as rtl_dispatch and rtl_queue
 *   copy.c        the stream rtl.hsa.copy, as rocpd and as rtl_copy
 *   links.c       which call caused which operation, as rocpd_api_ops
 *   call.c        the streams of calls of HSA and HIP, as rocpd and as rtl_call
 *   call_args.c   the texts of their arguments
 *   marker.c      the stream rtl.roctx, as rocpd's markers and as rtl_marker
 *   memory.c      the stream rtl.hsa.mem, as rtl_mem
 *   counter.c     rtl.hsa.counter, as rocpd_counter, rocpd_monitor, rtl_counter...
 *   xpti.c        XPTI's streams, as rocpd and as rtl_node, rtl_edge and rtl_span
 *   xpti_open.c   what has begun there and not ended
 *   generic.c     every other stream: a table for each type, a column for each field
 *   region.c      what begins and ends there, as rocpd's markers and as rtl_span
 *   exact.c       each event once: positions, and what an earlier host has left
 *
 * To map another stream to the rocpd tables: a file beside dispatch.c with a struct known_stream, and its
 * name in run.c.
 *
 * Where the host can tell positions, rows of events are committed in flush and finish only, in
 * one transaction with the positions up to which they go: a database never holds the one without
 * the other.
 *
 * All of it runs on the host's thread, but for the making of the tables, which the host's calls
 * wait for, and the copying of records (stepper.h): there are no other locks.
 */
#ifndef RTL_SQLITE_SUB_H
#define RTL_SQLITE_SUB_H

#include "call_args.h"
#include "host.h"
#include "links.h"
#include "map.h"
#include "names.h"
#include "output.h"
#include "pairing.h"
#include "process.h"
#include "wanted.h"
#include "writer.h"

#include <pthread.h>

#include <rtl/events.h>
#include <rtl/publish.h>
#include <rtl/subscriber.h>

struct settings {
	char *output; /* pattern */
	uint32_t batch;
	uint32_t page_size;
	bool links;     /* rows of rocpd_api and its kin for dispatches without an API call */
	bool args;      /* calls with their arguments, where there are any */
	bool rpd_args;  /* as RPD's tools split them */
	bool gpu_index; /* in rocpd_op GPUs are counted from 0; an output that is continued says */
};

struct generic_type;

/* A stream as the host described it. */
struct stream {
	struct stream *next;
	struct sub *sub;
	const struct rtl_stream_info *info;
	int64_t number; /* in rtl_stream */
	/* To tables of its own: that of a type, NULL for none or a generic one. NULL: not mapped.
	 */
	const char *(*table)(uint16_t type);
	struct generic_type *types;
	struct generic_type *last_type;
	uint64_t skipped; /* events that could not become rows */
	uint64_t skipped_written;
	uint64_t taken, stored; /* events, and of them those that are committed */
	bool is_hip;            /* of a stream of calls */
	bool is_xpti;
	struct region_pair *regions;
	bool has_loaded_regions; /* those that an earlier host has left */
};

/* A stream that has a file of its own. */
struct known_stream {
	struct wanted_stream wanted;
	const char *(*table)(uint16_t type); /* as in struct stream */
};

struct sub {
	const struct rtl_host *host;
	struct settings settings;
	struct output output;
	bool open;
	bool begins; /* a thread makes the tables: see plugin.c */
	bool begun;  /* the thread's result */
	pthread_t beginner;
	bool exact;          /* the host tells positions */
	bool recovers;       /* the output is one that another host has left */
	bool replays;        /* all of it is of the past, and can be written again */
	bool continues;      /* and something is in it */
	bool events_pending; /* rows of events may wait for a commit */
	struct writer writer;
	struct names names;
	struct rows op, api, api_ops, kernelapi, dispatch; /* of the tables rocpd_ and rtl_ */
	struct rows copyapi, copy, call, marker, memory, counter, counter_interval, node,
		xpti_metadata, edge, span;
	struct rows tracepoint, metadata, position;
	int64_t next_op, next_api, next_api_op, next_copy, next_memory;
	int64_t next_stream;
	uint32_t next_process;      /* where it is not the host's number */
	struct map call_strings;    /* host's string -> id in rocpd_string */
	struct map call_categories; /* function -> id in rocpd_string */
	bool has_xpti;              /* the tables of XPTI's streams are there */
	struct pairing open_regions;
	struct map xpti_names; /* tracepoint -> id in rocpd_string */
	struct hash xpti_open; /* what has begun there and not ended, see xpti_open.c */
	struct wanted_calls hsa_calls, hip_calls;
	struct call_args call_args;
	struct links links;
	struct map queue_ids; /* ids in use, value 1 */
	uint32_t next_queue_id;
	struct process *processes, *last_process;
	struct stream *streams;
	struct generic_type *generic_types; /* of all streams */
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
/* Before each commit: the rows that span the processes. */
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
/* The number of a process that is in the database, and its span in rocpd_api; 0: it is new. */
uint32_t exact_find_process(struct sub *sub, struct process *process);
/* The number of a stream that is in the database with the same fields; 0: there is none. */
int64_t exact_find_stream(struct sub *sub, const struct rtl_stream_info *info);
/* Names of kinds of fields, as rtl_field has them. */
const char *run_kind_name(uint16_t kind);

/* The state of an event's process; NULL: out of memory, the writer has failed. */
static inline struct process *sub_process(struct sub *sub, const struct rtl_process *info)
{
	if (__builtin_expect(sub->last_process && sub->last_process->info == info, 1))
		return sub->last_process;
	return run_process(sub, info);
}

/* Takes events, one after the other, each of its process. Those with a shorter payload are skipped. */
typedef void (*sub_take_fn)(struct stream *stream, struct process *process,
			    const struct rtl_event *event);
static inline __attribute__((always_inline)) void sub_each(void *user,
							   const struct rtl_event *const *events,
							   size_t count, size_t payload_size,
							   sub_take_fn take)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->events_pending = true;
	stream->taken += count;
	for (size_t i = 0; i < count && !sub->writer.failed; i++) {
		struct process *process = sub_process(sub, events[i]->process);

		if (!process)
			return;
		if (events[i]->payload_size < payload_size)
			stream->skipped++;
		else
			take(stream, process, events[i]);
		writer_commit_if_full(&sub->writer);
	}
}

/* Extends a process's span by an interval; 0 is no time, and what SQLite cannot hold neither. */
static inline void process_span(struct process *process, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns > INT64_MAX || end_ns > INT64_MAX)
		return;
	if (start_ns && (start_ns < process->span_start_ns || !process->span_start_ns)) {
		process->span_start_ns = start_ns;
		process->span_changed = true;
	}
	if (end_ns > process->span_end_ns) {
		process->span_end_ns = end_ns;
		process->span_changed = true;
	}
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
/* What a tracepoint's metadata say; NULL: nothing. Valid until the next call into the host. */
const char *tracepoints_metadata(struct sub *sub, const struct rtl_process *process, uint64_t uid,
				 const char *key);
/* Readable name of a kernel, mangled if there is no other; id in rocpd_string and
 * rocpd_ustring. */
int64_t tracepoints_kernel_name(struct sub *sub, const struct rtl_process *process, uint64_t uid,
				uint64_t string);

/* dispatch.c */

bool dispatch_init(struct sub *sub);
extern const struct known_stream dispatch_stream;
/* Takes note of the process's queues that an earlier host has written. */
void dispatch_process_resume(struct sub *sub, struct process *process);
void dispatch_process_fini(struct process *process);
/* What rocpd_op has for the GPU of that KFD node; its metadata are those of a tracepoint of its. */
uint32_t dispatch_gpu(struct sub *sub, struct process *process, uint32_t node, uint64_t uid);
/* Links a row of rocpd_api to one of rocpd_op. */
void dispatch_write_link(struct sub *sub, int64_t api, int64_t op);

/* call.c */

/* What kind of function it is, by its tracepoint; id in rocpd_string, NAMES_EMPTY: not known. */
int64_t call_category(struct sub *sub, const struct process *process, uint64_t uid);
bool call_init(struct sub *sub);
/* Subscribe to rtl.hsa.call, rtl.hip.call, and to those with ".debug". RTL_ENOTSUP: it is not as we
 * know it, or none of these. */
int call_subscribe(struct sub *sub, struct stream *stream);

/* marker.c */

bool marker_init(struct sub *sub);
extern const struct known_stream marker_stream;

/* memory.c */

bool memory_init(struct sub *sub);
extern const struct known_stream memory_stream;

/* counter.c */

bool counter_init(struct sub *sub);
extern const struct known_stream counter_stream;
/* Fills rocpd_counter and rocpd_monitor; all dispatches have their rows. */
void counter_settle(struct sub *sub);

/* xpti.c */

/* Makes the tables, once; for the first of its streams. */
bool xpti_init(struct sub *sub);
/* Subscribes to a stream of XPTI. RTL_ENOTSUP: it is none, or not as we know it. */
int xpti_subscribe(struct sub *sub, struct stream *stream);
/* An unfinished one; event: its begin. */
void xpti_take_open(struct stream *stream, struct process *process, const struct rtl_event *event,
		    uint64_t end_ns);

/* xpti_open.c */

/* A begin is kept until its end; end: the type of that. */
void xpti_open_begin(struct stream *stream, const struct process *process,
		     const struct rtl_event *event, uint16_t end);
void xpti_open_end(struct stream *stream, const struct process *process,
		   const struct rtl_event *event);
/* Takes all that the process has open, as of that time. */
void xpti_open_take(struct sub *sub, struct process *process, uint64_t end_ns);
void xpti_open_fini(struct sub *sub);

/* copy.c */

bool copy_init(struct sub *sub);
/* For the copies in temp.dangling (links.c) rows of rocpd_api and rocpd_copyapi, with the ids
 * there. */
void copy_stand_in(struct sub *sub);
extern const struct known_stream copy_stream;

/* generic.c */

#define GENERIC_TABLE_PREFIX "rtl_e_"

/* Subscribes to one type, or to all with RTL_TYPE_ANY. */
int generic_subscribe(struct sub *sub, struct stream *stream, uint16_t type);
void generic_events(void *stream, const struct rtl_event *const *events, size_t count);
void generic_fini(struct sub *sub);

/* region.c */

bool span_init(struct sub *sub);

struct region_pair;

/* What events of a type say of regions. */
struct region_type {
	enum { REGION_NONE, REGION_BEGIN, REGION_END, REGION_WHOLE } how;
	struct region_pair *pair;
	const struct rtl_field *string, *text, *begin_ns, *end_ns; /* NULL: none */
};

struct region_type region_type(struct stream *stream, const struct rtl_type_info *info);
/* Before the event has its row in a generic table. */
void region_event(struct stream *stream, const struct process *process,
		  const struct region_type *type, const struct rtl_event *event);
/* Rows for what the process has begun and not ended. */
void region_process_end(struct sub *sub, const struct process *process, uint64_t end_ns);
/* While the streams are there. */
void region_fini(struct sub *sub);

#endif
