/* SPDX-License-Identifier: MIT */
/*
 * A process whose events a host delivers: this one, or one whose spool is mapped.
 *
 * Threads: the host's lock, but for source_string and source_tracepoint.
 */
#ifndef RTL_CORE_SOURCE_H
#define RTL_CORE_SOURCE_H

#include <rtl/subscriber.h>

#include "catalog.h"
#include "reader.h"
#include "spool_files.h"
#include "stream.h"

struct source {
	const struct rtl_process *process; /* NULL: its dictionary has not said yet */
	struct spool_control *control;
	struct reader reader;
	bool local;
	bool begun;       /* subscribers know the process */
	bool ended;       /* process_end was called: nothing follows */
	bool over;        /* of this process: its end has begun */
	bool gone;        /* it has ended in order, or died */
	bool damaged;     /* its dictionary could not be read to the end */
	bool cut_off;     /* it still ran when it was recovered */
	bool interrupted; /* a pass over it is to be continued */
	bool found_gone;  /* of a mapped spool: had ended before it was opened */
	uint64_t start_ns;
	uint64_t died_ns; /* when its collector died; 0: it did not */
	uint64_t died_realtime_ns;
	uint64_t alive_ticks; /* when the process was last seen to live */
	uint64_t malformed;   /* records that were not as their stream describes them */
	char *path;           /* the rest: of a mapped spool */
	struct spool_files files;
	struct catalog catalog;
	struct rtl_process remote;
	/* By the numbers that the process gives its streams: */
	uint32_t stream_count;
	const struct rtl_stream_info *streams[SPOOL_STREAMS_MAX]; /* as the host calls them */
	uint64_t delivered[SPOOL_STREAMS_MAX];
	uint64_t abandoned[SPOOL_STREAMS_MAX];
	/* recorder.c's: */
	uint32_t segments; /* number of the next one */
	bool continued;    /* segments of an earlier recorder have been looked for */
	struct source_resume
		*resume;  /* what subscribers have stored in an earlier host; mostly NULL */
	bool resumed;     /* what all have stored has been gone over */
	uint32_t hearers; /* how many subscribers have heard of the process */
	struct rtl_ledger last[SPOOL_STREAMS_MAX]; /* when it has ended: threads may publish on */
	/* what is left of them when the spool has been closed */
	struct rtl_ledger *finals;
	struct source_loss *losses;
	/* the type of the last event */
	const struct rtl_type_info *last_type;
	uint32_t last_stream;
	bool last_has_texts;
};

struct source_resume {
	struct source_resume *next;
	const void *owner;   /* the subscriber */
	uint64_t *positions; /* by ring */
	uint32_t count;
};

struct source_loss {
	struct source_loss *next;
	uint64_t count;
	uint32_t stream;
	char cause[64];
};

/* This process. */
void source_init_local(struct source *source);
/* A spool. shared: rings are drained and wishes told to the process; else nothing in the files
 * changes. Errors as spool_files_open's. */
int source_init_spool(struct source *source, const char *path, bool shared, const char **why);
/* Whether the process has ended, in order or not. One that has closed our lock on its spool
 * without ending counts as alive. */
bool source_is_gone(struct source *source);
/* Its collector died at that time, unless an earlier recovery has said when. */
void source_set_death(struct source *source, uint64_t died_ns, uint64_t realtime_ns);
/* It still runs, and what it does from now on is not recorded. */
void source_cut_off(struct source *source);
/* Nothing follows: keeps the ledger, and lets go of the spool (a host may see many processes).
 * remove: its files too, if they could be read. */
void source_close(struct source *source, bool remove);
void source_fini(struct source *source);

/* Takes note of what is new in a mapped spool; RTL_EFORMAT: its dictionary is damaged. */
int source_refresh(struct source *source);
/* How many streams the process has registered, and one of them. */
uint32_t source_streams_known(const struct source *source);
const struct rtl_stream_info *source_stream(const struct source *source, uint32_t number);
/* Makes rings that are in use ready before their threads need it, a piece of each. */
void source_prepare(struct source *source);
/* Begins a pass, as reader_begin. */
bool source_begin(struct source *source);
/* The host knows the process's next stream as `info`. */
void source_add_stream(struct source *source, const struct rtl_stream_info *info);
/* The ring's events before `position` are not for that subscriber. Before the first pass;
 * RTL_ENOMEM, RTL_EINVAL. */
int source_resume_at(struct source *source, const void *owner, uint32_t ring, uint64_t position);
/* Up to where a subscriber has stored a ring's events in an earlier host. */
uint64_t source_stored(const struct source *source, const void *owner, uint32_t ring);
/* One more of the process's stream: who asks for its ledger may do so at any time. */
static inline void source_count_delivered(struct source *source, uint32_t stream)
{
	__atomic_store_n(&source->delivered[stream], source->delivered[stream] + 1,
			 __ATOMIC_RELAXED);
}
/* Whether something was open in it that source_seal would make an event of. */
bool source_has_open(const struct source *source);
/* How much of that stream is open, or could not be kept (seal.c). */
uint64_t source_count_open(const struct source *source, uint32_t stream);
/* The process is gone, and all that it has published was given out: what was open becomes events,
 * for another pass. False: there are none. */
bool source_seal(struct source *source);
/* What was delivered has been flushed: publishers get their room back. */
void source_release(struct source *source);
/* Makes what is wanted of the host's stream `info` what `wants` says: see stream_want. */
void source_want(struct source *source, const struct rtl_stream_info *info,
		 const struct stream_wants *wants, uint8_t mask);
/* The ledger of the process's stream `number`. */
void source_ledger(const struct source *source, uint32_t number, struct rtl_ledger *ledger);
/* Calls fn with each cause of loss of the process's stream `number`. */
void source_losses(const struct source *source, uint32_t number,
		   void (*fn)(void *user, const char *cause, uint64_t count), void *user);
/* The number that the process gives the host's stream; -1: it has none such. */
int source_number(const struct source *source, const struct rtl_stream_info *info);
const char *source_string(const struct source *source, uint64_t id);
bool source_tracepoint(const struct source *source, uint64_t uid, struct rtl_tracepoint *out,
		       struct rtl_metadata **metadata, uint32_t *room);

#endif
