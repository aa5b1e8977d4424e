/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "files.h"
#include "futex.h"

/* A ring that is free keeps its memory so long, for a thread that needs it again. */
#define GIVE_BACK_NS 1000000000u

void reader_init(struct reader *reader, const struct clock_pair *start)
{
	memset(reader, 0, sizeof(*reader));
	clock_line_add(&reader->clock, start);
}

void reader_fini(struct reader *reader)
{
	free(reader->list);
	free(reader->heap);
	memset(reader, 0, sizeof(*reader));
}

/* A ring that is new. `bytes`: of its mapping; 0: as many as it says. */
static struct reader_ring new_ring(struct ring_header *ring, size_t bytes)
{
	struct reader_ring r = {.ring = ring, .free_ns = clock_ns()};

	if (!ring)
		return r;
	r.capacity = *(const volatile uint64_t *)&ring->capacity;
	r.usable = bytes ? bytes - RING_HEADER_SIZE : r.capacity;
	r.position = r.released = *(const volatile uint64_t *)&ring->tail;
	if (!r.capacity || r.capacity % 8) /* was another when its header was checked */
		return (struct reader_ring){0};
	return r;
}

/* Takes up rings that are new; without memory they wait for the next pass. */
void reader_add_rings(struct reader *reader, struct ring_header *const *rings, const size_t *bytes,
		      uint32_t n)
{
	uint32_t room = reader->room; /* of both, when both are had */

	if (n && (!array_grow(&reader->list, &room, n, sizeof(*reader->list)) ||
		  !array_grow(&reader->heap, &reader->room, n, sizeof(*reader->heap))))
		goto out;
	for (; reader->count < n; reader->count++)
		reader->list[reader->count] =
			new_ring(rings[reader->count], bytes ? bytes[reader->count] : 0);
out:
	__atomic_store_n(&reader->starved, reader->count < n, __ATOMIC_RELAXED);
}

/* The first line of a record. */
union first {
	uint64_t word;
	struct {
		uint32_t size;
		uint16_t stream;
		uint16_t type;
	} is;
};

/* The record at the ring's position if it is sound. Its writer may write on: what is checked is read once. */
static const struct rtl_record *next_record(struct reader_ring *r)
{
	uint64_t offset = reader_offset(r);
	uint64_t left = r->head - r->position, to_end = r->capacity - offset;
	const struct rtl_record *record = (const void *)(ring_data(r->ring) + offset);
	union first first;
	uint64_t step;
	bool filler;

	if (left > to_end)
		left = to_end;
	if (offset + 8 > r->usable || left < 8)
		return NULL;
	first.word = *(const volatile uint64_t *)(const void *)record;
	filler = first.is.stream == RING_FILLER;
	step = ring_step(first.is.size);
	if (step > left || first.is.size < (filler ? 8 : sizeof(*record)) ||
	    (!filler &&
	     (first.is.size > sizeof(*record) + RTL_PAYLOAD_MAX || offset + step > r->usable)))
		return NULL;
	r->size = first.is.size;
	r->stream = first.is.stream;
	r->type = first.is.type;
	return record;
}

/* Goes over what cannot be read, up to where a record begins again: the beginning of the ring. */
static void skip_damage(struct reader_ring *r)
{
	uint64_t bytes = r->capacity - reader_offset(r);

	if (bytes > r->head - r->position)
		bytes = r->head - r->position;
	r->skipped += bytes;
	r->position += bytes;
}

static bool more(const struct reader *reader, struct reader_ring *r)
{
	return reader && reader->more &&
	       reader->more(reader->user, (uint32_t)(r - reader->list), r);
}

/* Moves on to the next record and reads its ticks; false: none in this pass. reader NULL: none
 * behind the ring's head. */
static bool look(const struct reader *reader, struct reader_ring *r)
{
	const struct rtl_record *record;

	for (;;) {
		if (r->position == r->head) {
			if (!more(reader, r))
				return false;
			continue;
		}
		record = next_record(r);
		if (!record)
			skip_damage(r);
		else if (r->stream != RING_FILLER)
			break;
		else
			r->position += ring_step(r->size);
	}
	r->ticks = *(const volatile uint64_t *)&record->ticks;
	return true;
}

/* How far a ring has been filled; acquire: with the producer's release, the records are there. */
static void read_head(struct reader_ring *r)
{
	uint64_t head = __atomic_load_n(&r->ring->head, __ATOMIC_ACQUIRE);

	if (r->is_segment) { /* none can be longer than its file says */
		if (head % 8 || head > r->capacity) {
			r->skipped += r->capacity;
			head = 0;
		}
		r->head = r->base + head;
		if (r->head < r->position)
			r->head = r->position; /* what it holds was in another one as well */
		return;
	}
	/* a sound thread has waited for the room that we have released */
	if (head % 8 || r->position % 8 || head - r->released > r->capacity ||
	    head - r->position > r->capacity) {
		r->skipped += r->capacity; /* more than can be true: nothing is */
		head = r->position;
	}
	r->head = head;
}

