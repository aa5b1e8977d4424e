/* SPDX-License-Identifier: MIT */
/*
 * Hosts subscribers: loads them, keeps their subscriptions, and delivers the events of one or
 * more processes to them.
 *
 * Locks: host->lock (recursive) is held around every call into a subscriber but for inline
 * callbacks; host->data guards what they and subscribers' calls into the host have in common.
 * Order: host->lock, host->data, and then those of the process (host_own).
 */
#ifndef RTL_CORE_HOST_H
#define RTL_CORE_HOST_H

#include <stdbool.h>

#include <rtl/subscriber.h>

#include "selection.h"
#include "spool_files.h"

struct host;
struct source_ops;
struct spool_control;

/* The process that the host itself is in (life/own_process.c). */
struct host_own {
	const struct source_ops *source;
	const struct rtl_process *process;
	struct spool_control *control;
	/* Inline callbacks on its streams: see publish/inline.h. */
	int (*inline_add)(uint32_t stream, uint16_t type, rtl_events_fn fn, void *user,
			  const void *owner);
	void (*inline_remove)(uint32_t stream, const void *owner);
	void (*inline_wait)(void);
	bool (*inline_awaited)(void);
};

/* Loads the subscribers of a colon-separated list, behind `own`, which may be NULL. Each one that fails gets
 * one line in the log and counts in *failed. `where` is what subscribers are told: "process", "collector" or
 * "replay". NULL: none could be loaded, or there is no memory. */
struct host *host_create(const struct rtl_subscriber *own, const char *list, const char *where,
			 uint32_t *failed);
/* A host without subscribers; its processes record everything. */
struct host *host_create_recording(bool keep_repeated);
/* Without host_finish before, subscribers are only destroyed: what they have not stored stays. */
void host_destroy(struct host *host);

/* Delivers the events of this process. The caller keeps `own` as long as the host. */
int host_add_own(struct host *host, const struct host_own *own);
/* Delivers the events of a spool; errors as spool_files_open's. */
int host_add_spool(struct host *host, const char *path, enum spool_use use, const char **why);

/* Tells subscribers now of a stream that processes may register. Not in the process itself. */
void host_offer_stream(struct host *host, const struct rtl_stream_info *info);
/* Writes what is wanted of the streams so far to a text, in the form of struct session_page. */
void host_write_wants(struct host *host, char *text, size_t size);
/* Lets go of processes that have ended, once all they left is delivered; `all` delivers it first,
 * however much it is. remove: deletes their spools. */
void host_end_gone(struct host *host, bool all, bool remove);
/* Whether subscribers are to store now what they would keep (rtl_host.keep). */
void host_set_last(struct host *host, bool last);
/* Whether the spools keep what a subscriber has not stored, for a recovery: this is one, and a
 * subscriber has failed; or one has asked to keep it and could not store it at the end. */
bool host_keeps(const struct host *host);
/* Whether one has failed: what it makes is not complete. */
bool host_has_failed(const struct host *host);
/* Tells the processes that nothing is wanted for now, or what is wanted again, if that is new. The thread
 * that makes the passes, or who starts it; so the next one. */
void host_set_paused(struct host *host, bool paused);
/* Tells them, if that is new, whether the periods leave out what happens now: it is counted, but for what
 * describes. Returns when that changes next. */
uint64_t host_follow_periods(struct host *host, const struct periods *periods, uint64_t start_ns);
/* After host_finish: removes the spools of processes that still run. They have been told to stop
 * publishing, and nobody would read what they write. */
void host_remove_left(struct host *host);
/* Tells the processes that nothing is wanted any more. */
void host_stop_publishing(struct host *host);
/* How many have not ended. */
uint32_t host_living_count(const struct host *host);

/* Tells the subscribers of new streams and processes. Any thread. False: a call into a subscriber
 * did not end in time, or waits for the inline callback that this thread is in. Then the next pass
 * tells them. */
bool host_look_around(struct host *host, uint32_t timeout_ms);
/* Records all of this process's stream until the subscribers have been told of it. */
void host_await_stream(struct host *host, uint32_t number);
/* Delivers what there is; false: a whole pass found nothing. One thread. A long pass stops between
 * two batches for a flush, and the next call continues it. */
bool host_pass(struct host *host);
/* Now and then: lets the processes share what each of them may take for further rings, and gives
 * back the memory of rings that nobody has needed for a while. The thread that makes the passes. */
void host_tidy(struct host *host);
/* What waits in the processes' rings, in bytes. The thread that makes the passes. */
uint64_t host_backlog(const struct host *host);
/* Whether the last pass stopped like that. */
bool host_is_interrupted(const struct host *host);
/* Makes whole passes until one finds nothing, but at most so many, and flushes when due. Returns
 * whether there may be more. */
bool host_drain(struct host *host, uint32_t passes);
/* Calls the subscribers' flush if there is something new and it is due, or if `now`. Then gives the
 * publishers their room back. */
void host_flush(struct host *host, bool now);
/* Keeps all other threads out, when the batch has ended. False: that is not so in time, or somebody who
 * may hold the lock waits for the inline callback that this thread is in. */
#define HOST_FOR_EVER UINT32_MAX
bool host_lock_patiently(struct host *host, uint32_t timeout_ms);
void host_resume(struct host *host);
/* In a child after fork: leaves the parent's host alone, with all that its subscribers have. */
void host_forget(struct host *host);
/* Whether it lacks memory to read some rings; any thread. */
bool host_is_starved(const struct host *host);
/* The name of the subscriber whose call has not returned yet; NULL: none. Any thread of the process
 * that it works for. */
const char *host_at_work(const struct host *host);
/* Grows as long as events are delivered; any thread. */
uint64_t host_progress(const struct host *host);
/* After the last delivery: ends processes and subscribers, and never calls them again. */
void host_finish(struct host *host);

/* Notes that nothing is recovered of what processes that still run do from now on. */
void host_cut_off(struct host *host);
/* A line that says when the collector of the events died; NULL: it did not die. Valid until the
 * next call, or until the host is destroyed. */
const char *host_interruption(struct host *host);

/* The ledger of a stream of the first process; host may be NULL. */
void host_own_ledger(struct host *host, uint32_t stream, struct rtl_ledger *ledger);

#endif
