/* SPDX-License-Identifier: MIT */
/* Hosts subscribers: loads them, keeps their subscriptions, and delivers the events of processes to them.
 *
 * Locks: host->lock (recursive) is held around every call into a subscriber but inline callbacks; host->data guards
 * what they share with subscribers' calls into the host. Order: host->lock, host->data, the process's (host_own). */
#pragma once

#include <pthread.h>

#include "selected.h"
#include "source.h"
#include "thread.h"

struct host;
struct feed;

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

/* Loads the subscribers of a colon-separated list, behind `own`, which may be NULL. One that fails gets a line in
 * the log and counts in *failed. `where`: "process", "collector", ..., as subscribers are told. NULL: none, or no
 * memory. */
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
/* Lets go of ended processes once their events are delivered; `all` delivers them first. remove: deletes their
 * spools. */
void host_end_gone(struct host *host, bool all, bool remove);
/* Whether the spools are kept for a recovery: this is one and a subscriber has failed, or one has kept events to the
 * end. */
bool host_keeps(const struct host *host);
/* Whether one has failed: what it makes is not complete. */
bool host_has_failed(const struct host *host);
/* Tells the processes, if that is new, that nothing is wanted for now, or what is. The passes' thread; the next one,
 * too. */
void host_set_paused(struct host *host, bool paused);
/* The same for what the periods leave out: it is counted, but for what describes. Returns when that changes next. */
uint64_t host_follow_periods(struct host *host, const struct periods *periods, uint64_t start_ns);
/* After host_finish: removes the spools of processes that still run, which have been told to stop. */
void host_remove_left(struct host *host);
/* Tells the processes that nothing is wanted any more. */
void host_stop_publishing(struct host *host);
/* Before each pass from there on, of a collector that leaves. */
void host_note_published(struct host *host);
/* How many have not ended. */
uint32_t host_living_count(const struct host *host);

/* Tells the subscribers of new streams and processes. Any thread. False: not in time, or a subscriber waits for the
 * inline callback that this thread is in; the next pass tells them. */
bool host_look_around(struct host *host, uint32_t timeout_ms);
/* Records all of this process's stream until the subscribers have been told of it. */
void host_await_stream(struct host *host, uint32_t number);
/* Delivers what there is; false: a whole pass found nothing. One thread. A long pass stops for a flush and goes on
 * later. */
bool host_pass(struct host *host);
/* Now and then, or as the collector leaves: shares the room for further rings, frees idle ones. The passes' thread. */
void host_tidy(struct host *host, bool leaves);
/* What waits in the processes' rings, in bytes. The thread that makes the passes. */
uint64_t host_backlog(const struct host *host);
/* Makes whole passes, at most so many, until one finds nothing; flushes when due. Whether there may be more. */
bool host_drain(struct host *host, uint32_t passes);
/* Flushes the subscribers if that is due, or `now`; then gives the publishers their room back. */
void host_flush(struct host *host, bool now);
/* Keeps all other threads out after the current batch. False: not in time, or see host_look_around. */
#define HOST_FOR_EVER UINT32_MAX
bool host_lock_patiently(struct host *host, uint32_t timeout_ms);
/* In a child after fork: leaves the parent's host alone, with all that its subscribers have. */
void host_forget(struct host *host);
/* After the last delivery: ends processes and subscribers, and never calls them again. */
void host_finish(struct host *host);

/* Notes that nothing is recovered of what processes that still run do from now on. */
void host_cut_off(struct host *host);
/* A line: when the collector of the events died; NULL: it did not. Valid until the next call. */
const char *host_interruption(struct host *host);

/* The ledger of a stream of the first process; host may be NULL. */
void host_own_ledger(struct host *host, uint32_t stream, struct rtl_ledger *ledger);

/* ---- what is in it, for this room */

#define HOST_BATCH 512u
/* Bytes of payloads in a batch from a spool. */
#define HOST_COPIES (256u << 10)

/* ---- lookup.c: tracepoints as a subscriber has looked them up. An answer stays valid and unchanged until the
 * instance is destroyed; changed metadata make another one. Values are read once. Any thread; lookup.lock, then
 * bus.lock. */

struct lookup {
	pthread_mutex_t lock;
	struct table answers;          /* struct answer by process and uid */
	struct rtl_metadata *metadata; /* of the look-up that is under way */
	uint32_t room;
};

void lookup_init(struct lookup *lookup);
void lookup_fini(struct lookup *lookup);
/* A tracepoint of a process; NULL: there is none, or no memory. */
const struct rtl_tracepoint *lookup_tracepoint(struct lookup *lookup, const struct source *source,
					       uint64_t uid);
