/* SPDX-License-Identifier: MIT */
/* What the parts of a host share: host.c (life), host_api.c (what subscribers call) and deliver.c
 * (events on their way). */
#ifndef RTL_CORE_HOST_IMPL_H
#define RTL_CORE_HOST_IMPL_H

#include <pthread.h>

#include "host.h"
#include "lookup.h"
#include "source.h"
#include "thread.h"

#define HOST_BATCH 512u
/* Bytes of payloads in a batch from a spool. */
#define HOST_COPIES (256u << 10)

struct feed;

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
	/* For microseconds, under the other one or alone: subscriptions, what is wanted, streams,
	 * sources, instance->failed, ledgers. What a subscriber calls takes this one alone:
	 * somebody who holds the other one may wait for the calling thread. */
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
	/* Release when one is added, acquire when events are delivered; one is removed under both
	 * locks. */
	struct rtl_subscription *subscriptions[SPOOL_STREAMS_MAX];
	uint32_t stream_count; /* release when an entry is complete, acquire by is_ours */
	/* The one that subscribers are being told of: they may ask for its types one by one, and what
	 * they want of it is told when all have been. NULL: none. */
	const struct rtl_stream_info *meets;
	bool undone; /* there are subscriptions that were given up; relaxed */
	bool dirty;  /* events have been delivered since the last flush, or are kept */
	bool urgent; /* what is kept should be stored now */
	bool last;   /* the end has come: the same */
	bool finished;
	bool recording;     /* everything is wanted, */
	bool keep_repeated; /* also what other events repeat */
	bool off;           /* nothing is recorded for now */
	uint64_t paused_ns; /* since when that or outside; 0: neither */
	char *pauses;       /* "BEGIN-END " of each time before; NULL: there was none */
	size_t pauses_length;
	bool outside;    /* the user's selection leaves out what happens now */
	bool counting;   /* nothing is delivered, only noted for ledgers */
	bool replays;    /* what was not recorded is made of what repeats it */
	uint32_t paused; /* somebody waits for the consumer to let go of the lock; relaxed */
	/* When the collector of the spools died: CLOCK_BOOTTIME, and time of day. */
	uint64_t died_ns;
	uint64_t died_realtime_ns;
	char interruption[256];
	bool lacks; /* not all spools could be read: what they hold is in no ledger */
	/* Whom the consumer has called; relaxed, for host_at_work. */
	const struct instance *at_work;
	uint64_t progress; /* batches; relaxed, for host_progress */
	uint64_t flushed_ns;
	uint64_t pass_ns;   /* when the pass began */
	uint64_t tidied_ns; /* host_tidy */
	bool interrupted;   /* a process's pass: see source.interrupted */
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

/* A signal handler that interrupts the holder does not publish: its callbacks may want the lock
 * too. */
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
/* Adds a process, of which subscribers are told; it is destroyed if there is no memory. One that has begun
 * (a feed's): under the call lock; others: without locks. 0, RTL_ENOMEM. */
int host_add_source(struct host *host, struct source *source);
/* The host's stream for the process's next one, of which subscribers are told if it is new to them; NULL:
 * too many, or no memory. Under the call lock. */
const struct rtl_stream_info *host_meet_stream(struct host *host, struct source *source,
					       const struct rtl_stream_info *info);
/* Delivers events that a feed has made; in each, stream and process are the host's. Under the call
 * lock. */
void host_deliver(struct host *host, const struct rtl_event *events, size_t count);
/* Takes note of what is new in a process. Under the call lock. */
void host_look_at(struct host *host, struct source *source);
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

/* ---- feed.c: what a source plugin (<rtl/source.h>) reads, as processes of a host. Its events do not come from
 * rings: the plugin hands them over, and its processes are closed sources, of which there are the
 * ledger and the answers to subscribers' questions.
 *
 * Threads: the host's call lock, but for strings and tracepoints, which any thread may ask for; the
 * feed's own lock keeps them from the plugin while it reads. */

/*
 * Opens a file or folder with the source plugin of that name, or, with NULL, with the first that says
 * that it reads it.
 * @return 0; RTL_ENOENT: no plugin reads it; others as rtl_source.open's. `message` has a line
 */
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

#endif
