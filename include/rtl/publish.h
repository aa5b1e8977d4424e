/* SPDX-License-Identifier: MIT */
/** @file publish.h
 * For publishers: writing events.
 *
 *     if (rtl_enabled(stream, RTL_TASK_BEGIN)) {
 *             struct rtl_record *r = rtl_reserve(stream, RTL_TASK_BEGIN, sizeof(struct my));
 *             if (r) {
 *                     struct my *p = rtl_record_payload(r);
 *                     r->uid = kernel;
 *                     p->grid = ...;
 *                     rtl_commit(r);
 *             }
 *     }
 *
 * You fill the record in its place. Between reserve and commit do nothing else: no other rtl call, nothing that can
 * block, no longjmp. Signal handlers may publish anywhere. If one has interrupted rtl, it may fork only a child that
 * does not return from the handler: one that ends, or executes a program. */
#ifndef RTL_PUBLISH_H
#define RTL_PUBLISH_H

#include <rtl/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Largest payload of an event, bytes, texts included. */
#define RTL_PAYLOAD_MAX 8192u

/** An event as its publisher writes it; the payload follows. rtl_reserve fills the first line of members and clears the
 * second; the publisher fills what applies. */
struct rtl_record {
	uint32_t size; /**< of record and payload, bytes, as asked for: librtl's */
	uint16_t stream;
	uint16_t type;
	uint64_t ticks; /**< time of the reserve, in ticks of rtl's clock */

	uint64_t uid;         /**< universal id of the tracepoint that the event is about */
	uint64_t parent_uid;  /**< of the tracepoint within which it happens */
	uint64_t instance;    /**< pairs a begin with its end */
	uint64_t correlation; /**< ties an API call to the GPU work that it caused */
};

/** Where the payload of a record begins; aligned to 8. */
static inline void *rtl_record_payload(struct rtl_record *record)
{
	return record + 1;
}

/** Begins an event: finds room and takes the time. The payload's content is undefined until the caller has filled it.
 *
 * No lock, system call or allocation, except on a thread's first event, at the end of a piece of its ring, and when the
 * ring is full. Then it waits for the consumer or discards, as RTL_BUFFER_POLICY says. In a signal handler that
 * interrupted rtl on the same thread it discards. Any thread.
 *
 * @param payload_size  bytes, at least the type's payload_size and at most RTL_PAYLOAD_MAX
 * @return the record, to be committed; NULL: nobody wants it, or it was discarded and counted */
RTL_API struct rtl_record *rtl_reserve(struct rtl_stream *stream, uint16_t type,
				       uint32_t payload_size);

/** As rtl_reserve, but never waits for room: a full ring discards (and counts). */
RTL_API struct rtl_record *rtl_try_reserve(struct rtl_stream *stream, uint16_t type,
					   uint32_t payload_size);

/** Whether an event could be recorded at once: the next rtl_reserve or rtl_try_reserve on this thread would neither
 * wait nor discard. For publishers that can leave the event to another thread. Any thread.
 *
 * @return 0: there is room, or nobody wants it, or this thread can have no buffer, so that it is discarded at once;
 *         RTL_EBUSY: there is none now; RTL_ENOTSUP: an inline callback would be called, which may do anything */
RTL_API int rtl_room(const struct rtl_stream *stream, uint16_t type, uint32_t payload_size);

/** Prepares memory for events of any thread, if threads have lately filled theirs: 0.1 to 0.2 ms of work, or none. For
 * a library's thread that has time, such as one that polls: it spares the program's threads page faults. Any thread.
 * @return 1: there is more to do, so call again soon; 0: no */
RTL_API int rtl_room_prepare(void);

/** Publishes the record that this thread has reserved. */
RTL_API void rtl_commit(struct rtl_record *record);

/* ---- what has begun and not ended */

/** Largest payload of an event that is kept, bytes. */
#define RTL_OPEN_PAYLOAD_MAX 384u

/** Keeps an event that is published only if the process ends before it is closed: what had begun and not ended then,
 * however the process ends. So a call that hangs is in the trace, and you need not publish its begin for that.
 *
 *     uint32_t open;
 *     struct rtl_record *r = rtl_open_reserve(stream, RTL_FUNCTION_UNFINISHED, size, &open);
 *     if (r) {
 *             r->instance = number;
 *             ...                                  // fill it
 *             rtl_open_commit(r);
 *     }
 *     ...
 *     r = rtl_reserve(stream, RTL_FUNCTION_END, size);
 *     if (r) {
 *             ...
 *             rtl_commit_end(r, stream, open, number);
 *     } else {
 *             rtl_open_close(stream, open, number);
 *     }
 *
 * Between reserve and commit do nothing but fill it. The event has the time at which the process ended, as far as that
 * is known, and its thread may be another of the process. So say in the payload when and where it began. It is
 * delivered buffered only, after all others of its thread.
 *
 * No lock, system call or allocation except on a thread's first event. Any thread. A thread keeps
 * 22 of them at a time; more are counted as missed, if the process ends before they are closed.
 *
 * @param[out] open  what it is closed by; 0: nobody wants it, and nothing is to be closed
 * @return the record, of which all behind `ticks` is to be filled. Its ticks are the id of the
 * calling thread, for the payload; they become a time when it is published. NULL: nobody wants it,
 *         or it is only counted */
