/* SPDX-License-Identifier: MIT */
/*
 * sub.h: an instance of the subscriber that writes timelines, and what its parts offer each other.
 *
 *   plugin.c   descriptor, settings, the calls of the host, the ledger, positions
 *   output.c   which file, and what may be done to it
 *   known.c    rtl's own streams: dispatches, copies, calls, ranges, memory
 *   counters.c hardware counters
 *   generic.c  every other stream, by its description
 *   lookup.c   names that the host knows: strings, tracepoints, kernels
 *
 * What is shown, and how, is in library/timeline. All of it runs on the host's thread.
 */
#ifndef RTL_JSON_SUB_H
#define RTL_JSON_SUB_H

#include <rtl/events.h>
#include <rtl/publish.h>
#include <rtl/subscriber.h>

#include "host.h"
#include "map.h"
#include "output_name.h"
#include "pairing.h"
#include "wanted.h"
#include "work.h"

struct type;

struct stream {
	struct stream *next;
	struct sub *sub;
	const struct rtl_stream_info *info;
	bool is_hip; /* of a stream of calls */
	struct timeline_name *category;
	struct type *types; /* of generic.c */
	struct type *last_type;
	uint64_t skipped; /* events that were not as described */
};

/* A function, as its tracepoint tells of it. */
struct function {
	struct timeline_name *name;
};

/* Room for texts that are made of values, of one slice. */
struct room {
	size_t used;
	char text[2 * RTL_PAYLOAD_MAX + 1];
};

struct sub {
	const struct rtl_host *host;
	char *pattern; /* of the output's name */
	bool args, counters;
	bool exact, recovers, replays;
	bool open, failed;
	bool complete; /* it is recovered, and nothing is missing */
	bool pending;  /* events came since the last commit */
	char *path;
	struct timeline timeline;
	struct work work;
	struct stream *streams, **last_stream;
	struct wanted_calls hsa_calls, hip_calls;
	/* The newest process. */
	const struct rtl_process *last_info;
	struct work_process *last_process;
	struct counters *hardware; /* of counters.c; NULL: no such stream is there */
	struct map strings;        /* hash of process and id -> struct timeline_name * */
	struct map kernels;        /* uid -> struct work_kernel * */
	struct map functions;      /* uid -> struct function * */
	struct pairing pairing;
	struct timeline_ledger *ledgers;
	struct timeline_loss *losses;
	size_t ledger_count, loss_count;
	struct room room;
};

/* output.c */

/* Chooses, makes and begins the file for those names. base_ns: what times are relative to; 0: now,
 * or what a file says that is to be continued (without one it stays closed). 0 or an enum
 * rtl_error, said. */
int output_begin(struct sub *sub, const struct output_names *names, uint64_t base_ns);
/* Says a line that begins with the path. */
void output_say(struct sub *sub, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* lookup.c */

/* The process of an event; NULL: out of memory, which the timeline keeps. */
struct work_process *lookup_process_slowly(struct sub *sub, const struct rtl_process *info);
static inline struct work_process *lookup_process(struct sub *sub, const struct rtl_process *info)
{
	if (__builtin_expect(sub->last_info == info, 1))
		return sub->last_process;
	return lookup_process_slowly(sub, info);
}
/* Takes events, one after the other, each of its process. */
typedef void (*sub_take_fn)(struct stream *stream, struct work_process *process,
			    const struct rtl_event *event);
static inline __attribute__((always_inline)) void
sub_each(void *user, const struct rtl_event *const *events, size_t count, sub_take_fn take)
{
	struct stream *stream = user;

	stream->sub->pending = true;
	for (size_t i = 0; i < count; i++) {
		struct work_process *process = lookup_process(stream->sub, events[i]->process);

		if (process)
			take(stream, process, events[i]);
	}
}
/* What tells a process from all others, and from itself in another run. */
uint64_t lookup_spool(const struct rtl_process *info);
/* The name for a host's string; NULL: it has none. */
struct timeline_name *lookup_string(struct sub *sub, const struct rtl_process *info, uint64_t id);
const struct work_kernel *lookup_kernel(struct sub *sub, const struct rtl_process *info,
					uint64_t uid, uint64_t string);
/* Its tracepoint may say more than before. */
void lookup_kernel_again(struct sub *sub, const struct rtl_process *info, uint64_t uid);
const struct function *lookup_function(struct sub *sub, const struct rtl_process *info,
				       uint64_t uid, uint64_t string);
void lookup_fini(struct sub *sub);

/* known.c */

/* Subscribes to a stream that it knows. RTL_ENOTSUP: it does not, or not like that. */
int known_subscribe(struct sub *sub, struct stream *stream);

/* counters.c */

/* Once a stream of counters is there. 0, or RTL_ENOMEM. */
int counters_init(struct sub *sub);
/* A dispatch that may be counted has ended. */
void counters_dispatch(struct sub *sub, const struct rtl_event *event,
		       const struct rtl_hsa_dispatch *dispatch);
/* Events of rtl.hsa.counter: of dispatches, of intervals. user: the struct stream. */
void counters_values(void *user, const struct rtl_event *const *events, size_t count);
void counters_intervals(void *user, const struct rtl_event *const *events, size_t count);
/* Values that could not be shown; `end`: no dispatch will come any more. */
uint64_t counters_lost(const struct sub *sub, bool end);
void counters_fini(struct sub *sub);

/* generic.c */

/* Subscribes to all types of which no other says the same. */
int generic_subscribe(struct stream *stream);
void generic_events(void *user, const struct rtl_event *const *events, size_t count);
/* Shows what has begun and not ended; of that process, or (NULL) of all. */
void generic_unfinished(struct sub *sub, const struct rtl_process *process);
void generic_fini(struct sub *sub);

#endif
