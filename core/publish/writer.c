/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include <sys/mman.h>

#include "bus.h"
#include "clock.h"
#include "futex.h"
#include "inline.h"
#include "log.h"
#include "parts.h"
#include "thread.h"

#define SLOT_BYTES  256u
#define CHUNK_BYTES 65536u
#define CHUNKS_MAX  1024u
/* Retry interval after no further ring could be allocated. */
#define GROW_AGAIN_NS 10000000u
/* Bytes of its ring that a thread prepares at a time. */
#define PREPARE_AHEAD (128u << 10)
/* Of a filler that is written. */
#define FILLER_BYTES 8u
/* Retry interval after a failed ring allocation. */
#define RETRY_NS 100000000u

_Static_assert(sizeof(struct writer) <= SLOT_BYTES, "a writer fits its slot");

/* The writer of threads that have none: never written to, and always busy, so that nobody does. */
struct writer writer_none = {.busy = 1};
__thread uintptr_t writer_from_none __attribute__((tls_model("initial-exec")));

static void set_self(struct writer *writer)
{
	writer_from_none = (uintptr_t)writer - (uintptr_t)&writer_none;
}

/* Pages with slots for writers: they are never given back. */
static uint8_t *chunks[CHUNKS_MAX];
static uint32_t chunk_count; /* under bus.lock; release by add_chunk, acquire by writer_each */
static pthread_key_t exit_key;
static bool exit_key_made;

/* Makes a slot free again. inline_exits counts on: wait_for of inline.c may be looking. */
static void clear(struct writer *writer)
{
	uint32_t exits = writer->inline_exits;

	__atomic_store_n(&writer->inline_exits, exits + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&writer->inline_depth, 0, __ATOMIC_RELEASE);
	writer->cursor = writer->limit = writer->scratch = NULL;
	writer->ring = NULL;
	writer->origin = writer->tail = writer->retry_ns = writer->grow_ns = 0;
	writer->busy = writer->scratch_top = writer->open_next = 0;
	__atomic_store_n(&writer->in_use, 0, __ATOMIC_RELAXED);
}

/* The thread ends. Other destructors of it may still publish: they get a new writer. */
static void thread_exit(void *arg)
{
	struct writer *writer = arg;

	bus_lock();
	if (writer_self() == writer && writer->in_use) {
		set_self(&writer_none);
		if (writer->ring)
			bus_close_ring(writer->ring);
		if (writer->scratch)
			munmap(writer->scratch, SCRATCH_BYTES);
		clear(writer);
	}
	bus_unlock();
}

/* Early, so that it is one of the keys that need no memory: see add_chunk. */
__attribute__((constructor(102))) static void make_exit_key(void)
{
	exit_key_made = !pthread_key_create(&exit_key, thread_exit);
}

/* No malloc: this may be a signal handler that has interrupted the program's. */
static uint8_t *add_chunk(void)
{
	uint8_t *slots;

	if (chunk_count == CHUNKS_MAX)
		return NULL;
	slots = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED)
		return NULL;
	if (madvise(slots, CHUNK_BYTES, MADV_WIPEONFORK))
		log_line(RTL_LEVEL_DEBUG, "bus",
			 "no MADV_WIPEONFORK: only pthread_atfork tells of forks");
	chunks[chunk_count] = slots;
	/* release: with the acquire in writer_each */
	__atomic_store_n(&chunk_count, chunk_count + 1, __ATOMIC_RELEASE);
	return slots;
}

static struct writer *free_slot(void)
{
	for (uint32_t k = 0; k < chunk_count; k++)
		for (uint32_t i = 0; i < CHUNK_BYTES; i += SLOT_BYTES) {
			struct writer *writer = (struct writer *)(void *)(chunks[k] + i);

			if (!__atomic_load_n(&writer->in_use, __ATOMIC_RELAXED))
				return writer;
		}
	return (struct writer *)(void *)add_chunk();
}

struct writer *writer_attach(void)
{
	struct writer *writer = writer_self();

