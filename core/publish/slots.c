/* SPDX-License-Identifier: MIT */
/* rtl_slots_create: memory of publishers that lies in the spool. Threads: under the bus's lock. */
#include <sys/mman.h>

#include "bus.h"
#include "parts.h"

static struct {
	struct spool_slots *at; /* NULL: a free place */
	size_t bytes, ready;    /* behind the header */
} list[SPOOL_SLOTS_MAX];

static size_t pages(size_t bytes)
{
	return (bytes + 4095) & ~(size_t)4095;
}

/* Memory of this process alone; `at` NULL: anywhere. */
static void *own_memory(void *at, size_t bytes)
{
	void *p = mmap(at, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Its place in the list; SPOOL_SLOTS_MAX: it has none, so it is the process's own. */
static uint32_t place_of(const void *memory)
{
	uint32_t i = 0;

	while (i < SPOOL_SLOTS_MAX &&
	       (!list[i].at || (const uint8_t *)list[i].at + SPOOL_SLOTS_HEADER != memory))
		i++;
	return i;
}

void *rtl_slots_create(size_t bytes)
{
	const size_t all = SPOOL_SLOTS_HEADER + pages(bytes);
	struct spool_slots *slots = NULL;
	uint32_t i = 0;

	if (!bus_here() && bus_ops.start())
		return own_memory(NULL, bytes);
	bus_lock();
	while (i < SPOOL_SLOTS_MAX && list[i].at)
		i++;
	if (i < SPOOL_SLOTS_MAX && (slots = spool_slots_create(&bus.spool, i, all))) {
		list[i].at = slots;
		list[i].bytes = pages(bytes);
		list[i].ready = 0;
		slots->address = (uintptr_t)slots + SPOOL_SLOTS_HEADER;
		if (bus.spool.control->slots_end <= i)
			__atomic_store_n(&bus.spool.control->slots_end, i + 1, __ATOMIC_RELAXED);
	}
	bus_unlock();
	return slots ? (uint8_t *)slots + SPOOL_SLOTS_HEADER : own_memory(NULL, bytes);
}

/* Where the disk is full, the rest of it is the process's own. */
void rtl_slots_ready(void *memory, size_t bytes)
{
	size_t to = pages(bytes), from;
	uint32_t i;

	bus_lock();
	i = place_of(memory);
	from = i < SPOOL_SLOTS_MAX ? list[i].ready : to;
	if (to > from) {
		if (spool_slots_reserve(&bus.spool, i, SPOOL_SLOTS_HEADER + from, to - from))
			/* release: readers look no further */
			__atomic_store_n(&list[i].at->ready, to, __ATOMIC_RELEASE);
		else if (own_memory((uint8_t *)memory + from, list[i].bytes - from))
			to = list[i].bytes;
		list[i].ready = to;
	}
	bus_unlock();
}

void rtl_slots_describe(void *memory, const struct rtl_stream *stream,
			const struct rtl_slots_info *info)
{
	struct spool_slots *slots;
	uint32_t i;

	bus_lock();
	i = place_of(memory);
	if (i < SPOOL_SLOTS_MAX && info->fact_count <= RTL_SLOT_FACTS_MAX &&
	    info->event->size <= sizeof(*info->event) + RTL_OPEN_PAYLOAD_MAX) {
		slots = list[i].at;
		slots->under_way = info->under_way;
		slots->fact_count = info->fact_count;
		memcpy(slots->facts, info->facts, info->fact_count * sizeof(*info->facts));
		memcpy((uint8_t *)slots + offsetof(struct spool_slots, event.record), info->event,
		       info->event->size);
		slots->event.record.stream = (uint16_t)stream->number;
		/* release: what stands before is complete */
		__atomic_store_n(&slots->slot_bytes, info->slot_bytes, __ATOMIC_RELEASE);
	}
	bus_unlock();
}

void rtl_slots_destroy(void *memory, size_t bytes)
{
	uint32_t i;

	if (!memory)
		return;
	bus_lock();
	i = place_of(memory);
	if (i < SPOOL_SLOTS_MAX) {
		(void)spool_slots_reserve(&bus.spool, i, 0, 0);
		munmap(list[i].at, SPOOL_SLOTS_HEADER + list[i].bytes);
		list[i].at = NULL;
	} else {
		munmap(memory, bytes);
	}
	bus_unlock();
}

/* What it writes there is not its parent's. */
void slots_forget(void)
{
	for (uint32_t i = 0; i < SPOOL_SLOTS_MAX; i++) {
		if (list[i].at)
			(void)own_memory(list[i].at, SPOOL_SLOTS_HEADER + list[i].bytes);
		list[i].at = NULL;
	}
}
