/* SPDX-License-Identifier: MIT */
/* counts.h: what a publisher of the recovery tests has published, in a file of its own that it
 * maps shared: it survives the publisher, and nothing of rtl goes into it. */
#pragma once

#include <stdint.h>

#define RECOVER_THREADS     4u
#define RECOVER_NOTE_STREAM "recover.notes"
#define RECOVER_NOTE_TABLE  "rtl_e_recover_notes_note"
/* Events that share a name, "name-N" with N = sequence number / RECOVER_NAME_EVENTS. */
#define RECOVER_NAME_EVENTS 512u

enum recover_stream { RECOVER_NOTES, RECOVER_DISPATCHES, RECOVER_STREAMS };

struct recover_counts {
	/* Events whose rtl_commit has returned; their numbers are 1 to that. One writer each. */
	uint64_t published[RECOVER_STREAMS][RECOVER_THREADS];
	uint32_t ready; /* the publisher's threads run */
	uint32_t stop;  /* the publisher is to end in order */
};

/* Payload of RECOVER_NOTE_STREAM. */
struct recover_note {
	uint64_t number;
	uint64_t name; /* interned */
	uint32_t thread;
	uint32_t reserved;
};
