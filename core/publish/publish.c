/* SPDX-License-Identifier: MIT */
/* rtl_reserve and rtl_commit. The fast path: a record for the ring alone, with room at the cursor; else
 * reserve_slow. */

#include <errno.h>
#include <sys/syscall.h>

#include "bus.h"
#include "clock.h"
#include "inline.h"
#include "parts.h"
#include "thread.h"

/* The room that a record takes; the record itself says how much of it is its own. */
static inline size_t record_room(uint32_t payload_size)
{
	return (sizeof(struct rtl_record) + (size_t)payload_size + 7) & ~(size_t)7;
}

/* The time of a record. With other publishing threads it is not read before our earlier loads, which may tell of their
 * events: those have lower ticks. Relaxed: who knows of another's event sees the count that its ring made. */
static inline uint64_t now(void)
{
	if (__atomic_load_n(&bus.ring_count, __ATOMIC_RELAXED) > 1)
		return clock_ticks_after_loads();
	return clock_ticks();
}

/* The same where a reading costs no call: a path without any call needs no stack. */
static inline uint64_t now_inline(bool ordered)
{
#ifdef __x86_64__
	if (ordered && __atomic_load_n(&bus.ring_count, __ATOMIC_RELAXED) > 1)
		__builtin_ia32_lfence();
	return __builtin_ia32_rdtsc();
#else
	return ordered ? now() : clock_ticks();
#endif
}

/* Bits of enum spool_wanted. Relaxed: it orders nothing. */
static inline uint8_t wanted(const struct rtl_stream *stream, uint16_t type)
{
	return __atomic_load_n(&stream->wanted[type & 0xff], __ATOMIC_RELAXED);
}

/* What is not the same for all records of a type and size. */
static inline struct rtl_record *begin(struct rtl_record *record, uint64_t ticks)
{
	const size_t head = offsetof(struct rtl_record, uid);

	record->ticks = ticks;
	memset((uint8_t *)record + head, 0, sizeof(*record) - head);
	return record;
}

static inline struct rtl_record *fill(void *place, const struct rtl_stream *stream, uint16_t type,
				      uint32_t payload_size, uint64_t ticks)
{
	struct rtl_record *record = place;

	record->size = (uint32_t)sizeof(*record) + payload_size;
	record->stream = (uint16_t)stream->number;
	record->type = type;
	return begin(record, ticks);
}

/* No room: counted by what is behind it. */
static void count_full(struct rtl_stream *stream, enum spool_discard cause)
{
	if (fate_collector_died())
		cause = SPOOL_DISCARD_COLLECTOR_DIED;
	else if (cause == SPOOL_DISCARD_FULL && stall_is_on())
		cause = SPOOL_DISCARD_STALLED;
	discard_count(stream, cause);
}

/* A place in the calling thread's ring, through all that may be missing for one. */
static struct rtl_record *reserve_in_ring(struct rtl_stream *stream, uint16_t type,
					  uint32_t payload_size, bool may_wait)
{
	size_t need = record_room(payload_size);
	struct writer *writer = writer_self();

	if (!writer->in_use && !(writer = writer_attach())) {
		discard_count(stream, SPOOL_DISCARD_NO_RING);
		return NULL;
	}
	writer->busy = 1;
	BARRIER();
	if (!writer->ring && !writer_take_ring(writer)) {
		writer->busy = 0;
		count_full(stream, SPOOL_DISCARD_NO_RING);
		return NULL;
	}
	if (need > (size_t)(writer->limit - writer->cursor) &&
	    !writer_make_room(writer, need, may_wait)) {
		writer->busy = 0;
		count_full(stream, SPOOL_DISCARD_FULL);
		return NULL;
	}
	return fill(writer->cursor, stream, type, payload_size, now());
}

static struct rtl_record *reserve_inline(struct rtl_stream *stream, uint16_t type,
					 uint32_t payload_size, uint8_t want)
{
	const struct rtl_type_info *info = stream_type_info(stream->number, type);
	size_t need = record_room(payload_size);
	struct rtl_record *place;

	if (!info || payload_size < info->payload_size) {
		discard_count(stream, SPOOL_DISCARD_MALFORMED);
		return NULL;
	}
	place = inline_reserve(stream, info, payload_size, need, want);
	return place ? fill(place, stream, type, payload_size, now()) : NULL;
}

bool publish_interrupts(void)
{
	return thread_locked || (writer_self()->in_use && writer_self()->busy);
}

