/* SPDX-License-Identifier: MIT */
/* What the files of this room offer each other and life, by file; bus.h, writer.h and inline.h have their own. */
#pragma once

#include <rtl/rtl.h>

#include "folder.h"
#include "ring.h"
#include "stream_info.h"

/* ---- session: the collector that this process has joined. Threads: session_join and session_leave while the bus
 * starts. */

/* Joins the collector of RTL_COLLECTOR. RTL_ENOENT: none is named; RTL_ENOTSUP: it has ended; else it was said. */
int session_join(void);
/* Makes a folder of this process's own in `base`, where a collector may come: nothing is wanted until then. */
int session_make(const char *base);
/* Whether it is one. */
bool session_is_own(void);
/* At the end of the process, or when there can be no spool: removes it, unless a collector is there, which does. */
void session_remove_own(void);
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

/* ---- fate: what has become of a collector that is gone. Recording goes on, as far as there is room, if somebody may
 * still read it. Any thread, no lock. */

/* Finds out why the collector is gone, says so once, and ends recording if nobody will read it. System calls. */
void fate_look(void);
/* Whether fate_look has found it dead, so that nobody makes room. Reads memory only, as below. */
bool fate_collector_died(void);
/* Whether it is lost and did not end in order. Then nobody looks for it again. */
bool fate_is_lost(void);
/* In a child after fork. */
void fate_forget(void);

/* ---- stall: a consumer that does not move: a stopped collector, a hanging subscriber. Threads wait
 * RTL_STALL_TIMEOUT in all, then discard and count until it moves. Time counts while a thread waits, no ring's tail
 * moves and the process is not stopped. Threads: any publisher. */

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

/* ---- stream: the registry of streams. Complete before their number is handed out, they never change: lock-free
 * look-up. */

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

/* Copies a tracepoint to *out, with its metadata in *metadata (malloc; room for *room). False: none, or no memory. */
bool ids_tracepoint(uint64_t uid, struct rtl_tracepoint *out, struct rtl_metadata **metadata,
		    uint32_t *room);
/* Writes all strings, tracepoints and metadata to a new spool's dictionary. Under the bus's lock. */
void ids_refill(void);

/* ---- loaded: the modules of the process: what a call site's address means outside of it. Threads: any, not under
 * bus.lock, as it takes the loader's lock. glibc does not reset that lock in a child of fork, whose first look would
 * hang: so a fork waits for ours, which is held meanwhile. */

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

/* ---- rings: first rings of threads, further ones for threads whose ring is full, drained ones, and a spare that is
 * prepared before a thread needs it (rtl_room_prepare). Threads: under the bus's lock unless said otherwise.
 * `spare.busy` lets one thread prepare the spare. */

/* A thread's first ring; NULL with errno: none; errno 0: the total is used up. */
struct ring_header *rings_take_first(uint32_t tid);
/* A further one, for a thread whose ring is full. NULL: there is none within the budget. */
struct ring_header *rings_take_further(uint32_t tid);
/* Of RTL_BUFFER_TOTAL, what is for further rings. Any thread. */
size_t rings_growth_most(void);
/* Tells who drains a new spool how much its rings may take. */
void rings_tell_budget(void);
/* In a child after fork: forgets the parent's spare. */
void rings_forget(void);

/* ---- open: what has begun and not ended (rtl_open_reserve), in the ring of its thread (struct ring_open). It
 * becomes an event when the process ends: by open_hand_in, or else by the ring's consumer (deliver/source.c). */

/* Publishes here what all threads have open. After publishing has been stopped. */
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

/* ---- scope: scopes and stash of the calling thread: one page, mapped by the first use, freed when the thread ends.
 * TLS holds only the pointer: a dlopened librtl has little room there. Each store in push, pop and set leaves a
 * state that a signal handler on the thread can work on, if it closes what it opens. No other thread looks. */

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
