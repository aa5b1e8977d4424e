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

/* Where a host runs, as subscribers are told: "process", "collector" or "replay". Loads the
 * subscribers of a colon-separated list; each that cannot be had is one line in the log and
 * counts in *failed. NULL: none is left, or no memory. */
struct host *host_create(const char *list, const char *where, uint32_t *failed);
/* The same with a subscriber of our own before them, or none (NULL). */
struct host *host_create_with(const struct rtl_subscriber *own, const char *list, const char *where,
			      uint32_t *failed);
/* One without subscribers, whose processes record everything. */
struct host *host_create_recording(void);
/* Without host_finish the subscribers are destroyed only: what they have not stored is left. */
void host_destroy(struct host *host);

/* This process is where the events come from; `own` stays the caller's, as long as the host. */
int host_add_own(struct host *host, const struct host_own *own);
/* A spool is; errors as spool_files_open's. */
int host_add_spool(struct host *host, const char *path, bool shared, const char **why);

/* A stream that processes may register: subscribers are told now. Not with a local process. */
void host_offer_stream(struct host *host, const struct rtl_stream_info *info);
/* What is wanted of the streams so far, as struct session_page says, to a text of `size`. */
void host_write_wants(struct host *host, char *text, size_t size);
/* Whether its passes only take note of what the processes have published, for ledgers, and deliver
 * nothing. */
void host_set_counting(struct host *host, bool counting);
/* Ends processes that have ended, when all they left is delivered. remove: their spools too. */
void host_end_gone(struct host *host, bool remove);
/* Whether this is a recovery in which a subscriber has failed: what it has not stored stays in the
 * spools, for another one. */
bool host_keeps(const struct host *host);
/* Tells the processes that nothing is wanted for now, or again what is. */
void host_set_paused(struct host *host, bool paused);
/* After host_finish: removes the spools of processes that have not ended. They have been told to
 * stop publishing, and nobody would read what they write. */
void host_remove_left(struct host *host);
/* Tells the processes that nothing is wanted any more. */
void host_stop_publishing(struct host *host);
uint32_t host_process_count(const struct host *host);
/* How many have not ended. */
uint32_t host_living_count(const struct host *host);

/* Tells the subscribers of streams that are new, and of processes. Any thread. False: some call
 * into a subscriber did not end in time, or waits for the inline callback that this thread is in;
 * then the next pass tells them. */
bool host_look_around(struct host *host, uint32_t timeout_ms);
/* All of this process's stream is recorded until the subscribers have been told of it. */
void host_await_stream(struct host *host, uint32_t number);
/* Delivers what there is; returns false where a whole pass found nothing. One thread. Where there
 * is much, it stops between two batches for a flush, and the next call goes on there. */
bool host_pass(struct host *host);
/* Whether the last pass has stopped like that. */
bool host_is_interrupted(const struct host *host);
/* Passes, each to its end, until there is nothing, at most so many; flushes as is due. Returns
 * whether there may be more. */
bool host_drain(struct host *host, uint32_t passes);
/* Calls the subscribers' flush if there is something new and it is time, or `now`; then gives
 * the publishers their room back. */
void host_flush(struct host *host, bool now);
/* Lets the host's thread finish its batch and keeps it and all others out; false: not in time. */
bool host_pause(struct host *host, uint32_t timeout_ms);
void host_resume(struct host *host);
/* In a child after fork: it is the parent's, with what its subscribers have. It is left alone. */
void host_forget(struct host *host);
/* Whether there are rings that it cannot read for want of memory; any thread. */
bool host_is_starved(const struct host *host);
/* The name of the subscriber that has been called and has not returned; NULL: none. Any thread, in
 * the process that it works for. */
const char *host_at_work(const struct host *host);
/* Grows as long as events are delivered; any thread. */
uint64_t host_progress(const struct host *host);
/* The last delivery is done: ends processes and subscribers, which are not called again. */
void host_finish(struct host *host);

/* The collector of the spools that are added from now on died at that time: CLOCK_BOOTTIME, and
 * time of day. */
void host_set_death(struct host *host, uint64_t died_ns, uint64_t realtime_ns);
/* What processes that still run do from now on will not be recovered. */
void host_cut_off(struct host *host);
/* Says in a line that and when the collector of the events died; NULL: it did not. Valid until the
 * host is destroyed or the next call. */
const char *host_interruption(struct host *host);

/* The ledger of a stream of the first process; host may be NULL. */
void host_own_ledger(struct host *host, uint32_t stream, struct rtl_ledger *ledger);

#endif
