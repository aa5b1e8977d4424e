/* SPDX-License-Identifier: MIT */
/* The format of a ring: one file of the spool, written by one thread, drained by one consumer.
 *
 * Positions count bytes since the ring was made and never wrap. A record is in one piece at position % capacity; the
 * next begins at the next multiple of 8; a filler (stream = RING_FILLER) precedes one that does not fit before
 * the end. The producer publishes records by moving `head` (release; the consumer's acquire); the consumer
 * frees them by moving `tail` (release; the producer's acquire, in writer.c only where its known room is used
 * up). So whatever happens to the process, the records between tail and head are complete.
 *
 * The header also keeps what has begun on the thread and not ended (struct ring_open): once the process has
 * ended, the consumer appends it (deliver/source.c). */
#pragma once

#include <rtl/publish.h>

#include "spool.h"

#define RING_MAGIC  0x474e4952u /* "RING" */
#define RING_FILLER 0xffffu
/* The most bytes that a thread of an attachable process fills without a look at the header. */
#define RING_PIECE (256u << 10)

enum ring_state {
	RING_ACTIVE = 1, /* a thread publishes to it */
	RING_CLOSED = 2, /* its thread has ended; the consumer makes it free when it is empty */
	RING_FREE = 3,   /* drained; a new thread may take it */
	RING_TAKEN = 4,  /* one does so just now, or its memory is given back or made ready */
};

/* A place for an event that is published only if the process ends before it is closed. Its thread takes and fills
 * it; any thread of the process may close it. */
struct ring_open {
	/* 0: free. RING_OPEN_KEPT: complete, not closed. Else closed once the ring's head gets there: the record
	 * before it ends this, so both happen at once. Release by who stores it, acquire by who depends on it. */
	uint64_t until;
	uint64_t sealed; /* 1: it was open, and has been appended to the ring (source_seal) */
	struct rtl_record record;
	uint8_t payload[RTL_OPEN_PAYLOAD_MAX];
};
_Static_assert(sizeof(struct ring_open) == 448, "whole lines");
_Static_assert(offsetof(struct ring_open, record) == 16, "rtl_open_commit");

#define RING_OPEN_KEPT UINT64_MAX
#define RING_OPEN_MAX  22u

struct ring_header {
	uint32_t magic;
	uint32_t header_size; /* records begin there, bytes */
	uint64_t capacity;    /* bytes, a multiple of 8 */
	uint32_t index;
	uint32_t tid;   /* of the thread; changes only while the ring is free */
	uint32_t state; /* enum ring_state; release by one side, acquire by the other */
	uint32_t reserved;
	/* Bytes of the data that have room on the disk and were touched; grows ahead of the producer (ring_prepare).
	 * Release by who raises it, acquire by the producer. */
	uint64_t ready;
	uint64_t origin; /* in a segment (recorder.h): position of its first record in its ring */
	uint8_t pad1[64 - 48];
	uint64_t head; /* producer's */
	uint8_t pad2[64 - 8];
	uint64_t tail;    /* consumer's */
	uint32_t waiting; /* 1: the producer sleeps on it (futex) until tail moves */
	uint32_t reserved2;
	uint64_t release_to; /* consumer's: see releasing in spool.h */
	uint8_t pad3[64 - 24];
	/* Events committed, by stream: counted before head moves, so never fewer than read. */
	uint64_t published[SPOOL_STREAMS_MAX];
	struct ring_open open[RING_OPEN_MAX];
};

#define RING_HEADER_SIZE 12288u
_Static_assert(offsetof(struct ring_header, open) % 64 == 0, "whole lines");
_Static_assert(sizeof(struct ring_header) <= RING_HEADER_SIZE, "records begin on a page");
_Static_assert(sizeof(struct rtl_record) == 48, "layout of records in the spool");

/* How many bytes a record of that size takes. */
static inline uint64_t ring_step(uint32_t size)
{
	return ((uint64_t)size + 7) & ~(uint64_t)7;
}

static inline uint8_t *ring_data(struct ring_header *ring)
{
	return (uint8_t *)ring + RING_HEADER_SIZE;
}

/* Whether what is kept there has not ended; `head`: the ring's. */
static inline bool ring_open_is_kept(const struct ring_open *open, uint64_t head)
{
	/* acquire: with the release of the thread that filled or closed it; 0 is below any head */
	return __atomic_load_n(&open->until, __ATOMIC_ACQUIRE) > head;
}

/* Whether a copy of what is kept there is a record that can be: its writer may have had faults. */
static inline bool ring_open_is_sound(const struct ring_open *copy, uint32_t stream_count)
{
	return copy->record.size >= sizeof(copy->record) &&
	       copy->record.size <= sizeof(copy->record) + RTL_OPEN_PAYLOAD_MAX &&
	       copy->record.stream < stream_count;
}

/* The header of a file slots-N: see rtl_slots_create. What it describes follows on the next page. */
struct spool_slots {
	uint64_t address;    /* of the next page in the process */
	uint64_t ready;      /* bytes that are used; release, acquire by readers */
	uint32_t slot_bytes; /* 0: not described; release, acquire by readers */
	uint32_t under_way;
	uint32_t fact_count;
	uint32_t reserved;
	struct rtl_slot_fact facts[RTL_SLOT_FACTS_MAX];
	struct ring_open event;
};
#define SPOOL_SLOTS_HEADER 4096u
_Static_assert(sizeof(struct spool_slots) <= SPOOL_SLOTS_HEADER, "slots begin on a page");

/* Identifies the mapping of a ring. Do not trust the ring's header: its writer may have had faults. */
struct ring_place {
	struct ring_header *ring;
	uint32_t index; /* its file is ring-INDEX */
	uint64_t bytes; /* of data in the mapping; the file has as many */
};

/* Makes the ring ready up to `bytes`, at most all of it: in the spool's file, which never grows by it, and in this
 * process's mapping. Any thread, any process. False: no room on the disk, or another file. `alone`, for the
 * only writer of the ring: fills it with zeros, a third faster on a file system in memory. */
bool ring_prepare(const struct ring_place *place, int dir_fd, uint64_t bytes, bool alone);