/* What its events' values are; NULL: it does not say, or no memory. No lock once it is known. */
const struct rtl_values_info *lookup_values(struct lookup *lookup, const struct source *source,
					    uint64_t uid);

/* ---- host.c, host_api.c, deliver.c */

struct rtl_subscription {
	struct rtl_subscription *next; /* of the stream */
	struct instance *instance;
	rtl_events_fn fn; /* NULL: undone; relaxed where the data lock is not held */
	void *user;
	const struct rtl_stream_info *stream;
	uint16_t type;
	bool is_inline;
	bool given_up; /* by its owner: nobody but a batch that is under way knows it any more */
};

/* A subscriber. */
struct instance {
	struct rtl_host api; /* first: what the plugin gets is the instance */
	struct host *host;
	struct instance *next;
	struct rtl_plugin *plugin;
	const struct rtl_subscriber *subscriber;
	void *self;
	char name[64];
	bool told;            /* it has reported an error; relaxed: any thread may report */
	bool failed;          /* under the data lock; relaxed where it is not held */
	bool keeps;           /* it has not stored what was delivered: api.keep */
	struct lookup lookup; /* tracepoints that it has asked for */
	/* the batch: events for one callback, in order */
	rtl_events_fn fn;
	void *user;
	uint32_t pending;
	const struct rtl_event *events[HOST_BATCH];
};

struct host {
	struct host *forgotten; /* the next of those */
	pthread_mutex_t lock;   /* held over calls into subscribers; recursive */
	/* For microseconds, under the other one or alone: subscriptions, what is wanted, streams, sources, failed,
	 * ledgers. Calls of subscribers take only this: the other one's holder may wait for the calling thread. */
	pthread_mutex_t data;
	const char *where;
	const struct host_own *own; /* NULL: not in the process that the events come from */
	struct instance *instances; /* in the order of the list */
	struct source **sources;    /* by process number - 1 */
	uint32_t source_count;
	uint32_t source_room;
	struct feed *feeds;
	/* The host's streams. With the local process alone they are its own, number by number. */
	const struct rtl_stream_info *streams[SPOOL_STREAMS_MAX];
	/* Release when one is added, acquire when events are delivered; removed under both locks. */
	struct rtl_subscription *subscriptions[SPOOL_STREAMS_MAX];
	uint32_t stream_count; /* release when an entry is complete, acquire by is_ours */
	/* The one that subscribers are being told of; what they want of it is told afterwards. NULL: none. */
	const struct rtl_stream_info *meets;
	bool undone; /* there are subscriptions that were given up; relaxed */
	bool dirty;  /* events have been delivered since the last flush, or are kept */
	bool urgent; /* what is kept should be stored now */
	bool last;   /* the end has come: subscribers are to store now what they would keep */
	bool finished;
	bool recording;     /* everything is wanted, */
	bool keep_repeated; /* also what other events repeat */
	bool off;           /* nothing is recorded for now */
	uint64_t paused_ns; /* since when that or outside; 0: neither */
	char *pauses;       /* "BEGIN-END " of each time before; NULL: there was none */
	size_t pauses_length;
	bool outside;    /* the user's selection leaves out what happens now */
	bool attached;   /* to a process that has run before */
	bool counting;   /* nothing is delivered, only noted for ledgers */
	bool replays;    /* what was not recorded is made of what repeats it */
	uint32_t paused; /* somebody waits for the consumer to let go of the lock; relaxed */
	/* When the collector of the spools died: CLOCK_BOOTTIME, and time of day. */
	uint64_t died_ns;
	uint64_t died_realtime_ns;
	char interruption[256];
	bool lacks; /* not all spools could be read: what they hold is in no ledger */
	/* Whom the consumer has called, and who has not returned; relaxed. */
	const struct instance *at_work;
	uint64_t progress; /* batches; relaxed */
	uint64_t flushed_ns;
	uint64_t pass_ns;   /* when the pass began */
	uint64_t tidied_ns; /* host_tidy */
	uint32_t grown;     /* what was not delivered, in percent of what further rings may take */
	bool interrupted;   /* the last pass stopped between two batches; see source.interrupted */
	uint8_t *copies;    /* payloads of the batch, where others could change them */
	size_t copies_used;
	struct rtl_event batch[HOST_BATCH];
};

/* Never wait for the consumer while holding this lock: the consumer takes it too. */
static inline void host_lock(struct host *host)
{
	thread_no_wait++;
	pthread_mutex_lock(&host->lock);
}

