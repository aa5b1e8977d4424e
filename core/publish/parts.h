/* SPDX-License-Identifier: MIT */
/* What the parts of this room offer each other and life: each is the file of its name. `bus.h`, `writer.h` and
 * `inline.h` stand for themselves. */
#pragma once

#include <rtl/rtl.h>
#include <rtl/subscriber.h>

#include "folder.h"
#include "ring.h"
#include "stream_info.h"

/* ---- session: the collector that this process has joined, if any. Threads: session_join and session_leave
 * while the bus starts, the rest from any. */

/* Joins the collector that RTL_COLLECTOR names. 0; RTL_ENOENT: none is named; RTL_ENOTSUP: it has
 * ended; else it cannot be joined, which has been said. */
int session_join(void);
/* In a child after fork: forget it. */
void session_leave(void);
/* Its folder; NULL: not joined. */
const char *session_folder(void);
/* Its bell. */
uint32_t *session_bell(void);
/* Whether it lives; asks the kernel. */
bool session_is_alive(void);
/* Its process. */
int session_pid(void);
/* Whether it has ended in order: nothing is left to recover. */
bool session_has_ended(void);
/* Tells it that this process cannot make a spool, if it has been joined. */
void session_count_refused(void);
/* Whether the user's selection leaves out what happens now. */
bool session_is_outside(void);
/* Whether it wants that type from the beginning. */
bool session_wants(const char *stream, uint16_t type);

/* ---- fate: what has become of a collector that is gone. Recording goes on, as far as there is room, if
 * somebody may still read what is written. Threads: any; no lock needed. */

/* Finds out why the collector is gone and says so once. Ends recording if nobody will read it.
 * Makes system calls. */
void fate_look(void);
/* Whether fate_look has found it dead, so that nobody makes room any more. A look at memory, as
 * below. */
bool fate_collector_died(void);
/* Whether it is lost and did not end in order. Then nobody looks for it again. */
bool fate_is_lost(void);
/* In a child after fork. */
void fate_forget(void);

/* ---- stall: a consumer that stands still: the collector is stopped, or a subscriber hangs. Threads wait for
 * it no longer than RTL_STALL_TIMEOUT in all. Then they discard and count, until it moves again. Time counts
 * while some thread waits and no ring's tail moves, and the process is not stopped. Threads: any publisher. */

/* Asked before each sleep of a thread that waits for room. False: it must not wait. */
bool stall_may_wait(void);
/* Whether threads do not wait at present. */
bool stall_is_on(void);
/* A thread has found room that the consumer made. */
void stall_look_again(void);
/* Says once that rings grow no further: threads wait from now on, or events are discarded. */
void stall_say_full(bool waits);
/* In a child after fork. */
void stall_forget(void);

/* ---- stream: the registry of streams. Entries are complete before their number is handed out, and never
 * change or go: looking them up by number takes no lock. */

/* Description of a registered stream by number. */
const struct rtl_stream_info *stream_info(uint32_t number);
/* One of its types, or NULL. */
const struct rtl_type_info *stream_type_info(uint32_t number, uint16_t type);
/* How many are registered. Acquire: all lower numbers are complete. */
uint32_t stream_count(void);
/* In the control page: what publishers hold. */
struct rtl_stream *stream_of(uint32_t number);
/* In a child after fork, when a new control page is in place: fill it. Under the bus's lock. */
void stream_refill(void);

/* ---- ids: this process's registries of strings and tracepoints, for the host. */

/* Copies what is known of a tracepoint to *out, with its metadata in an array that replaces the
 * one in *metadata (malloc; room for *room). False if there is none, or no memory. */
bool ids_tracepoint(uint64_t uid, struct rtl_tracepoint *out, struct rtl_metadata **metadata,
		    uint32_t *room);
/* Writes all strings, tracepoints and metadata to the dictionary of a new spool. Under the bus's
 * lock. */
void ids_refill(void);

