/* SPDX-License-Identifier: MIT */
/* Counts the events of a host into a summary: what the subscriber and `rtl summary` have in common.
 * Threads: the one that calls the subscriber. */
#pragma once

#include <rtl/args.h>

#include "breakdown.h"
#include "pairing.h"
#include "wanted.h"

/* Hardware counters, of dispatches by kernel and of GPUs in intervals. */
struct counted {
	const struct rtl_host *host;
	struct summary *summary;
	struct map all;     /* hash of what it is of and the counter -> struct summary_counter * */
	struct map ledgers; /* hash of process and GPU -> struct rtl_hsa_counter_ledger * */
};

/** What it takes of its stream, as that of collectives: `user` is the struct counted. */
extern const struct wanted counted_types[3], collectives_types[1];
/** After the last event, once kernels have been counted: what there is is put in order. 0, or RTL_ENOMEM. */
int counted_finish(struct counted *counted);
void counted_fini(struct counted *counted);

/* A kernel or copy: its row, when it was, and 0 for what is not known. */
struct graph_work {
	struct summary_group *what;
	uint64_t begin, end, submit, bytes;
	uint32_t queue;
	uint64_t packet;
	struct summary_group *node; /* once it is known */
};

/* What a call does to graphs. */
enum graph_call {
	GRAPH_OTHER = 1,
	GRAPH_LAUNCH,
	GRAPH_INSTANTIATE, /* these three leave in the first argument what is as the second one */
	GRAPH_UPDATE,
	GRAPH_CLONE,
	GRAPH_CREATE,
	GRAPH_DESTROY,
	GRAPH_EXEC_DESTROY,
	GRAPH_ADD,       /* a node that does work, to the graph that is the second argument */
	GRAPH_ADD_GRAPH, /* the nodes of the graph that is the last argument */
	GRAPH_ADD_OTHER, /* of unknown kind */
	GRAPH_BEGIN_CAPTURE,
	GRAPH_CAPTURED, /* those from here on matter while a stream is captured */
	GRAPH_END_CAPTURE = GRAPH_CAPTURED,
	GRAPH_WORK,
	GRAPH_RECORD,
	GRAPH_WAIT,
	GRAPH_FORK,
};

enum graph_call graph_call_of(const char *name);

struct origin_list;
struct summary_view;

/* Which calls captured or added the nodes of graphs: those of a capture in order are the nodes in order, if one thread
 * captured one stream. Of other graphs it is said what the calls of all kernels, copies or fills have in common. Where
 * the numbers differ nothing is known. Threads: the one that calls the subscriber. */
struct origins {
	struct summary *summary;
	struct map lists; /* hash of process and graph or executable -> struct origin_list * */
	struct map streams, events; /* that take part in a capture -> the same */
	struct map ranges; /* hash of process and instance -> const struct summary_group ** */
	size_t count, captures;
};

/** Takes a call, which has succeeded or is GRAPH_END_CAPTURE. values: its first arguments, two or, of GRAPH_ADD_GRAPH,
 * the second and the last. False: out of memory. */
bool origins_take(struct origins *origins, enum graph_call is, const struct rtl_event *event,
		  const char *name, const struct rtl_value values[3]);
/** A range has ended. */
void origins_name_range(struct origins *origins, const struct rtl_event *event,
			const struct summary_group *name);
/** The calls that made an executable, as it is now; NULL: they are not known. */
const struct origin_list *origins_of(const struct origins *origins, const struct rtl_event *event,
				     uint64_t executable);
/** Tells nodes of a launch where they are from. */
void origins_tell(const struct origin_list *list, const struct summary_view *nodes);
void origins_fini(struct origins *origins);

/* Launches of graphs: work within calls of hipGraphLaunch is gathered by its correlation, until very many others have
 * come. An argument of the call tells which executable it was. Threads: the one that calls the subscriber. */
struct graphs {
	const struct rtl_host *host;
	struct summary *summary;
	struct breakdown *breakdown;
	struct origins origins;
	struct map functions; /* uid -> what the function is to us */
	struct map numbers;   /* hash of process and executable -> the graph's number */
	struct map
		rows; /* hash of number and nodes -> struct summary_group *, of number -> variants */
	struct map launches;         /* hash of process and correlation -> struct launch * */
	struct launch *first, *last; /* of these, oldest first */
	size_t works, nodes;
	uint64_t count;
};

