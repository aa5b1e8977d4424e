/* SPDX-License-Identifier: MIT */
/*
 * HIP's own profiler, for those who work with it:
 *	profiler.c	finds, enables and disables it
 *	launches.c	calls of the program that have submitted work, and how much
 *	look.c		its records (records.h), and what they tell of the GPU's work
 */
#ifndef STREAMS_HSA_PROFILER_H
#define STREAMS_HSA_PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records.h"

/* ---- profiler.c ---- */

/* Written before it is enabled, but for `over`. */
struct profiler_state {
	get_records_fn *get_records;
	uintptr_t image_begin, image_end; /* HIP's, where names of functions are */
	uint64_t start;                   /* the first record */
	uint64_t memory_bytes;            /* that HIP may keep */
	bool hashed;                      /* records have no thread ids */
	bool endless;                     /* records do not tell when a call has ended */
	bool over;                        /* relaxed: no more is taken */
};

extern struct profiler_state profiler;

/* It does something that is not known: says so, and takes no more notice of it. */
void profiler_give_up(const char *why);

/* It has kept so much, which is too much: it is stopped. */
void profiler_stop_for_memory(uint64_t bytes);

static inline bool profiler_is_over(void)
{
	return __atomic_load_n(&profiler.over, __ATOMIC_RELAXED);
}

struct slabs {
	const struct hip_record *const *slabs;
	size_t count, size, total;
};

static inline bool profiler_get(struct slabs *slabs)
{
	*slabs = (struct slabs){0};
	return !profiler.get_records(&slabs->slabs, &slabs->count, &slabs->size, &slabs->total) &&
	       slabs->slabs && slabs->size;
}

/* NULL: its slab is gone, or not there yet. */
static inline const struct hip_record *record_at(const struct slabs *slabs, uint64_t number)
{
	const uint64_t slab = number / slabs->size;

	if (slab >= slabs->count)
		return NULL;
	const struct hip_record *first = __atomic_load_n(&slabs->slabs[slab], __ATOMIC_ACQUIRE);

	return first ? &first[number % slabs->size] : NULL;
}

/* Whether it has been cleared and begun. Acquire: what was written before its name. */
static inline bool record_is_begun(const struct hip_record *record)
{
	return record &&
	       (uintptr_t)__atomic_load_n(&record->function, __ATOMIC_ACQUIRE) -
			       profiler.image_begin <
		       profiler.image_end - profiler.image_begin &&
	       __atomic_load_n(&record->start_ns, __ATOMIC_RELAXED);
}

/* ---- launches.c ---- */

/* Whether a function may submit work. */
bool launches_may(const char *function);

/* What a function is to us; id: a number of its own. */
enum {
	CALL_IS_KNOWN = 1,
	CALL_SUBMITS = 2,
	CALL_IS_FOLLOWED = 4,
	CALL_WAITS = 8, /* and above: times enum report_wait */
};
unsigned launches_kind(uint32_t id, const char *function);

/* A call of the program's, of a function of that kind, has succeeded. */
void launches_note(unsigned kind, const char *function, const uint64_t *slots);

/* ---- look.c ---- */

/* Room for what is known of each record, and its note (notes.h). False: there is no memory. */
bool look_init(uint64_t records);

/* At what has come since the look before; the last time at all. `noted`: calls are. */
void look_at_records(bool noted, bool last);

#endif