	if (writer->in_use)
		return writer;
	if (!exit_key_made)
		return NULL;
	bus_lock();
	writer = writer_self()->in_use ? writer_self() : free_slot(); /* by a handler just before */
	if (writer && !writer->in_use && pthread_setspecific(exit_key, writer))
		writer = NULL;
	if (writer) {
		writer->tid = rtl_thread_id();
		__atomic_store_n(&writer->in_use, 1, __ATOMIC_RELAXED);
		set_self(writer);
	}
	bus_unlock();
	return writer;
}

void writer_each(void (*fn)(void *user, struct writer *writer), void *user)
{
	uint32_t n = __atomic_load_n(&chunk_count, __ATOMIC_ACQUIRE);

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < CHUNK_BYTES; i += SLOT_BYTES)
			fn(user, (struct writer *)(void *)(chunks[k] + i));
}

void writer_forget_all(void)
{
	for (uint32_t k = 0; k < chunk_count; k++)
		memset(chunks[k], 0, CHUNK_BYTES); /* where the kernel could not */
	set_self(&writer_none);
}

static void use_ring(struct writer *writer, struct ring_header *ring)
{
	writer->ring = ring;
	writer->tail = ring->tail;
	writer->cursor = ring_data(ring) + ring->head % ring->capacity;
	writer->origin = ring->head - (uint64_t)(uintptr_t)writer->cursor;
	writer->limit = writer->cursor;
}

bool writer_take_ring(struct writer *writer)
{
	static bool said; /* under bus.lock */
	struct ring_header *ring;
	uint64_t now = clock_ns();
	uint32_t tid = rtl_thread_id();
	int err = 0;

	if (now < writer->retry_ns)
		return false;
	bus_lock();
	errno = 0;
	ring = rings_take_first(tid);
	err = errno;
	/* Silent at the end: a collector that has ended, or this process, removes the folder. */
	if (!ring && !said && !session_has_ended() && bus.spool.has_files) {
		said = true;
		log_line(RTL_LEVEL_WARNING, "bus",
			 "no ring for thread %u (%s): its events are discarded and counted", tid,
			 !err            ? "RTL_BUFFER_TOTAL is used up"
			 : err == ENOENT ? "the spool's folder was removed"
					 : strerror(err));
	}
	bus_unlock();
	if (!ring) {
		writer->retry_ns = now + RETRY_NS;
		return false;
	}
	use_ring(writer, ring);
	return true;
}

/* Whether this thread may wait for the consumer, and still has hope. */
static bool is_patient(void)
{
	return !bus_own_thread && !thread_no_wait && !bus_has_lost_consumer() && stall_may_wait();
}

/* Sleeps until the consumer rings, and counts that. */
static void sleep_for_tail(struct ring_header *ring, bool *has_waited)
{
	struct spool_control *control = bus.spool.control;
	const uint64_t begin = clock_ns();

	bus_ring_bell();
	if (!*has_waited) {
		if (rings_growth_most())
			stall_say_full(true);
		__atomic_fetch_add(&control->waits, 1, __ATOMIC_RELAXED);
	}
	*has_waited = true;
	futex_wait(&ring->waiting, 1, 100);
	__atomic_fetch_add(&control->waited_ns, clock_ns() - begin, __ATOMIC_RELAXED);
}

/* Waits until the consumer has moved the tail; false: nobody will. */
static bool wait_for_tail(struct ring_header *ring, uint64_t tail, bool *has_waited)
{
	if (!bus_has_consumer() || inline_awaited() || bus_ops.is_starved())
		return false;
	/* seq_cst, as the consumer's store to tail and load of waiting: one of us sees the other */
	__atomic_store_n(&ring->waiting, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST) == tail)
		sleep_for_tail(ring, has_waited);
	return true;
}

/* Writes a filler over what is left before the end of the ring. */
static void fill_end(struct writer *writer, size_t bytes)
{
	struct rtl_record *filler = (struct rtl_record *)(void *)writer->cursor;
	uint64_t position = writer_position(writer);

	if (bytes) {
		filler->size = (uint32_t)bytes;
		filler->stream = RING_FILLER;
	}
	position += bytes;
	writer->cursor = ring_data(writer->ring);
	writer->origin = position - (uint64_t)(uintptr_t)writer->cursor;
	/* release: with the consumer's acquire of head */
	__atomic_store_n(&writer->ring->head, position, __ATOMIC_RELEASE);
}

