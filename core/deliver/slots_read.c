/* SPDX-License-Identifier: MIT */
/* Events of what another process has in its slots (rtl_slots_create), alive or dead. All that is there may be wrong. */
#include "source.h"

#define TRIES 4 /* for a slot that changes while it is read */

struct maps {
	struct source *source;
	struct spool_slots *list[SPOOL_SLOTS_MAX];              /* NULL: none */
	size_t mapped[SPOOL_SLOTS_MAX], bytes[SPOOL_SLOTS_MAX]; /* and behind the header, ready */
	uint32_t count;
};

static uint8_t *data_of(const struct maps *maps, uint32_t i)
{
	return (uint8_t *)maps->list[i] + SPOOL_SLOTS_HEADER;
}

static void map_all(struct maps *maps)
{
	/* acquire, here and below: with the releases of the process */
	const uint64_t end = __atomic_load_n(&maps->source->control->slots_end, __ATOMIC_RELAXED);

	maps->count = end < SPOOL_SLOTS_MAX ? (uint32_t)end : SPOOL_SLOTS_MAX;
	for (uint32_t i = 0; i < maps->count; i++) {
		struct spool_slots *slots =
			spool_files_map_slots(&maps->source->files, i, &maps->mapped[i]);
		const size_t there = slots ? maps->mapped[i] - SPOOL_SLOTS_HEADER : 0;
		const uint64_t ready = slots ? __atomic_load_n(&slots->ready, __ATOMIC_ACQUIRE) : 0;

		maps->list[i] = slots;
		maps->bytes[i] = ready < there ? ready : there;
	}
}

static uint64_t number_at(const uint8_t *at, uint32_t bytes)
{
	uint64_t number = 0;

	memcpy(&number, at, bytes);
	return number;
}

/* What the process has at an address; 0: that is none of its slots. */
static uint64_t number_via(const struct maps *maps, uint64_t address, uint32_t bytes)
{
	for (uint32_t i = 0; i < maps->count; i++) {
		const uint64_t offset =
			maps->list[i] ? address - maps->list[i]->address : UINT64_MAX;

		if (offset < maps->bytes[i] && bytes <= maps->bytes[i] - offset)
			return number_at(data_of(maps, i) + offset, bytes);
	}
	return 0;
}

/* Puts a fact into an event; false: those behind it are left out, or it is none. */
static bool put_fact(const struct maps *maps, const struct rtl_slot_fact *fact, const uint8_t *slot,
		     uint32_t slot_bytes, struct ring_open *event)
{
	uint8_t *to = (uint8_t *)&event->record + fact->to;
	uint64_t number;

	if (fact->from_bytes > 8 || fact->to_bytes > 8 ||
	    (uint32_t)fact->from + fact->from_bytes > slot_bytes ||
	    (uint32_t)fact->to + fact->to_bytes > sizeof(event->record) + sizeof(event->payload))
		return false;
	number = number_at(slot + fact->from, fact->from_bytes);
	if (fact->how == RTL_SLOT_IF)
		return number;
	if (fact->how == RTL_SLOT_VIA)
		number = number_via(maps, number + fact->at, fact->to_bytes);
	else if (fact->how == RTL_SLOT_TICKS && number)
		number = clock_line_ns(&maps->source->reader.clock, number);
	number += number_at(to, fact->to_bytes);
	memcpy(to, &number, fact->to_bytes);
	return true;
}

/* A copy of a slot that is under way; false: it is not. */
static bool take_slot(const uint8_t *slot, const struct spool_slots *info, uint8_t *copy)
{
	for (int i = 0; i < TRIES; i++) {
		/* acquire: with the publisher's release; below, what is compared is read once more */
		if (!__atomic_load_n(slot + info->under_way, __ATOMIC_ACQUIRE))
			return false;
		memcpy(copy, slot, info->slot_bytes);
		if (__atomic_load_n(slot + info->under_way, __ATOMIC_ACQUIRE) &&
		    !memcmp(copy, slot, info->slot_bytes))
			return true;
	}
	return false;
}

static void each_slot(const struct maps *maps, uint32_t i, slot_fn fn, void *user)
{
	const uint32_t slot_bytes = __atomic_load_n(&maps->list[i]->slot_bytes, __ATOMIC_ACQUIRE);
	const struct spool_slots info = *(const volatile struct spool_slots *)maps->list[i];
	uint8_t copy[SPOOL_SLOT_BYTES_MAX];

	if (!slot_bytes || slot_bytes > sizeof(copy) || info.slot_bytes != slot_bytes ||
	    info.under_way >= slot_bytes || info.fact_count > RTL_SLOT_FACTS_MAX)
		return;
	for (uint64_t at = 0; at + slot_bytes <= maps->bytes[i]; at += slot_bytes) {
		uint8_t *slot = data_of(maps, i) + at;
		struct ring_open event = info.event;

		if (!take_slot(slot, &info, copy))
			continue;
		for (uint32_t k = 0; k < info.fact_count; k++)
			if (!put_fact(maps, &info.facts[k], copy, slot_bytes, &event))
				break;
		if (ring_open_is_sound(&event, maps->source->stream_count))
			fn(user, &event, slot + info.under_way);
	}
}

void source_each_slot(struct source *source, slot_fn fn, void *user)
{
	struct maps maps = {.source = source};

	if (source->own || !source->control)
		return;
	map_all(&maps);
	for (uint32_t i = 0; i < maps.count; i++)
		if (maps.list[i])
			each_slot(&maps, i, fn, user);
	for (uint32_t i = 0; i < maps.count; i++)
		if (maps.list[i])
			(void)spool_files_unmap_segment(maps.list[i], maps.mapped[i]);
}