/* ---- loaded: what is loaded into the process: what the address of a call site means outside of it.
 *
 * Threads: any, not under bus.lock: the loader's lock is taken. glibc does not open that lock anew
 * in a child of fork, whose first look would wait for ever; so a fork waits for ours, which is held
 * meanwhile. */

struct module {
	uint64_t build_id; /* hash of the build id, else of the file's name */
	uint64_t offset;
	const char *path;
};

/* Where an address is; NULL: nowhere. */
struct module loaded_module(const void *code);
/* For a fork: false: it was not to be had in a second. */
bool loaded_lock(void);
void loaded_unlock(void);
/* In the child. held: by this thread, before the fork. */
void loaded_reopen(bool held);

/* ---- process: describes this process to subscribers. The thread that starts the bus fills it. */

const struct rtl_process *process_self(void);
/* In a child after fork: it is another process. */
void process_forget(void);

/* ---- rings: the rings of this process: first ones of threads, further ones for threads whose ring is full,
 * free ones that were drained, and a spare that is made ready before a thread needs it (rtl_room_prepare).
 *
 * Threads: under the bus's lock, where nothing else is said. Only one thread at a time makes the spare ready;
 * whoever takes it takes `spare.busy` for that. */

/* A thread's first ring: a free one, or a new one. NULL: there is none, errno says why; 0: the total is used up. */
struct ring_header *rings_take_first(uint32_t tid);
/* A further one, for a thread whose ring is full. NULL: there is none within the budget. */
struct ring_header *rings_take_further(uint32_t tid);
/* Of RTL_BUFFER_TOTAL, what is for further rings. Any thread. */
size_t rings_growth_most(void);
/* Tells who drains a new spool how much its rings may take. */
void rings_tell_budget(void);
/* In a child after fork: forgets the parent's spare. */
void rings_forget(void);

/* ---- open: what has begun and not ended: see rtl_open_reserve in rtl/publish.h. It lies in the ring of its
 * thread (struct ring_open) and becomes an event when the process ends. open_hand_in makes it one
 * if the process ends in order, else the consumer of the ring does (deliver/source.c). */

/* Publishes on the calling thread what all threads of this process have open. After publishing has
 * been stopped. */
void open_hand_in(void);

/* ---- publish: what rtl_reserve and rtl_commit share with `open`, on the calling thread. */

/* Publishes a copy of a record, wanted or not. */
void publish_copy(const struct rtl_record *record);
/* Whether this is a signal handler that has interrupted rtl on this thread. */
bool publish_interrupts(void);
/* Room for so many bytes at the cursor, without a wait: 0, also if no ring can be had, so that nobody would make
 * room; else RTL_EBUSY. */
int publish_find_room(size_t need);

/* ---- slots: memory of publishers in the spool: see rtl_slots_create in rtl/stream.h. */

/* In a child after fork: it is the child's own from now on. */
void slots_forget(void);

/* ---- scope: scopes and stash of the calling thread: one page, mapped by its first use, given back when the
 * thread ends. TLS holds the pointer only: a librtl that comes with dlopen has little room there.
 *
 * Signal handlers: the order of the stores in push, pop and set makes each state in between one
 * that a handler on the same thread can work on, if it closes what it opens. Other threads see nothing of
 * this: no atomics are needed but against the compiler. */

/* Number, parent and correlation of a span, and its scope. */
void scope_open_span(struct rtl_span *span);
/* Closes its scope; the span is over. */
void scope_close_span(struct rtl_span *span);
/* A record of the span with room for the payload; NULL: not wanted, or discarded. */
struct rtl_record *scope_reserve(const struct rtl_span *span, uint16_t type, uint32_t payload_size);
/* Whether the span is one that we can read, and has not ended. */
bool scope_span_is_open(const struct rtl_span *span);

/* ---- diagnostics: the stream "rtl.diagnostics": rtl's own warnings and errors as events. */

/* Registers the stream, once there is a host. */
void diagnostics_start(void);
