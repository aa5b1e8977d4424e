/* SPDX-License-Identifier: MIT */
/** @file stream.h
 * For publishers: register a stream, ask whether somebody listens.
 *
 * A process registers a stream once, and it lives until the process ends. Registering the same description again
 * (another library, another thread) gives the same stream. */
#ifndef RTL_STREAM_H
#define RTL_STREAM_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A registered stream. Only its first part is public, for the inline test; the object belongs to librtl and is never
 * freed. */
struct rtl_stream {
	uint32_t struct_size;
	uint32_t number;
	/** For each low byte of a trace-point type: not 0 if somebody may want such events. librtl writes it, and so
	 * does the collector of a traced process. Publishers read it relaxed, and it orders nothing: an event published
	 * around a change may or may not be seen. rtl_reserve looks closer. RTL_WANTED_COUNT alone: the user's
	 * selection leaves them out for now, and rtl_reserve only counts them. */
	uint8_t wanted[256];
};

/** See rtl_stream.wanted. */
#define RTL_WANTED_COUNT 4u
/** Besides: who listens has come later, and what describes other events is to be published again. The publisher takes
 * the bit out. */
#define RTL_WANTED_AGAIN 8u

/** A stream that nobody ever wants: initial value for a publisher's pointer. */
RTL_API extern struct rtl_stream rtl_stream_none;

/** Whether an event of this type would reach anybody. One relaxed load.
 * @param stream  a registered stream, or &rtl_stream_none; not NULL */
static inline bool rtl_enabled(const struct rtl_stream *stream, uint16_t type)
{
	return __builtin_expect(
		__atomic_load_n(&stream->wanted[type & 0xff], __ATOMIC_RELAXED) != 0, 0);
}

/** Registers a stream; the description is copied.
 *
 * The first registration in a process starts the bus: it reads RTL_SUBSCRIBERS and the other RTL_ variables and loads
 * the subscribers, on the calling thread.
 *
 * When it returns, the subscribers know the stream, but for two cases. One is that it would take
 * longer than some 500 ms: a subscriber is at work, or another thread loads the subscribers and
 * waits for the lock of a dlopen from whose constructor this is called. The other is that a
 * subscriber waits for the inline callback from which this is called. Then they are told later.
 * Until then all of the stream is recorded for them, and inline callbacks miss it.
 *
 * Any thread, before main too; not from a signal handler.
 *
 * @param[out] out  the stream; on failure left as it was, so that a pointer initialised to
 *                  &rtl_stream_none stays usable
 * @return 0; RTL_EINVAL: the description is not well-formed (RTL_LOG tells what);
 *         RTL_EEXIST: registered with another layout; RTL_ELIMIT: too many streams;
 *         RTL_ENOMEM */
RTL_API int rtl_stream_register(const struct rtl_stream_info *info, struct rtl_stream **out);

/** Whether RTL_STREAMS names a stream that begins so, other than by a pattern for any: for publishers that register a
 * stream only if it is asked for. Any thread. */
RTL_API bool rtl_stream_asked(const char *prefix);

/** A registered stream by name, or NULL. Any thread. */
RTL_API struct rtl_stream *rtl_stream_find(const char *name);

/** The description of a registered stream; valid until the process ends. Any thread. */
RTL_API const struct rtl_stream_info *rtl_stream_describe(const struct rtl_stream *stream);

/** Tells subscribers, in order with the stream's events, that its publisher has ended it: an event RTL_STREAM_END, of a
 * stream that describes that type, with a payload of zeros. The stream stays registered; it has begun again when the
 * next event comes. Any thread; from a signal handler too. */
RTL_API void rtl_stream_end(struct rtl_stream *stream);

/** Counts things that the publisher saw but could not turn into events, by cause: they appear in the ledger as missed.
 * Lock-free after the first call for a cause; any thread.
 * @param cause  short and constant, e.g. "no signal left" */
RTL_API void rtl_stream_count_missed(struct rtl_stream *stream, const char *cause, uint64_t count);

/** Why the user's selection left something out; 3 is librtl's own. */
enum rtl_left_out {
	RTL_LEFT_OUT_KERNEL = 0, /**< a kernel that --kernel or --exclude leaves out */
	RTL_LEFT_OUT_PERIOD = 1, /**< outside of the periods of --delay and --duration */
	RTL_LEFT_OUT_RANGE = 2,  /**< outside of the ranges of --range */
	RTL_LEFT_OUT_GETTER = 4, /**< a call that only asks or moves a queue's index */
};

/** Counts events that a publisher did not publish because the user's selection leaves them out: they appear in the
 * ledger as left out, and as published. Where librtl leaves an event out, rtl_reserve has counted it. Lock-free; any
 * thread.
 * @param why  enum rtl_left_out */
RTL_API void rtl_stream_count_left_out(struct rtl_stream *stream, uint32_t why, uint64_t count);

/** Whether events of this type are only counted now. One relaxed load. */
static inline bool rtl_only_counted(const struct rtl_stream *stream, uint16_t type)
{
	return __atomic_load_n(&stream->wanted[type & 0xff], __ATOMIC_RELAXED) == RTL_WANTED_COUNT;
}

