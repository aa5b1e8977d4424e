/* SPDX-License-Identifier: MIT */
/* The state of this process's bus. life starts and ends it. */
#pragma once

#include <pthread.h>

#include "compiler.h"
#include "selected.h"
#include "spool_writer.h"

enum bus_state {
	BUS_NEW,     /* not started, or a child's that knows the parent's registries alone */
	BUS_LOADING, /* streams can be registered; the subscribers are being loaded */
	BUS_OVERDUE, /* the same, for so long that nobody waits for it any more */
	BUS_RUNNING,
	BUS_FINISHED, /* collectors have handed in what was under way: the end has begun */
};

struct bus_settings {
	size_t ring_bytes;  /* of a thread's ring */
	size_t total_bytes; /* of all rings */
	bool wait;          /* policy where a ring is full; relaxed: written again in a child */
	bool strict;
	uint32_t exit_timeout_ms;
	uint32_t stall_timeout_ms; /* see parts.h; 0: without end */
	struct periods periods;    /* in which subscribers of this process get events */
};

struct bus {
	/* Guards the registries (streams, strings, tracepoints) and the list of rings. */
	pthread_mutex_t lock;
	int cancel_state; /* of the thread that has the lock, before */
	uint32_t state;   /* enum bus_state; release by life, acquire by all */
	uint32_t *alive;  /* in a page that is wiped by fork: the pid; 0 = this is a child */
	const void *
		starter; /* the thread that starts the bus (bus_thread); relaxed: only compared with one's own */
	bool begun; /* a lock is about to be taken, or was; relaxed: for a child that inherits it */
	bool collected;     /* a collector drains the rings */
	bool keeps_spool;   /* a subscriber has not stored all: for `rtl recover` */
	bool consumer_runs; /* else the thread of the subscribers does; relaxed */
	struct host *host;  /* life's; NULL: nobody listens in this process */
	struct bus_settings settings;
	struct spool spool;
	size_t ring_bytes_total;
	size_t grown_bytes;   /* of that, of rings for threads whose ring was full */
	uint32_t grown_count; /* these */
	uint32_t ring_count;
	struct ring_header *rings[SPOOL_RINGS_MAX];
	uint32_t *bell; /* the consumer's; see spool_control.asleep */
};

/* What publishers need from above; the table is life's. No lock is held around a call. */
struct bus_ops {
	/* Starts the bus if it was not yet, or again in a child. Any thread. */
	int (*start)(void);
	/* Tells this process's subscribers of a stream. False: they hear later; all of it is recorded until then. */
	bool (*tell_stream)(uint32_t number);
	/* Grows as long as this process's subscribers are given events; 0 without any. */
	uint64_t (*progress)(void);
	/* The subscriber that has been called and has not returned; NULL: none. */
	const char *(*at_work)(void);
	/* Whether there are rings that the consumer in this process cannot read for want of memory. */
	bool (*is_starved)(void);
};

extern const struct bus_ops bus_ops;

extern struct bus bus HIDDEN;
/* Whether the calling thread is the bus's own: it must never wait for itself. */
extern __thread bool bus_own_thread __attribute__((tls_model("initial-exec")));

void bus_lock(void);
void bus_unlock(void);
/* A lock is about to be taken. */
void bus_note_begin(void);
/* What a thread is known by in bus.starter. */
const void *bus_thread(void);

/* Whether another thread starts the bus just now, and this one did not wait for it to end. */
bool bus_starts_elsewhere(void);
/* Whether the bus runs in this process, not in the parent that it was forked from. */
bool bus_here(void);
/* From now on nothing is wanted of any stream. */
void bus_stop_publishing(void);
/* Wakes the consumer if it sleeps. */
void bus_ring_bell(void);
/* Whether a consumer will make room. Ends recording if the collector has ended; if it died, recording goes on as
 * far as there is room. */
bool bus_has_consumer(void);
/* Whether the consumer is known to be gone; a look at memory. */
bool bus_has_lost_consumer(void);
/* Grows as long as the consumer gets on. */
uint64_t bus_progress(void);
/* Names the consumer, for a line. */
void bus_name_consumer(char *text, size_t size);
/* Removes a ring from the writers' side when its thread ends, under the lock. */
void bus_close_ring(struct ring_header *ring);