void reader_take_segment(struct reader_ring *r, struct ring_header *segment, size_t bytes,
			 uint64_t origin)
{
	const struct reader_ring s = new_ring(segment, bytes);
	uint64_t begin = origin;

	if (s.position % 8 == 0 && s.position <= s.capacity)
		begin += s.position;
	r->is_segment = true;
	r->ring = segment;
	r->capacity = s.ring ? s.capacity : 8; /* else it was another when its header was read */
	r->usable = s.ring ? s.usable : 0;
	r->base = origin;
	r->position = begin > r->position ? begin : (r->position + 7) & ~(uint64_t)7;
	read_head(r);
}

const struct rtl_record *reader_walk(struct reader_ring *r)
{
	const struct rtl_record *record;

	if (!look(NULL, r))
		return NULL;
	record = (const void *)(ring_data(r->ring) + reader_offset(r));
	r->given = true;
	r->position += ring_step(r->size);
	r->taken = r->stream;
	return record;
}

static bool earlier(const struct reader *reader, uint32_t a, uint32_t b)
{
	return reader->list[reader->heap[a]].ticks < reader->list[reader->heap[b]].ticks;
}

static void sift_down(struct reader *reader, uint32_t at)
{
	for (;;) {
		uint32_t child = 2 * at + 1, top;

		if (child >= reader->heap_size)
			return;
		if (child + 1 < reader->heap_size && earlier(reader, child + 1, child))
			child++;
		if (!earlier(reader, child, at))
			return;
		top = reader->heap[at];
		reader->heap[at] = reader->heap[child];
		reader->heap[child] = top;
		at = child;
	}
}

void reader_take_time(struct reader *reader)
{
	struct clock_pair pair;

	if (reader->frozen) {
		reader->until = UINT64_MAX;
		return;
	}
	/* All that this pass gives out is older than this pair: its time lies between two pairs,
	 * and the line never bends backwards. */
	clock_pair_take(&pair);
	clock_line_add(&reader->clock, &pair);
	reader->until = pair.ticks;
	reader->now_ns = pair.ns;
}

bool reader_begin(struct reader *reader, struct ring_header *const *rings, const size_t *bytes,
		  uint32_t count)
{
	reader_add_rings(reader, rings, bytes, count);
	reader->heap_size = 0;
	for (uint32_t i = 0; i < reader->count; i++) {
		struct reader_ring *r = &reader->list[i];

		if (r->ring)
			read_head(r);
		if (look(reader, r))
			reader->heap[reader->heap_size++] = i;
	}
	for (uint32_t i = reader->heap_size / 2; i-- > 0;)
		sift_down(reader, i);
	return reader->heap_size > 0;
}

bool reader_next(struct reader *reader, struct reader_record *out)
{
	struct reader_ring *r;

	if (!reader->heap_size)
		return false;
	r = &reader->list[reader->heap[0]];
	if (r->ticks > reader->until)
		return false; /* published after the pass began, as all others that are left */
	*out = (struct reader_record){
		.at = (const void *)(ring_data(r->ring) + reader_offset(r)),
		.ticks = r->ticks,
		.position = r->position,
		.ring = reader->heap[0],
		.size = r->size,
		.tid = r->ring->tid,
		.stream = r->stream,
		.type = r->type,
	};
	r->given = true;
	r->position += ring_step(r->size);
	if (!look(reader, r))
		reader->heap[0] = reader->heap[--reader->heap_size];
	sift_down(reader, 0);
	return true;
}

static void release_ring(struct reader_ring *r, uint64_t now_ns)
{
	struct ring_header *ring = r->ring;

	if (r->released != r->position) {
		r->released = r->position;
		/* release for the producer's acquire: we have read what it may overwrite now;
		 * seq_cst with its store to waiting: one of us sees the other */
		__atomic_store_n(&ring->tail, r->position - r->base, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&ring->waiting, __ATOMIC_SEQ_CST)) {
			__atomic_store_n(&ring->waiting, 0, __ATOMIC_RELAXED);
			futex_wake(&ring->waiting);
		}
	}
	/* acquire: with the release at the end of the ring's thread; its last head is visible */
	if (!r->is_segment && __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) == RING_CLOSED &&
	    __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) == r->position) {
		r->free_ns = now_ns;
		/* release: with the acquire of the thread that takes the ring next */
		__atomic_store_n(&ring->state, RING_FREE, __ATOMIC_RELEASE);
	}
}

static bool is_free(const struct reader_ring *r)
{
	return r->ring && !r->is_segment &&
	       __atomic_load_n(&r->ring->state, __ATOMIC_RELAXED) == RING_FREE;
}