/** How much a publisher has under way that will become events of a stream, as numbers that only grow. So what the end
 * of the process cuts off (SIGKILL, a crash, _exit) is counted, too. It belongs to librtl and lies in the spool. One
 * thread at a time writes each of the two numbers: by rtl_pending_begin before the work begins, and by rtl_pending_end
 * after its event was committed or counted as missed. They are in different cache lines. */
struct rtl_pending {
	uint64_t begun;
	uint64_t reserved0[7];
	uint64_t ended;
	uint64_t reserved1[7];
};

/** Makes such a pair of numbers. Once the process has ended, what had begun and not ended counts in the ledger as
 * missed, by that cause. A process has 128: make one for a queue, not for a piece of work. Any thread; not from a
 * signal handler.
 * @param cause  short (55 bytes are kept), e.g. "under way when the process ended"
 * @return never NULL: if there is no stream, or no pair is left, one that nobody reads */
RTL_API struct rtl_pending *rtl_stream_pending(struct rtl_stream *stream, const char *cause);

/** Gives it back: nothing is under way there any more. Any thread; not from a signal handler. */
RTL_API void rtl_pending_release(struct rtl_pending *pending);

/** Release: a process that is killed afterwards has said so. Partner: the ledger's reader. */
static inline void rtl_pending_begin(struct rtl_pending *pending, uint64_t n)
{
	__atomic_store_n(&pending->begun, __atomic_load_n(&pending->begun, __ATOMIC_RELAXED) + n,
			 __ATOMIC_RELEASE);
}

/** The same for the end; a process killed between commit and this has one too many as missed. */
static inline void rtl_pending_end(struct rtl_pending *pending, uint64_t n)
{
	__atomic_store_n(&pending->ended, __atomic_load_n(&pending->ended, __ATOMIC_RELAXED) + n,
			 __ATOMIC_RELEASE);
}

struct rtl_record;

/* ---- slots: what is under way, where it can be read while the process lives, and after its end */

/** How a fact gets from a slot into an event. */
enum rtl_slot_how {
	RTL_SLOT_NUMBER = 0, /**< it is the number in the slot */
	RTL_SLOT_TICKS = 1,  /**< ticks (rtl_ticks), which become ns; 0 stays 0 */
	RTL_SLOT_VIA = 2, /**< the slot points into memory of rtl_slots_create: the number there */
	RTL_SLOT_IF = 3,  /**< no fact: 0 in the slot leaves out those behind it */
};

/** One fact. Numbers are unsigned, little-endian, 1 to 8 bytes, and are added to what the event has there. */
struct rtl_slot_fact {
	uint16_t from; /**< bytes from the slot's beginning */
	uint16_t to;   /**< bytes from that of the struct rtl_record, whose payload follows it */
	uint8_t from_bytes, to_bytes;
	uint8_t how; /**< enum rtl_slot_how */
	uint8_t at;  /**< RTL_SLOT_VIA: bytes behind the pointer, of to_bytes */
};

/** Most facts of a slot. */
#define RTL_SLOT_FACTS_MAX 48u

/** What slots of one kind say. */
struct rtl_slots_info {
	uint32_t struct_size;
	uint32_t slot_bytes;
	/** Where in a slot the byte is that says so: not 0 while what it holds is under way. Its writer stores it with
	 * release after the facts, and 0 once it has published the end. */
	uint32_t under_way;
	uint32_t fact_count;
	const struct rtl_slot_fact *facts;
	/** What all the events have alike: with its type (..._UNFINISHED) and size, and a payload of at most
	 * RTL_OPEN_PAYLOAD_MAX bytes behind it. */
	const struct rtl_record *event;
};

/** Memory that lies in the spool, for slots of what a publisher has under way. Whoever looks at the process, or finds
 * it dead, makes events of the slots: so the publisher writes nothing besides. Where there are no files, and in a child
 * made by fork, it is the process's own; a child finds zeros there. Any thread; not from a signal handler.
 *
 * @param bytes  zeros; before one of them is used, rtl_slots_ready is called
 * @return in whole pages; NULL: no memory */
RTL_API void *rtl_slots_create(size_t bytes);

/** The first `bytes` are about to be used. Any thread; not from a signal handler. */
RTL_API void rtl_slots_ready(void *memory, size_t bytes);

/** Says what the slots are, once. Without it they are only what others point to. Any thread. */
RTL_API void rtl_slots_describe(void *memory, const struct rtl_stream *stream,
				const struct rtl_slots_info *info);

/** Gives the memory back, of so many bytes as it was made of; NULL is fine. */
RTL_API void rtl_slots_destroy(void *memory, size_t bytes);

/** A number for a tool's own trace-point types, 1..254, for RTL_TYPE_USER; the same name gives the same number within a
 * process. Any thread.
 * @return 0; RTL_EINVAL; RTL_ELIMIT: no number left */
RTL_API int rtl_vendor_register(const char *name, uint8_t *vendor);

/** The ledger of a stream of this process, as far as it is known now. Any thread.
 * @param[in,out] ledger  struct_size set by the caller */
RTL_API int rtl_stream_ledger(const struct rtl_stream *stream, struct rtl_ledger *ledger);

#ifdef __cplusplus
}
#endif
#endif