static inline void host_unlock(struct host *host)
{
	pthread_mutex_unlock(&host->lock);
	thread_no_wait--;
}

/* A signal handler that interrupts the holder does not publish: its callbacks may want the lock too. */
static inline void host_data_lock(struct host *host)
{
	thread_locked++;
	pthread_mutex_lock(&host->data);
}

static inline void host_data_unlock(struct host *host)
{
	pthread_mutex_unlock(&host->data);
	thread_locked--;
}

static inline bool instance_failed(const struct instance *instance)
{
	return __atomic_load_n(&instance->failed, __ATOMIC_RELAXED);
}

/* The functions that each instance is given. */
extern const struct rtl_host host_api;

/* Gives the instance no more events, as its function failed. Call it without the data lock. */
void instance_fail_with(struct instance *instance, const char *function, int err);
/* Adds a process, of which subscribers are told; destroyed without memory (RTL_ENOMEM). A feed's has begun: under the
 * call lock; others without locks. */
int host_add_source(struct host *host, struct source *source);
/* The host's stream for the process's next one, of which subscribers are told if it is new; NULL: too many, or no
 * memory. Under the call lock. */
const struct rtl_stream_info *host_meet_stream(struct host *host, struct source *source,
					       const struct rtl_stream_info *info);
/* Delivers a feed's events, in which stream and process are the host's. Under the call lock. */
void host_deliver(struct host *host, const struct rtl_event *events, size_t count);
/* Takes note of what is new in a process. Under the call lock. */
void host_look_at(struct host *host, struct source *source);
/* As rtl_host.unfinished. */
void host_each_open(struct host *host, struct source *source,
		    void (*fn)(void *user, const struct rtl_event *event), void *user);
/* Tells all processes what is wanted of a stream. Under the data lock. */
void wants_tell(struct host *host, const struct rtl_stream_info *info);
/* The same for one process. Under the data lock. */
void wants_tell_one(struct host *host, struct source *source, const struct rtl_stream_info *info);
/* Undoes its inline subscriptions, or all, without waiting for running callbacks. Under the data lock. */
void instance_undo(struct instance *instance, bool buffered_too);
/* Frees subscriptions that were given up. No batch refers to them. Under the call lock. */
void host_sweep(struct host *host);

/* Around each call of an instance, but for inline callbacks. */
static inline void instance_works(const struct instance *instance, bool works)
{
	__atomic_store_n(&instance->host->at_work, works ? instance : NULL, __ATOMIC_RELAXED);
}

/* Calls one of an instance's functions that return an error. */
#define INSTANCE_CALL(instance, function, ...)                                                     \
	do {                                                                                       \
		if (!instance_failed(instance) && (instance)->subscriber->function) {              \
			instance_works(instance, true);                                            \
			int err_ =                                                                 \
				(instance)->subscriber->function((instance)->self, ##__VA_ARGS__); \
			instance_works(instance, false);                                           \
			if (err_ < 0)                                                              \
				instance_fail_with(instance, #function, err_);                     \
		}                                                                                  \
	} while (0)

/* The same of all instances. */
#define INSTANCES_CALL(host, function, ...)                                                        \
	for (struct instance *each_ = (host)->instances; each_; each_ = each_->next)               \
	INSTANCE_CALL(each_, function, ##__VA_ARGS__)

/* ---- feed.c: what a source plugin (<rtl/source.h>) reads, as processes of a host. The plugin hands over the events;
 * its processes are closed sources with a ledger and answers. Threads: the host's call lock, but any may ask for
 * strings and tracepoints: the feed's own lock keeps them from the plugin while it reads. */

/* Opens a file or folder with the source plugin of that name, or (NULL) the first that reads it. 0; RTL_ENOENT: no
 * plugin reads it; others as rtl_source.open's; `message` has a line. */
int host_add_feed(struct host *host, const char *plugin, const char *path, char *message,
		  size_t size);
/* Lets the one read on that is furthest back in time; false: all is read. */
bool host_read_feeds(struct host *host);
/* Whether one could not be read to the end. */
bool host_feeds_failed(const struct host *host);
/* Bytes that are still to be read. */
uint64_t host_feeds_left(const struct host *host);
/* What a feed says of the run; NULL: nothing. */
const char *host_feeds_property(const struct host *host, const char *key);
/* When no subscriber asks any more. */
void host_close_feeds(struct host *host);

/* Grows as long as events are delivered; any thread. */
static inline uint64_t host_progress(const struct host *host)
{
	return __atomic_load_n(&host->progress, __ATOMIC_RELAXED);
}
