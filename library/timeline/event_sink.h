/* SPDX-License-Identifier: MIT */
/* event_sink.h: makes a timeline of events, whoever delivers them: libjson_sub.so and `rtl convert` are its hosts. The
 * owner opens the timeline; the rest is here:
 *
 *   event_sink.c           streams, processes, the ledger; names that the host knows: strings, tracepoints, kernels
 *   event_sink_known.c     rtl's own streams: dispatches, copies, calls, ranges, memory
 *   event_sink_counters.c  hardware counters
 *   event_sink_generic.c   every other stream, by its description
 *
 * What is shown, and how, is in work.h. All of it runs on the host's thread. */
#pragma once

#include <rtl/publish.h>

#include "host.h"
#include "pairing.h"
#include "wanted.h"
#include "work.h"

struct type;

struct stream {
	struct stream *next;
	struct event_sink *sink;
	const struct rtl_stream_info *info;
	bool is_hip; /* of a stream of calls */
	struct name *category;
	struct type *types; /* of event_sink_generic.c */
	struct type *last_type;
};

/* Room for texts that are made of values, of one slice. */
struct room {
	size_t used;
	char text[2 * RTL_PAYLOAD_MAX + 1];
};

struct event_sink {
	/* Set by the owner, before any call. */
	const struct rtl_host *host;
	bool args, counters;
	/** Whether a process is shown; NULL: all are. */
	bool (*wants)(const struct event_sink *sink, const struct rtl_process *process);
	/* Opened by the owner, before any process. */
	struct timeline timeline;
	struct work work;
	bool pending; /**< events came; the owner resets it */
	/* The sink's own. */
	struct stream *streams, **last_stream;
	struct wanted_calls hsa_calls, hip_calls;
	/* The newest process. */
	const struct rtl_process *last_info;
	struct work_process *last_process;
	struct counters *hardware; /* of event_sink_counters.c; NULL: no such stream is there */
	struct map strings;        /* hash of process and id -> struct name * */
	struct map kernels;        /* uid -> struct work_kernel * */
	struct map functions;      /* uid -> struct name * */
	struct map collectives;    /* work_flow_id -> struct name *, of the kernel of RCCL */
	struct pairing pairing;
	struct room room;
};

/** Subscribes to what is shown of a stream. 0 or an enum rtl_error. */
int event_sink_stream(struct event_sink *sink, const struct rtl_stream_info *info);
/** Sets how things stand, for the end of the file; `end`: nothing comes any more. */
void event_sink_update_ledger(struct event_sink *sink, bool end);
/** Completes the timeline. */
void event_sink_finish(struct event_sink *sink);
/** Gives all of it back, but for the timeline. */
void event_sink_fini(struct event_sink *sink);

/* What the host knows. */

/* The process of an event; NULL: it is not shown, or out of memory, which the timeline keeps. */
struct work_process *event_lookup_process_slowly(struct event_sink *sink,
						 const struct rtl_process *info);
static inline struct work_process *event_lookup_process(struct event_sink *sink,
							const struct rtl_process *info)
{
	if (__builtin_expect(sink->last_info == info, 1))
		return sink->last_process;
	return event_lookup_process_slowly(sink, info);
}
/* Defines NAME, an rtl_events_fn that has TAKE take events one after the other, each of its process. */
#define EVENT_SINK_EACH(name, take)                                                                \
	void name(void *user, const struct rtl_event *const *events, size_t count)                 \
	{                                                                                          \
		struct stream *stream = user;                                                      \
		struct work_process *process;                                                      \
                                                                                                   \
		stream->sink->pending = true;                                                      \
		for (size_t i = 0; i < count; i++)                                                 \
			if ((process = event_lookup_process(stream->sink, events[i]->process)))    \
				take(stream, process, events[i]);                                  \
	}

/* What tells a process from all others, and from itself in another run. */
uint64_t event_lookup_spool(const struct rtl_process *info);
/* The name for a host's string; NULL: it has none. */
struct name *event_lookup_string(struct event_sink *sink, const struct rtl_process *info,
				 uint64_t id);
const struct work_kernel *event_lookup_kernel(struct event_sink *sink,
					      const struct rtl_process *info, uint64_t uid,
					      uint64_t string);
/* Its tracepoint may say more than before. */
void event_lookup_kernel_again(struct event_sink *sink, const struct rtl_process *info,
			       uint64_t uid);
/* The name of a function, as its tracepoint tells of it. */
struct name *event_lookup_function(struct event_sink *sink, const struct rtl_process *info,
				   uint64_t uid, uint64_t string);

/* event_sink_known.c */

/* Subscribes to a stream that it knows. RTL_ENOTSUP: it does not, or not like that. */
int known_subscribe(struct event_sink *sink, struct stream *stream);

/* event_sink_counters.c */

/* Once a stream of counters is there. 0, or RTL_ENOMEM. */
int counters_init(struct event_sink *sink);
/* A dispatch that may be counted has ended. */
void counters_dispatch(struct event_sink *sink, const struct rtl_event *event,
		       const struct rtl_hsa_dispatch *dispatch, const struct work_kernel *kernel);
/* Events of rtl.hsa.counter: of dispatches, of intervals. user: the struct stream. */
void counters_values(void *user, const struct rtl_event *const *events, size_t count);
void counters_intervals(void *user, const struct rtl_event *const *events, size_t count);
/* Values that could not be shown; `end`: no dispatch will come any more. */
uint64_t counters_lost(const struct event_sink *sink, bool end);
/* Shows where the newest intervals end. */
void counters_end(struct event_sink *sink);
void counters_fini(struct event_sink *sink);

/* event_sink_generic.c */

/* Subscribes to all types of which no other says the same. */
int generic_subscribe(struct stream *stream);
void generic_events(void *user, const struct rtl_event *const *events, size_t count);
/* Shows what has begun and not ended; of that process, or (NULL) of all. */
void generic_unfinished(struct event_sink *sink, const struct rtl_process *process);
void generic_fini(struct event_sink *sink);