/* The whole pages between two offsets; whether all is well. */
static bool punch(const struct reader_ring *r, uint64_t from, uint64_t to, bool own)
{
	const uint64_t begin = (from + 4095) & ~(uint64_t)4095, end = to & ~(uint64_t)4095;
	uint8_t *data = ring_data(r->ring) + begin;
	const size_t size = end > begin ? end - begin : 0;
	bool done;

	/* until Linux 6.2 the pages must be writable for that; its own process writes them by the same mapping */
	mprotect(data, size, PROT_READ | PROT_WRITE);
	done = !madvise(data, size, MADV_REMOVE);
	mprotect(data, size, own ? PROT_READ | PROT_WRITE : PROT_READ);
	return done;
}

static void empty_ring(const struct reader_ring *r, bool own)
{
	uint32_t state = RING_FREE;

	/* acquire and release: as a thread that takes it and leaves it */
	if (!__atomic_compare_exchange_n(&r->ring->state, &state, RING_TAKEN, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	if (punch(r, 0, reader_bytes(r), own))
		__atomic_store_n(&r->ring->ready, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&r->ring->state, RING_FREE, __ATOMIC_RELEASE);
}

/* Of a thread that records nothing any more, all but what it may fill without a look at `ready`: a piece from the head
 * on, and room for records around it, of which one may be under way. */
static void thin_ring(const struct reader_ring *r)
{
	const uint64_t begin = reader_offset(r), end = begin + RING_PIECE + 8 * RTL_PAYLOAD_MAX;

	/* acquire: with the release of its thread; release: with the acquire in ring_prepare, which begins again */
	if (__atomic_load_n(&r->ring->head, __ATOMIC_ACQUIRE) == r->position &&
	    punch(r, end, r->capacity, false) &&
	    punch(r, end > r->capacity ? end - r->capacity : 0, begin, false))
		__atomic_store_n(&r->ring->ready, 0, __ATOMIC_RELEASE);
}

void reader_give_back(struct reader *reader, bool own, bool leaves)
{
	const uint64_t now = clock_ns();

	for (uint32_t i = 0; i < reader->count; i++) {
		const struct reader_ring *r = &reader->list[i];

		if (is_free(r) && __atomic_load_n(&r->ring->ready, __ATOMIC_RELAXED) &&
		    (leaves || now - r->free_ns >= GIVE_BACK_NS))
			empty_ring(r, own);
		else if (leaves && r->ring && !is_free(r))
			thin_ring(r);
	}
}

uint64_t reader_empty(const struct reader *reader)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < reader->count; i++)
		if (is_free(&reader->list[i]) &&
		    !__atomic_load_n(&reader->list[i].ring->ready, __ATOMIC_RELAXED))
			bytes += reader->list[i].capacity;
	return bytes;
}

void reader_announce_release(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->count; i++)
		if (reader->list[i].ring)
			__atomic_store_n(&reader->list[i].ring->release_to,
					 reader->list[i].position - reader->list[i].base,
					 __ATOMIC_RELAXED);
}

void reader_release(struct reader *reader)
{
	const uint64_t now = clock_ns();

	for (uint32_t i = 0; i < reader->count; i++)
		if (reader->list[i].ring)
			release_ring(&reader->list[i], now);
}

bool reader_is_behind(const struct reader *reader)
{
	for (uint32_t i = 0; i < reader->count; i++)
		/* acquire: what is not seen now was not there */
		if (reader->list[i].ring && !reader->list[i].is_segment &&
		    __atomic_load_n(&reader->list[i].ring->head, __ATOMIC_ACQUIRE) !=
			    reader->list[i].position)
			return true;
	return false;
}

uint64_t reader_backlog(const struct reader *reader)
{
	uint64_t bytes = 0, here;

	for (uint32_t i = 0; i < reader->count; i++) {
		const struct reader_ring *r = &reader->list[i];

		/* relaxed: a hint */
		if (!r->ring || r->is_segment)
			continue;
		here = __atomic_load_n(&r->ring->head, __ATOMIC_RELAXED) - r->released;
		if (here <= r->capacity) /* else a writer that had faults */
			bytes += here;
	}
	return bytes;
}

bool reader_lacks_room(const struct reader *reader, uint32_t closed_most)
{
	uint32_t closed = 0;

	for (uint32_t i = 0; i < reader->count; i++) {
		const struct reader_ring *r = &reader->list[i];

		/* relaxed: hints, looked at again in the next pass */
		if (!r->ring || r->is_segment)
			continue;
		closed += __atomic_load_n(&r->ring->state, __ATOMIC_RELAXED) == RING_CLOSED;
		if (closed > closed_most)
			return true;
		if (r->position != r->released &&
		    (__atomic_load_n(&r->ring->waiting, __ATOMIC_RELAXED) ||
		     r->position - r->released >= r->capacity / 2))
			return true;
	}
	return false;
}