__attribute__((noinline, cold)) static struct rtl_record *reserve_slow(struct rtl_stream *stream,
								       uint16_t type,
								       uint32_t payload_size,
								       uint8_t want, bool tries)
{
	const bool may_wait = !tries && __atomic_load_n(&bus.settings.wait, __ATOMIC_RELAXED);
	struct rtl_record *place = NULL;
	int err = errno; /* the program's */
	bool failed = false;
	int state;

	if (!want)
		return NULL;
	if (publish_interrupts()) {
		discard_count(stream, SPOOL_DISCARD_REENTRANT);
		return NULL;
	}
	/* what the program calls is not to become a cancellation point */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (!writer_self()->in_use) { /* in a child: its own bus, with wants of its own */
		failed = bus_ops.start() != 0;
		want = wanted(stream, type);
	}
	if (failed)
		discard_count(stream, SPOOL_DISCARD_NO_RING);
	else if (!want)
		; /* nobody listens there */
	else if (want == SPOOL_WANT_COUNT)
		left_out_count(stream, RTL_LEFT_OUT_PERIOD, 1);
	else if (payload_size > RTL_PAYLOAD_MAX)
		discard_count(stream, SPOOL_DISCARD_TOO_LARGE);
	else if (want & SPOOL_WANT_INLINE)
		place = reserve_inline(stream, type, payload_size, want);
	else
		place = reserve_in_ring(stream, type, payload_size, may_wait);
	pthread_setcancelstate(state, NULL);
	errno = err;
	return place;
}

/* Not for the ring alone. Inline events are not merged with others: their time need not be ordered (see now). */
static __attribute__((noinline)) struct rtl_record *
reserve_elsewhere(struct rtl_stream *stream, uint16_t type, uint32_t payload_size, uint32_t want)
{
	struct writer *writer = writer_self();
	struct rtl_record *record = NULL;

	if (LIKELY(want == SPOOL_WANT_INLINE && !(writer->busy | thread_locked)))
		record = inline_reserve_again(writer, stream, type, payload_size);
	if (UNLIKELY(!record))
		return reserve_slow(stream, type, payload_size, (uint8_t)want, true);
	return begin(record, now_inline(false));
}

static inline __attribute__((always_inline)) struct rtl_record *
reserve(struct rtl_stream *stream, uint16_t type, uint32_t payload_size, bool tries)
{
	const uint32_t want = wanted(stream, type);
	struct writer *writer;
	uint64_t ticks;
	uint8_t *cursor;

	if (want != SPOOL_WANT_RECORD)
		return reserve_elsewhere(stream, type, payload_size, want);
	/* Another register only from here on: the counter's reading takes an argument's; else the other way moves
	 * too. */
	__asm__("" : "+r"(payload_size), "+r"(type));
	writer = writer_self();
	if (UNLIKELY(writer->busy | clock_calls) || UNLIKELY(payload_size > RTL_PAYLOAD_MAX))
		return reserve_slow(stream, type, payload_size, SPOOL_WANT_RECORD, tries);
	writer->busy = 1;
	BARRIER();                /* from here on no signal handler takes the room that we see */
	ticks = now_inline(true); /* what follows is done while the counter is read */
	cursor = writer->cursor;
	/* there is room for whole words only, so the size need not be rounded up */
	if (UNLIKELY(sizeof(struct rtl_record) + payload_size > (size_t)(writer->limit - cursor))) {
		writer->busy = 0;
		return reserve_slow(stream, type, payload_size, SPOOL_WANT_RECORD, tries);
	}
	return fill(cursor, stream, type, payload_size, ticks);
}

struct rtl_record *rtl_reserve(struct rtl_stream *stream, uint16_t type, uint32_t payload_size)
{
	return reserve(stream, type, payload_size, false);
}

struct rtl_record *rtl_try_reserve(struct rtl_stream *stream, uint16_t type, uint32_t payload_size)
{
	return reserve(stream, type, payload_size, true);
}

/* Room for the record at the cursor, without a wait; or no ring, so that nobody would make room. */
static bool find_room(size_t need)
{
	struct writer *writer = writer_self();
	bool found;

	if (!writer->in_use && (bus_ops.start() || !(writer = writer_attach())))
		return false;
	writer->busy = 1;
	BARRIER();
	found = !(writer->ring || writer_take_ring(writer)) ||
		need <= (size_t)(writer->limit - writer->cursor) ||
		writer_make_room(writer, need, false);
	BARRIER();
	writer->busy = 0;
	return found;
}

__attribute__((noinline, cold)) int publish_find_room(size_t need)
{
	int err = errno; /* the program's */
	int state;
	bool found;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	found = find_room(need);
	pthread_setcancelstate(state, NULL);
	errno = err;
	return found ? 0 : RTL_EBUSY;
}

int rtl_room(const struct rtl_stream *stream, uint16_t type, uint32_t payload_size)
{
	struct writer *writer = writer_self();
	uint8_t want = wanted(stream, type);
	size_t need = record_room(payload_size);

	if (LIKELY(want == SPOOL_WANT_RECORD && !writer->busy && writer->cursor &&
		   need <= (size_t)(writer->limit - writer->cursor)))
		return 0;
	if (!want || want == SPOOL_WANT_COUNT)
		return 0;
	if (want & SPOOL_WANT_INLINE)
		return RTL_ENOTSUP;
	if (publish_interrupts() || payload_size > RTL_PAYLOAD_MAX)
		return RTL_EBUSY;
	return publish_find_room(need);
}