/** Subscribes, if the stream is that of calls with arguments. 0, or an rtl_error. */
int graphs_add_stream(struct graphs *graphs, const struct rtl_stream_info *stream);
/** Whether that scope, a tracepoint, is a launch, and the event's work is of it. */
bool graphs_is_launch(struct graphs *graphs, const struct rtl_event *event, uint64_t scope);
/** Takes it, if the scope, a tracepoint, is a launch. False: out of memory, as below. */
bool graphs_add_work(struct graphs *graphs, const struct rtl_event *event, uint64_t scope,
		     const struct graph_work *work);
/** Counts the oldest, until only so many launches and so much work is left: none after the last event. */
bool graphs_settle(struct graphs *graphs, size_t launches, size_t works);
/** While the summary is there. */
void graphs_fini(struct graphs *graphs);

/* Collectives of RCCL, by operation and communicator: their kernel is that of the same correlation. Those that lack one
 * of the two wait for it, until very many others have come. */
struct collectives {
	const struct rtl_host *host;
	struct summary *summary;
	bool is_on;          /* there is the stream */
	struct map meetings; /* hash of row and sequence -> struct meeting * */
	struct map launches; /* hash of process and correlation -> struct collective_launch * */
	struct collective_launch *first, *last; /* of these, oldest first */
};

/** Takes a kernel, if it is RCCL's. False: out of memory. */
bool collectives_add_kernel(struct collectives *collectives, const struct rtl_event *event,
			    struct summary_group *kernel, uint64_t begin, uint64_t end);
/** After the last event, while the summary is there: counts what is left, and frees all. */
void collectives_settle(struct collectives *collectives);

/* A track: one kind of things on one stream that take time, and their section of the summary. Which kinds a stream has
 * follows from the description of its types alone:
 *
 * - an end event whose payload has the TIME fields begin_ns and end_ns says itself how long it took (a dispatch on the
 *   GPU); if there is a field `gpu` too and it is a task, it makes that device busy; of a transfer, `bytes` says how
 *   much was moved, and a `status` other than 0 that it was refused;
 * - otherwise a begin and an end event are paired by process and instance.
 *
 * `call_ns` of a dispatch says when the call that caused it began. How long the GPU then took to begin is a section of
 * its own. The name of a range of roctx is its text, `name`.
 *
 * Events RTL_METADATA with a field `gpu` whose tracepoint has the kind "agent" say what that device is called.
 *
 * The name is that of the tracepoint (its metadata "demangled" if it has that), else the first string of the payload.
 * Different tracepoints with equal names are one row. */
struct track;

/** What all tracks of an instance share. */
struct tracks {
	const struct rtl_host *host;
	struct summary *summary;
	struct graphs *graphs;
	struct breakdown *breakdown;
	struct collectives *collectives;
	struct pairing pairing;
	struct track *first;
	/* That of the event before: mostly the next one is of the same. */
	const struct rtl_process *last_process;
	struct summary_process *process;
	bool has_calls;     /* calls of HIP are recorded: work that is linked to none is counted */
	size_t pauses_read; /* bytes of the host's property */
};

/** Makes the tracks of a stream and subscribes to what they need. 0, or an rtl_error. */
int tracks_add_stream(struct tracks *tracks, const struct rtl_stream_info *stream);
/** Takes over when the host has paused recording, since it was called last. */
void tracks_take_pauses(struct tracks *tracks);
/** After the last event: what was left over is counted. */
void tracks_finish(struct tracks *tracks);
/** Frees the tracks; not host and summary. */
void tracks_fini(struct tracks *tracks);

struct sink_stream;

struct sink {
	const struct rtl_host *host;
	struct summary *summary; /* not owned */
	struct tracks tracks;
	struct counted counted;
	struct graphs graphs;
	struct breakdown breakdown;
	struct collectives collectives;
	struct sink_stream *streams;
};

void sink_init(struct sink *sink, const struct rtl_host *host, struct summary *summary);
/** Subscribes to what is counted of a stream. 0, or an rtl_error. */
int sink_add_stream(struct sink *sink, const struct rtl_stream_info *stream);
/** After the last event: what was left over, and the ledger. 0, or RTL_ENOMEM. */
int sink_finish(struct sink *sink);
void sink_fini(struct sink *sink);