/* How many bytes from the cursor on may be written, at most `most`. The consumer usually prepares them ahead. On a full
 * disk they end early, with room for a filler. After thin_ring (reader.c) what is prepared may hold records. */
static size_t usable(const struct writer *writer, size_t need, size_t most)
{
	struct ring_header *ring = writer->ring;
	uint64_t at = (uint64_t)(writer->cursor - ring_data(ring));
	uint64_t ready = __atomic_load_n(&ring->ready, __ATOMIC_ACQUIRE); /* pairs: ring_prepare */

	if (ready < at + need + FILLER_BYTES && ready < ring->capacity &&
	    spool_ring_prepare(&bus.spool, ring, at + need + PREPARE_AHEAD, !session_is_own()))
		ready = __atomic_load_n(&ring->ready, __ATOMIC_ACQUIRE);
	if (ready < ring->capacity)
		ready = ready > at + FILLER_BYTES ? ready - FILLER_BYTES : at;
	return ready - at < most ? (size_t)(ready - at) : most;
}

/* A thread whose ring is full goes on in a free or new one within the budget, at the speed of recording. The consumer
 * drains both in the order of their ticks. */
static bool grow(struct writer *writer, struct ring_header *full)
{
	struct ring_header *ring;
	uint64_t now;

	if (!rings_growth_most() || bus_own_thread)
		return false;
	now = clock_ns();
	if (now < writer->grow_ns || (session_is_own() && !bus_has_consumer()))
		return false;
	bus_lock();
	ring = rings_take_further(rtl_thread_id());
	bus_unlock();
	if (!ring) {
		writer->grow_ns = now + GROW_AGAIN_NS;
		return false;
	}
	use_ring(writer, ring);
	bus_close_ring(full);
	return true;
}

/* Once nobody makes room, the thread goes on in a free or new ring within the budget. */
static bool change_ring(struct writer *writer, struct ring_header *full)
{
	if (!fate_collector_died() || !writer_take_ring(writer))
		return false;
	bus_close_ring(full);
	return true;
}

/* Where rings do not grow, that is the ordinary way, and no news. */
static bool discards_by_policy(void)
{
	return !__atomic_load_n(&bus.settings.wait, __ATOMIC_RELAXED) && rings_growth_most() &&
	       !bus_own_thread && !fate_collector_died();
}

/* A thread that does not wait learns of the collector's death by this. */
static void look_for_consumer(struct writer *writer)
{
	uint64_t now = clock_ns();

	if (now < writer->retry_ns)
		return;
	writer->retry_ns = now + RETRY_NS;
	if (!bus_has_consumer())
		writer->retry_ns = 0;
}

bool writer_make_room(struct writer *writer, size_t need, bool may_wait)
{
	struct ring_header *ring;
	size_t capacity, at, to_end, room, here, piece;
	bool has_waited = false;

	if (!fate_collector_died())
		bus_ring_bell();
	for (;;) {
		ring = writer->ring;
		capacity = ring->capacity;
		at = (size_t)(writer->cursor - ring_data(ring));
		to_end = capacity - at;
		room = capacity - (size_t)(writer_position(writer) - writer->tail);
		here = usable(writer, need, to_end);
		if (need <= here && need <= room)
			break;
		if (need > here && !at)
			return false; /* the disk has no room for even one */
		if (need > here && to_end <= room) {
			fill_end(writer, to_end);
			continue;
		}
		/* acquire: with the consumer's release: it has read what we will overwrite */
		uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

		if (tail != writer->tail) {
			writer->tail = tail;
			stall_look_again();
			continue;
		}
		if (grow(writer, ring))
			continue;
		if (may_wait && is_patient() && wait_for_tail(ring, tail, &has_waited))
			continue;
		if (!may_wait)
			look_for_consumer(writer);
		if (discards_by_policy())
			stall_say_full(false);
		if (!change_ring(writer, ring)) {
			writer->limit = writer->cursor;
			return false;
		}
	}
	piece = session_is_own() && capacity / 4 > RING_PIECE ? RING_PIECE : capacity / 4;
	piece = piece > need ? piece : need;
	piece = piece < room ? piece : room;
	piece = piece < here ? piece : here;
	writer->limit = writer->cursor + (piece & ~(size_t)7); /* whole words: see reserve */
	return true;
}
