/* SPDX-License-Identifier: MIT */
/*
 * The bus of this process: its state, its start and its end.
 *
 * Locks: bus.lock guards the registries (streams, strings, tracepoints), the list of rings and
 * the start; it is held for microseconds. The host has a lock of its own for calls into
 * subscribers; order: host lock before bus.lock.
 */
#ifndef RTL_CORE_BUS_H
#define RTL_CORE_BUS_H

#include <pthread.h>

#include "host.h"
#include "spool_writer.h"

enum bus_state { BUS_NEW, BUS_RUNNING, BUS_FINISHED };

struct bus_settings {
	size_t ring_bytes;  /* of a thread's ring */
	size_t total_bytes; /* of all rings */
	bool wait;          /* policy where a ring is full */
	bool strict;
	uint32_t exit_timeout_ms;
	uint32_t stall_timeout_ms; /* see stall.h; 0: without end */
};

struct bus {
	pthread_mutex_t lock;
	enum bus_state state; /* release by bus.c, acquire by bus_running */
	uint32_t *alive;      /* in a page that is wiped by fork: the pid; 0 = this is a child */
	struct bus_settings settings;
	struct spool spool;
	size_t ring_bytes_total;
	size_t grown_bytes;   /* of that, of rings for threads whose ring was full */
	uint32_t grown_count; /* these */
	uint32_t ring_count;
	struct ring_header *rings[SPOOL_RINGS_MAX];
	uint32_t *bell;    /* of who drains the rings; see spool_control.asleep */
	struct host *host; /* NULL: nobody listens in this process */
	bool collected;    /* a collector drains the rings */
	bool parents;      /* this is a child, and all of this its parent's until it starts anew */
};

extern struct bus bus;

void bus_lock(void);
void bus_unlock(void);

/* Starts the bus if it was not yet, or again in a child. Any thread, no lock held. */
int bus_start(void);
/* Whether another thread starts the bus just now, and this one did not wait for it to end. */
bool bus_starts_elsewhere(void);
/* Whether the bus runs in this process, not in the parent that it was forked from. */
bool bus_here(void);
/* Nothing is wanted any more, of any stream. */
void bus_stop_publishing(void);
/* Wakes the consumer if it sleeps. */
void bus_ring_bell(void);
/* Whether the calling thread is the bus's own: it must never wait for itself. */
bool bus_is_own_thread(void);
/* Whether a consumer is there that will make room. Where the collector has ended, recording ends by
 * this call; where it died, recording goes on as far as there is room. */
bool bus_has_consumer(void);
/* Whether that is known not to be so; a look at memory. */
bool bus_has_lost_consumer(void);
/* Grows as long as the consumer gets on. With signals blocked: it looks at all rings. */
uint64_t bus_progress(void);
/* Who the consumer is, for a line. */
void bus_name_consumer(char *text, size_t size);
/* Removes a ring from the writers' side when its thread ends, under the lock. */
void bus_close_ring(struct ring_header *ring);

#endif