void publish_copy(const struct rtl_record *record)
{
	struct rtl_stream *stream = &bus.spool.control->streams[record->stream].pub;
	struct rtl_record *copy;

	if (publish_interrupts()) {
		discard_count(stream, SPOOL_DISCARD_REENTRANT);
		return;
	}
	if (!writer_self()->in_use && bus_ops.start()) /* the callback has made us a child */
		return;
	copy = reserve_in_ring(stream, record->type, record->size - (uint32_t)sizeof(*record),
			       __atomic_load_n(&bus.settings.wait, __ATOMIC_RELAXED));
	if (!copy)
		return;
	memcpy(copy, record, record->size);
	rtl_commit(copy);
}

/* A record that went to inline callbacks is for the ring as well. */
__attribute__((noinline, cold)) static void commit_both(struct rtl_record *record)
{
	int err = errno; /* the program's */

	inline_commit_keeping(record, writer_self());
	publish_copy(record);
	inline_release(record);
	errno = err;
}

static inline void commit_elsewhere(struct writer *writer, struct rtl_record *record)
{
	if (UNLIKELY(inline_frame_of(record)->want & SPOOL_WANT_RECORD))
		commit_both(record);
	else
		inline_commit(record, writer);
}

/* Where the next record goes: as ring_step says, since records begin at multiples of 8. */
static inline uint8_t *behind(struct rtl_record *record)
{
	return (uint8_t *)(((uintptr_t)record + record->size + 7) & ~(uintptr_t)7);
}

/* In the ring, at the writer's cursor, which goes to `cursor`. */
static inline void commit_here(struct writer *writer, const struct rtl_record *record,
			       uint8_t *cursor)
{
	struct ring_header *ring = writer->ring;

	own_count64(&ring->published[record->stream]); /* the store of head makes it visible */
	writer->cursor = cursor;
	/* release: with the consumer's acquire of head; the record is complete before it shows */
	__atomic_store_n(&ring->head, writer_position_at(writer, cursor), __ATOMIC_RELEASE);
	BARRIER();
	writer->busy = 0;
}

void rtl_commit(struct rtl_record *record)
{
	struct writer *writer = writer_self();

	if (UNLIKELY((uint8_t *)record != writer->cursor)) {
		commit_elsewhere(writer, record);
		return;
	}
	commit_here(writer, record, behind(record));
}

static __attribute__((noinline, cold)) void commit_end_slow(struct rtl_record *record,
							    struct rtl_stream *stream,
							    uint32_t handle, uint64_t instance)
{
	rtl_commit(record);
	rtl_open_close(stream, handle, instance);
}

void rtl_commit_end(struct rtl_record *record, struct rtl_stream *stream, uint32_t handle,
		    uint64_t instance)
{
	struct writer *writer = writer_self();
	struct ring_header *ring = writer->ring;
	struct ring_open *open;
	uint8_t *cursor;

	if (UNLIKELY((uint8_t *)record != writer->cursor || handle >> 8 != ring->index + 1)) {
		commit_end_slow(record, stream, handle, instance);
		return;
	}
	open = &ring->open[handle & 0xff];
	if (UNLIKELY(open->record.instance != instance)) {
		commit_end_slow(record, stream, 0, instance);
		return;
	}
	cursor = behind(record);
	/* The commit closes it: its release keeps this before the head. */
	__atomic_store_n(&open->until, writer_position_at(writer, cursor), __ATOMIC_RELAXED);
	commit_here(writer, record, cursor);
	writer->open_next = handle & 0xff;
}

/* Adds 1 and returns what was there, in one instruction: a signal handler on this thread gets another number. */
static inline uint64_t take_number(uint64_t *next)
{
#ifdef __x86_64__
	uint64_t n = 1;

	__asm__ volatile("xaddq %0, %1" : "+r"(n), "+m"(*next));
	return n;
#else
	return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
#endif
}

#define NUMBER_VALID (1ull << 24)

uint64_t rtl_unique_id(void)
{
	static uint64_t blocks; /* relaxed: only uniqueness counts */
	static __thread uint64_t next __attribute__((tls_model("initial-exec")));
	uint64_t number = take_number(&next);

	/* Threads have blocks of 2^24 numbers with bit 24 set. Without the bit a new block is needed; a signal
	 * handler that comes in between sees that, too, and takes its own. */
	if (LIKELY(number & NUMBER_VALID))
		return number;
	number = __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED) * (2 * NUMBER_VALID) |
		 NUMBER_VALID;
	__atomic_store_n(&next, number + 1, __ATOMIC_RELAXED);
	return number;
}

/* The calling thread's id, as of the process whose number was in `alive` then. */
static __thread struct {
	uint32_t tid, process;
} known_id __attribute__((tls_model("initial-exec")));

static __attribute__((noinline, cold)) uint32_t find_thread_id(uint32_t process)
{
	known_id.tid = (uint32_t)syscall(SYS_gettid);
	known_id.process = process;
	return known_id.tid;
}

uint32_t rtl_thread_id(void)
{
	const uint32_t now = bus.alive ? *bus.alive : 0;

	/* in a child made by fork the page of `alive` is wiped, and then another number in it */
	return LIKELY(now && known_id.process == now) ? known_id.tid : find_thread_id(now);
}
