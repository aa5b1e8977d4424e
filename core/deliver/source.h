/* SPDX-License-Identifier: MIT */
/* A process whose events a host delivers, from one of three backends: a spool or its recording, this very process
 * (life/own_process.c), a plugin (feed.c). Threads: the host's lock, but any may call ops->string, ops->tracepoint. */
#pragma once

#include "catalog.h"
#include "reader.h"
#include "spool_files.h"
#include "stream_info.h"

struct feed;
struct source;

typedef void (*cause_fn)(void *user, const char *cause, uint64_t count);

/* The texts of causes. */
extern const char *const discard_texts[SPOOL_DISCARD_CAUSES];

struct source_rings {
	struct ring_header *const *list; /* one that cannot be had is NULL */
	const size_t *bytes;             /* mapped of each; NULL: all */
	uint32_t count;
};

/* A backend. */
struct source_ops {
	/* How many streams the process has registered, and one of them. */
	uint32_t (*stream_count)(const struct source *source);
	const struct rtl_stream_info *(*stream)(const struct source *source, uint32_t number);
	struct source_rings (*rings)(const struct source *source);
	/* Makes a ring ready for its thread up to `bytes`. NULL: nobody writes to it. */
	void (*prepare)(const struct source *source, uint32_t ring, uint64_t bytes);
	const char *(*string)(const struct source *source, uint64_t id);
	bool (*tracepoint)(const struct source *source, uint64_t uid, struct rtl_tracepoint *out,
			   struct rtl_metadata **metadata, uint32_t *room);
};

