/* SPDX-License-Identifier: MIT */
/*
 * Whose the records of HIP's profiler are: the thread that has made a call notes what it was within, by the
 * number of the call's record, when HIP has returned. Each record has its own place, so however long its
 * work takes to be reported, the note is there.
 *
 * Threads: notes_add by the thread of the call; the rest by who looks at records, under look.c's lock.
 */
#ifndef STREAMS_HSA_NOTES_H
#define STREAMS_HSA_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "submitters.h"

enum note_kind { NOTE_DISPATCHES, NOTE_COPIES, NOTE_KINDS }; /* of work, in the ledger */

struct note {
	struct submitter submitter;
	uint32_t grid[3]; /* work-items; 0: not known */
	uint16_t workgroup[3];
	uint8_t left_out;           /* by the user's selection: a bit for each kind */
	bool is_known;              /* how much work there is */
	uint32_t begun[NOTE_KINDS]; /* and not ended; who looks counts down */
	bool is_there;              /* release when it is complete, acquire */
};

/* By record. Written before HIP reports. Only what is used becomes memory. */
extern struct notes {
	struct note *of;
	uint64_t count;
} notes;

/* What the thread's call was within; false: there is no more room. */
static inline bool notes_add(uint64_t record, const struct note *note)
{
	if (record >= notes.count)
		return false;
	notes.of[record] = *note;
	/* Release: with the acquire in notes_find, the note is complete. */
	__atomic_store_n(&notes.of[record].is_there, true, __ATOMIC_RELEASE);
	return true;
}

/* NULL: nothing was noted of that record. */
static inline struct note *notes_find(uint64_t record)
{
	return record < notes.count && __atomic_load_n(&notes.of[record].is_there, __ATOMIC_ACQUIRE)
		       ? &notes.of[record]
		       : NULL;
}

#endif