RTL_API struct rtl_record *rtl_open_reserve(struct rtl_stream *stream, uint16_t type,
					    uint32_t payload_size, uint32_t *open);

/** The record is filled: it is kept from now on. */
static inline void rtl_open_commit(struct rtl_record *record)
{
	/* The word 16 bytes before it is librtl's, and all ones if it is kept. Release, with the
	 * acquire of the reader after the end: what it holds is complete. */
	__atomic_store_n((uint64_t *)(void *)record - 2, ~(uint64_t)0, __ATOMIC_RELEASE);
}

/** It has ended. Any thread of the process; does nothing in a child made by fork, or if open is 0.
 *  open: of rtl_open_reserve for that stream; instance: as in the record. */
RTL_API void rtl_open_close(struct rtl_stream *stream, uint32_t open, uint64_t instance);

/** As rtl_commit, of the event that ends it: whatever the process dies of, exactly one of the two is published. */
RTL_API void rtl_commit_end(struct rtl_record *record, struct rtl_stream *stream, uint32_t open,
			    uint64_t instance);

/** A number unique in this process, never 0: for instances and correlation ids. Counted per thread. Any thread. */
RTL_API uint64_t rtl_unique_id(void);

/** The clock of rtl_event.time_ns, now: CLOCK_BOOTTIME in ns, which is the HSA system clock. Any thread. */
RTL_API uint64_t rtl_clock_ns(void);

/** The raw clock behind it, at less than half the cost: the processor's counter if the kernel trusts it, else ns.
 *  Convert it later, on any thread, by rtl_ticks_to_ns. Records have such `ticks`. Any thread; signal handlers too. */
RTL_API uint64_t rtl_ticks(void);

/** What rtl_clock_ns would have returned at those ticks of this process, or, by less than 20 ms, of the future. Never
 * runs backwards: more ticks give no fewer ns, whatever threads ask.
 *
 * Error: that of reading both clocks at once (some 50 ns on most machines), and what the kernel changes the clock's
 * rate by within 20 ms (nothing, mostly; at the most that adjtimex allows, 500 ppm, 10 us). It does not add up. Of
 * ticks older than 2 s two calls may differ by as much.
 *
 * No lock, no system call but a few readings of the clock every 20 ms. Any thread; from a signal handler too. */
RTL_API uint64_t rtl_ticks_to_ns(uint64_t ticks);

/** The kernel's id of the calling thread, without a system call once it is known. */
RTL_API uint32_t rtl_thread_id(void);

/** One line to rtl's log (stderr, or the file of RTL_LOG), and to the stream "rtl.diagnostics". Errors and warnings are
 * always shown, others if RTL_LOG asks. Never from a hot path; not from a signal handler.
 * @param who  part of rtl that speaks, e.g. "hsa" */
RTL_API void rtl_log(enum rtl_level level, const char *who, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Delivers everything that was published before the call, and waits for it: for the end of a program and for tests.
 * Not from a callback, not from a signal handler.
 * @param timeout_ms  gives up after that time
 * @return 0; RTL_EBUSY: not done in time, or called from a callback */
RTL_API int rtl_flush(uint32_t timeout_ms);

/** Called when the bus is about to end, in the order of registration reversed; once. */
typedef void (*rtl_at_finish_fn)(void *user);

/** Asks for a call before the bus ends (at the exit of the process), while events can still be
 * published: interceptors hand in there what is under way.
 * @return 0; RTL_EBUSY: has ended; RTL_ENOMEM */
RTL_API int rtl_at_finish(rtl_at_finish_fn fn, void *user);

/** Call it before you end the process without exit handlers: in a wrapper of _exit, or a forked child's own _exit. It
 * does what exit does for subscribers in this process: they get what is left and finish their outputs. It waits as long
 * as they get on, and RTL_EXIT_TIMEOUT longer; afterwards nothing is recorded. It returns at once if a collector sees
 * to that, in a child of vfork, or if nothing was published. Any thread; signal handlers too. */
RTL_API void rtl_process_ends(void);

#ifdef __cplusplus
}
#endif
#endif