struct source {
	const struct source_ops *ops;
	const struct rtl_process *process; /* NULL: its dictionary has not said yet */
	struct spool_control *control;
	struct reader reader;
	bool own; /* this process: its streams' numbers are the host's; nobody else writes to its rings */
	bool recorded;           /* a recording: its records stand in segments */
	bool begun;              /* subscribers know the process */
	bool ended;              /* process_end was called: nothing follows */
	bool closed;             /* a spool: of all that there was the ledger is left */
	struct rtl_waits waited; /* when it has been closed */
	bool over;               /* of this process: its end has begun */
	bool gone;               /* it has ended in order, or died */
	bool damaged;            /* its dictionary could not be read to the end */
	bool cut_off;            /* it still ran when it was recovered */
	bool interrupted;        /* a pass over it is to be continued */
	bool found_gone; /* of a mapped spool: had ended before we came: nobody knows when */
	uint64_t start_ns;
	uint64_t finished_ns; /* when it was first seen to have ended in order; 0: it was not */
	uint64_t died_ns;     /* when its collector died; 0: it did not */
	uint64_t died_realtime_ns;
	uint64_t alive_ticks; /* when the process last lived: seen to live, or to be gone */
	uint64_t taken_bytes; /* of a recording: of the segments that were taken up */
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
	uint64_t before[SPOOL_STREAMS_MAX]; /* published before we came: not counted */
	/* recorder.c's: */
	uint32_t segments;                 /* number of the next one */
	uint32_t kept;                     /* of them, not dropped by a bound */
	uint64_t describing;               /* bytes that stayed of those that were dropped */
	bool forgotten;                    /* its folder was removed */
	uint64_t saved[SPOOL_STREAMS_MAX]; /* events in them, where there is a bound */
	bool continued; /* segments of an earlier recorder have been looked for */
	struct source_resume
		*resume; /* what subscribers have stored in an earlier host; mostly NULL */
	struct rtl_ledger last[SPOOL_STREAMS_MAX]; /* when it has ended: threads may publish on */
	struct source_loss *losses;   /* what is left of them when the spool has been closed */
	struct source_loss *left_out; /* likewise */
	/* the type of the last event */
	const struct rtl_type_info *last_type;
	uint32_t last_stream;
	bool last_has_texts;
	/* of a feed (feed.c), which is closed from the beginning: */
	struct feed *feed;
	bool ledger_told[SPOOL_STREAMS_MAX]; /* else events count as they come */
	struct rtl_calibration calibration;
	/* of a replay: for each stream the one plus 1 that it repeats and that was not recorded */
	uint16_t repeats[SPOOL_STREAMS_MAX]; /* 0: not looked for yet */
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
void source_init_own(struct source *source, const struct source_ops *ops,
		     const struct rtl_process *process, struct spool_control *control);
/* A spool, or a recording of one. Errors as spool_files_open's. */
int source_init_spool(struct source *source, const char *path, enum spool_use use,
		      const char **why);
/* Of a process that other collectors have left: nothing has happened yet. Nothing is wanted of it. */
void source_begin_anew(struct source *source);
/* Whether the process has ended. One that has closed our lock on its spool without ending counts as alive. */
bool source_is_gone(struct source *source);
/* A ring that a mapped spool has; NULL: it is a segment, or could not be had. */
struct ring_header *source_ring(const struct source *source, uint32_t i);
/* After the last pass over a spool: keeps the ledger, lets go of the files. remove: deletes them, if they were read. */
void source_close(struct source *source, bool remove);
void source_fini(struct source *source);

/* Takes note of what is new in its dictionary; RTL_EFORMAT: it is damaged. */
int source_refresh(struct source *source);
/* Makes rings that are in use ready before their threads need it, a piece of each. */
void source_prepare(struct source *source);
/* Begins a pass, as reader_begin. */
bool source_begin(struct source *source);
/* Notes that the host calls the process's next stream `info`. */
void source_add_stream(struct source *source, const struct rtl_stream_info *info);
/* Keeps that subscriber from a ring's events before `position`. Before the first pass. RTL_ENOMEM, RTL_EINVAL. */
int source_resume_at(struct source *source, const void *owner, uint32_t ring, uint64_t position);
/* Up to where a subscriber has stored a ring's events in an earlier host. */
uint64_t source_stored(const struct source *source, const void *owner, uint32_t ring);
/* One more of the process's stream: its ledger may be asked for at any time. */
static inline void source_count_delivered(struct source *source, uint32_t stream)
{
	__atomic_store_n(&source->delivered[stream], source->delivered[stream] + 1,
			 __ATOMIC_RELAXED);
}
/* Makes events of what was open in a dead process, after all that it published, for another pass. False: none.
 * only_look: only says whether there are some. */
bool source_seal(struct source *source, bool only_look);
/* Calls fn with an event, yet to be described, for each slot under way of another process, and the byte that ends it
 * if 0. */
typedef void (*slot_fn)(void *user, struct ring_open *event, uint8_t *under_way);
void source_each_slot(struct source *source, slot_fn fn, void *user);
/* Gives publishers the room back of what was delivered and flushed. */
void source_release(struct source *source);
/* Tells the process what is wanted of the host's stream `info`: see stream_want. */
void source_want(struct source *source, const struct rtl_stream_info *info,
		 const struct stream_wants *wants, uint8_t mask);
/* The ledger of the process's stream `number` (ledger.c). */
void source_ledger(const struct source *source, uint32_t number, struct rtl_ledger *ledger);
/* How the process has waited for room in its rings. */
void source_waits(const struct source *source, struct rtl_waits *waits);
/* Adds a cause of loss to one of its lists; lost if there is no memory. A cause_fn. */
struct source_keep {
	struct source_loss **list;
	uint32_t stream;
};
void source_keep_loss(void *keep, const char *cause, uint64_t count);
/* Calls fn with each cause of loss of the process's stream `number`. */
void source_losses(const struct source *source, uint32_t number, cause_fn fn, void *user);
/* The same for what the user's selection left out. */
void source_left_out(const struct source *source, uint32_t number, cause_fn fn, void *user);
/* Gives a ledger to whom it may be shorter. */
static inline void source_give_ledger(const struct rtl_ledger *from, struct rtl_ledger *to)
{
	const uint32_t size = to->struct_size;

	memcpy(to, from, size < sizeof(*from) ? size : sizeof(*from));
	to->struct_size = size;
}
/* The number that the process gives the host's stream; -1: it has none such. */
int source_number(const struct source *source, const struct rtl_stream_info *info);
