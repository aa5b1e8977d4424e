/* SPDX-License-Identifier: MIT */
/* The format of a spool: the folder in which a process keeps what it publishes. Files are mapped shared, so that it
 * survives the process:
 *
 *   control   struct spool_control: the process, its streams and what is wanted of them, counters, the clock
 *   dict      the dictionary: what streams, strings and tracepoints are, see dict.h
 *   ring-N    one for each publishing thread, see ring.h
 *   slots-N   what publishers have under way, as they keep it: struct spool_slots in ring.h */
#pragma once

#include <rtl/stream.h>

#define SPOOL_MAGIC          "RTLSPOOL"
#define SPOOL_VERSION        6u
#define SPOOL_STREAMS_MAX    256u
#define SPOOL_RINGS_MAX      4096u
#define SPOOL_LOSSES_MAX     256u
#define SPOOL_PENDING_MAX    128u
#define SPOOL_SEGMENT_NAME   "segment-%06u"
#define SPOOL_SEGMENT_SCAN   "segment-%u"
#define SPOOL_SLOTS_NAME     "slots-%u"
#define SPOOL_SLOT_BYTES_MAX 1024u
#define SPOOL_PAIRS_MAX      64u
#define SPOOL_SLOTS_MAX      192u
#define SPOOL_DICT_MAX       (256ul << 20) /* bytes */

/* Bits of rtl_stream.wanted[]. */
enum spool_wanted {
	SPOOL_WANT_INLINE = 1,               /* an inline callback in this process */
	SPOOL_WANT_RECORD = 2,               /* a buffered callback, here or in a collector */
	SPOOL_WANT_COUNT = RTL_WANTED_COUNT, /* it is left out for now, and counted as that */
};

/* Why events were left out, beside enum rtl_left_out; texts in ledger.c. */
#define SPOOL_LEFT_OUT_OLDER  3u
#define SPOOL_LEFT_OUT_CAUSES 5u

/* Why events were discarded; texts in ledger.c. */
enum spool_discard {
	SPOOL_DISCARD_FULL,
	SPOOL_DISCARD_NO_RING,
	SPOOL_DISCARD_REENTRANT,
	SPOOL_DISCARD_TOO_LARGE,
	SPOOL_DISCARD_DEPTH,
	SPOOL_DISCARD_MALFORMED,
	SPOOL_DISCARD_COLLECTOR_DIED,
	SPOOL_DISCARD_STALLED,
	SPOOL_DISCARD_CAUSES = 8,
};

struct spool_stream {
	struct rtl_stream pub;
	/* Relaxed adds by publishers, relaxed loads by readers; nothing else depends on them. */
	uint64_t discarded[SPOOL_DISCARD_CAUSES];
	/* Delivered and flushed, by all consumers so far: for the one that recovers. */
	uint64_t delivered;
	/* Published and recorded, but thrown away again to keep the recording within its bound. */
	uint64_t rotated;
	uint64_t delivered_next;   /* see releasing */
	uint64_t missed_otherwise; /* of causes for which there was no room in losses[] */
	uint64_t open_unkept;      /* open, without a place in a ring; relaxed adds, as above */
	/* Left out by the user's selection, by cause; relaxed adds. Only the older ones had been published. */
	uint64_t left_out[SPOOL_LEFT_OUT_CAUSES];
	uint8_t pad[512 - sizeof(struct rtl_stream) - 8 * SPOOL_DISCARD_CAUSES - 40 -
		    8 * SPOOL_LEFT_OUT_CAUSES];
};

/* Things of a stream that never became events, by cause. */
struct spool_loss {
	uint64_t count; /* relaxed adds by publishers, relaxed loads by readers */
	uint32_t stream;
	char cause[52];
};

/* What a publisher has under way: missed, by this cause, once the process has ended around it. */
struct spool_pending {
	struct rtl_pending pub; /* the publisher's; acquire by readers after the process's end */
	uint32_t stream;
	uint32_t used; /* under the bus's lock; release when complete, acquire by readers */
	char cause[56];
};

struct spool_control {
	char magic[8];
	uint32_t version;
	uint32_t header_size;
	int32_t pid;
	int32_t parent_pid;
	uint64_t start_ns;
	uint64_t start_ticks;
	uint32_t clock_kind;
	uint32_t ring_count;   /* release when a ring is complete, acquire by readers */
	uint64_t dict_length;  /* release when an entry is complete, acquire by readers */
	uint32_t stream_count; /* under the registry's lock */
	uint32_t loss_count;   /* release when an entry is complete, acquire by readers */
	uint32_t finished;     /* 1: the process has ended in order; nothing follows */
	/* The consumer's bell: 1 while it sleeps on it (futex). Publishers exchange it to 0 at the end of a piece
	 * of their ring, or when they wait for room, and wake if it was 1. */
	uint32_t asleep;
	uint64_t spool_id;      /* random, never 0 */
	uint32_t segment_count; /* of a recording, see recorder.h; 0 in a spool */
	/* How ticks became ns so far: for readers after its end, after a reboot, or on another machine. Written
	 * at each flush by the one consumer. */
	uint32_t clock_count;
	struct spool_pair {
		uint64_t ticks, ns;
	} clock[SPOOL_PAIRS_MAX];
	uint8_t boot_id[16]; /* of the boot that ticks count from */
	/* 1 while the consumer gives room back: the streams' delivered_next and the rings' release_to say what it
	 * is about to do. If it dies, the next one does it, as both belong together. */
	uint32_t releasing;
	uint32_t cut_off; /* 1: the process still ran when its spool was recovered */
	/* When its collector died, CLOCK_BOOTTIME and time of day; by a recovery; 0: it did not. */
	uint64_t died_ns;
	uint64_t died_realtime_ns;
	/* Bytes of further rings that the process may have, and has; under the bus's lock, relaxed for readers. */
	uint64_t growth_most, growth;
	/* Of growth_most, what the collector lets it have; relaxed: the process looks when it grows. */
	uint64_t growth_allowed;
	/* How often and how long threads have waited for room. Relaxed adds; nothing else depends on it. */
	uint64_t waits, waited_ns;
	/* Above it there is no slots-N. Relaxed. */
	uint64_t slots_end;
	uint8_t pad[4096 - 88 - 16 * SPOOL_PAIRS_MAX - 88];
	struct spool_loss losses[SPOOL_LOSSES_MAX];
	struct spool_stream streams[SPOOL_STREAMS_MAX];
	struct spool_pending pending[SPOOL_PENDING_MAX];
};

_Static_assert(sizeof(struct spool_stream) == 512, "stride of the stream slots");
_Static_assert(sizeof(struct spool_pending) == 192, "whole lines");
_Static_assert(offsetof(struct spool_control, pending) % 64 == 0, "whole lines");
_Static_assert(offsetof(struct spool_control, losses) == 4096, "first page of the control file");

/* Counting what publishers lose, with its cause. Lock-free, from signal handlers too. */

static inline void discard_count(struct rtl_stream *stream, enum spool_discard cause)
{
	struct spool_stream *slot = (struct spool_stream *)(void *)stream;

	if (stream != &rtl_stream_none)
		__atomic_fetch_add(&slot->discarded[cause], 1, __ATOMIC_RELAXED);
}

static inline void left_out_count(struct rtl_stream *stream, uint32_t cause, uint64_t n)
{
	struct spool_stream *slot = (struct spool_stream *)(void *)stream;

	if (stream != &rtl_stream_none && cause < SPOOL_LEFT_OUT_CAUSES)
		__atomic_fetch_add(&slot->left_out[cause], n, __ATOMIC_RELAXED);
}
