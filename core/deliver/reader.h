/* SPDX-License-Identifier: MIT */
/* Reads the rings of a process in the order in which their records were published.
 *
 * A pass reads the clock, then the heads of all rings, and gives out the records older than that reading, merged by
 * their ticks. What was published before the publishing of another record began has earlier ticks and was
 * committed before the clock was read: so a cause always comes before its effect, from whatever threads.
 *
 * Threads: one at a time (the host's lock). */
#pragma once

#include "clock.h"
#include "ring.h"

struct reader_ring {
	struct ring_header *ring; /* or the segment that is read now; NULL: it could not be had */
	uint64_t base;            /* position at which the data begins: 0, or the segment's */
	uint64_t capacity;        /* as found at first: in the ring it may be overwritten */
	uint64_t usable;          /* of it, bytes that the file has */
	uint64_t position;        /* next record to give out */
	uint64_t released;        /* the ring's tail */
	uint64_t head;            /* as of this pass */
	uint64_t ticks;           /* of the next record, when the ring is in the heap */
	uint64_t skipped;         /* bytes that could not be read: the ring is damaged */
	uint32_t size;            /* of the next record, checked, as the following */
	uint16_t stream;
	uint16_t type;
	uint16_t taken; /* the stream of the record that was gone over last */
	/* of a recording; source.c's: */
	bool is_segment;
	bool given;       /* a record of this one has been given out */
	bool hit;         /* something was missing in one that is closed again */
	uint32_t next;    /* which comes then, in spool_files.segments; plus 1 */
	uint32_t settled; /* those before have their tails; plus 1 */
	size_t bytes;     /* of the mapping of this one */
	uint64_t free_ns; /* when it became free, as far as that was seen */
	void *previous;   /* still mapped: a record of it may just have been given out */
	size_t previous_bytes;
};

/* A record as it was checked: a process that can write to the ring may have changed it since. */
struct reader_record {
	const struct rtl_record *at; /* until reader_release; of a recording, until the next one */
	uint64_t ticks;
	uint64_t position;
	uint32_t ring;
	uint32_t size;
	uint32_t tid;
	uint16_t stream;
	uint16_t type;
};

struct reader {
	struct clock_line clock;
	struct reader_ring *list;
	uint32_t count;
	uint32_t room;
	uint32_t *heap; /* indices into list, the earliest first */
	uint32_t heap_size;
	bool starved; /* no memory to take up a ring; relaxed: threads wait for room in it */
	bool frozen;  /* the ticks are of another boot, or all were read before: the clock stays */
	/* Of a recording: takes up a ring's next segment (reader_take_segment); false: there is none. Else NULL. */
	bool (*more)(void *user, uint32_t ring, struct reader_ring *r);
	void *user;
	uint64_t until;  /* ticks at which this pass began */
	uint64_t now_ns; /* the same in ns */
};

/* `start`: both clocks when the process began to publish. */
void reader_init(struct reader *reader, const struct clock_pair *start);
void reader_fini(struct reader *reader);

/* Comes first in a pass, which gives out older records only. New rings are looked for after it: a thread may change
 * to a new ring and then to a known one, and must not be seen in the last alone. */
void reader_take_time(struct reader *reader);
/* Begins a pass over `count` rings, never fewer than last time; `bytes`: mapped of each, NULL: all. False: nothing
 * to read. */
bool reader_begin(struct reader *reader, struct ring_header *const *rings, const size_t *bytes,
		  uint32_t count);
/* The next record of the pass; false: there is none. */
bool reader_next(struct reader *reader, struct reader_record *out);
/* Where a position lies in the data of the ring, or of its segment. */
static inline uint64_t reader_offset(const struct reader_ring *r)
{
	return (r->position - r->base) % r->capacity;
}
/* Bytes of its data that can be used. */
static inline uint64_t reader_bytes(const struct reader_ring *r)
{
	return r->usable < r->capacity ? r->usable : r->capacity;
}
/* Continues in a segment whose first record has the position `origin`. */
void reader_take_segment(struct reader_ring *r, struct ring_header *segment, size_t bytes,
			 uint64_t origin);
/* Takes note of the rings without beginning a pass. */
void reader_add_rings(struct reader *reader, struct ring_header *const *rings, const size_t *bytes,
		      uint32_t count);
/* The next record of a ring's [position, head), moving on; NULL: there is none. */
const struct rtl_record *reader_walk(struct reader_ring *ring);
/* Announces in each ring what reader_release will do to it. */
void reader_announce_release(struct reader *reader);
/* Gives threads back the room of all records that reader_next has returned. */
void reader_release(struct reader *reader);
/* Gives back the memory of rings free for a while, or, where a collector leaves, of all. own: of this process. */
void reader_give_back(struct reader *reader, bool own, bool leaves);
/* Bytes of free rings whose memory was given back. */
uint64_t reader_empty(const struct reader *reader);
/* Whether something in the rings was not read yet. */
bool reader_is_behind(const struct reader *reader);
/* What waits in the rings, in bytes. */
uint64_t reader_backlog(const struct reader *reader);
/* Whether what was read should be released soon: a thread waits or has little room, or too many ended threads' rings
 * lie about. */
bool reader_lacks_room(const struct reader *reader, uint32_t closed_most);
