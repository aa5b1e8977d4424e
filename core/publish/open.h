/* SPDX-License-Identifier: MIT */
/*
 * What has begun and not ended: see rtl_open_reserve in rtl/publish.h. It lies in the ring of its
 * thread (struct ring_open) and becomes an event when the process ends. open_hand_in makes it one if
 * the process ends in order, else the consumer of the ring does (seal.c).
 */
#ifndef RTL_CORE_OPEN_H
#define RTL_CORE_OPEN_H

#include "writer.h"

/* The handle by which an open thing is closed: its ring and its place there. 0 is never one. */
#define OPEN_UNKEPT 0xffffffffu /* only counted */

static inline uint32_t open_handle(const struct ring_header *ring, uint32_t place)
{
	return (ring->index + 1) << 8 | place;
}

/* NULL: there is none. */
struct ring_header *open_ring_of_another(uint32_t index);

/* NULL: it is closed already, or belongs to a parent. */
static inline struct ring_open *open_find(const struct writer *writer, uint32_t handle,
					  uint64_t instance)
{
	struct ring_header *ring = writer->ring;
	struct ring_open *open;

	if (__builtin_expect(!ring || ring->index != (handle >> 8) - 1, 0))
		ring = open_ring_of_another((handle >> 8) - 1);
	if (__builtin_expect(!ring || (handle & 0xff) >= RING_OPEN_MAX, 0))
		return NULL;
	open = &ring->open[handle & 0xff];
	return open->record.instance == instance ? open : NULL;
}

static inline void open_close_place(struct writer *writer, struct ring_open *open, uint32_t handle)
{
	/* release: with the acquire of the next one to take it; we have read what will be overwritten */
	__atomic_store_n(&open->until, 0, __ATOMIC_RELEASE);
	if (__builtin_expect(writer->ring && open == &writer->ring->open[handle & 0xff], 1))
		writer->open_next = handle & 0xff;
}

/* Publishes on the calling thread what all threads of this process have open. After publishing has been
 * stopped. */
void open_hand_in(void);

/* Publishes a copy of a record on the calling thread, wanted or not (publish.c). */
void publish_copy(const struct rtl_record *record);

#endif
