/* SPDX-License-Identifier: MIT */
/* The collector that `rtl trace` is: hosts the subscribers, drains the command and its children.
 * One thread, but for collect_wake and collect_is_stoppable. */
#pragma once

#include <pthread.h>
#include <rtl/collector.h>

#include "progress.h"
#include "run_ledger.h"
#include "selection.h"
#include "session.h"

struct database;
struct launch;
struct summary;

/** By signals. */
#define SNAPSHOTS_AT_ONCE 16u

struct collect {
	pid_t snapshots[SNAPSHOTS_AT_ONCE]; /* processes that make one; 0: none */
	struct rtl_collector *collector;
	const char *folder; /* of the collector */
	struct progress progress;
	const struct selection
		*selection; /* the periods; NULL: all is recorded; set before it starts */
	bool quiet;         /* no progress is shown; set before it starts */
	uint64_t looked_ns; /* when it was last asked how busy the poll is */
	uint64_t used_ns;   /* the processor's time that it had had by then */
	pthread_t nice;     /* the thread that polls when it is */
	bool nice_runs;
	bool nice_ends;   /* it is to end: relaxed, rtl_collector_wake is behind it */
	uint32_t met;     /* processes so far */
	uint32_t left;    /* that still ran at the end */
	uint32_t refused; /* that could make no spool, and have said why; known at the end */
	bool paused;      /* at the end */
	bool failed;      /* not everything could be written; it has been said */
	uint32_t kept_ms; /* at the end: see rtl_collector_kept_ms */
	struct run_ledger ledger; /* after the end: of a collector with subscribers */
	char *recording;          /* after the end: of a recorder; to be freed */
	char *kept;               /* the folder, where it was kept for that; to be freed */
};

/** Makes the collector for a prepared session, and its variable for the command. From here on collect_finish must be
 * called, or the folder stays.
 * @param options  kind, subscribers, own, output, limits; the rest is set as `launch` says. `own`: for a subscriber of
 *                 rtl's own alone; with collect_nothing the command records itself: `rtl start` and `rtl stop` reach it
 *                 by this collector, and nothing is to be polled
 * @return an exit status; it has said why */
int collect_start(struct launch *launch, struct rtl_collector_options options);
/** A subscriber of the command's own: there is one at a time, and it can be given nothing; what it calls is
 *  collect_host. Functions may be NULL. */
#define COLLECT_OWN(called, on_stream, on_process, on_finish)                                      \
	{                                                                                          \
		.abi_version = RTL_ABI_VERSION, .struct_size = sizeof(struct rtl_subscriber),      \
		.name = called, .version = "1", .description = "of the command rtl",               \
		.create = collect_create, .stream = on_stream, .process_begin = on_process,        \
		.finish = on_finish                                                                \
	}
int collect_create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		   void **instance);
extern const struct rtl_host *collect_host;
/** For on_stream: notes it there, for on_finish. */
int collect_note_stream(void *instance, const struct rtl_stream_info *stream);
extern const struct rtl_stream_info **collect_streams;
extern size_t collect_stream_count;
/** One that receives nothing. */
extern const struct rtl_subscriber collect_nothing;

/* Parts of a struct child_work, of a struct collect. */

/** Delivers what there is, and sleeps if there is nothing. */
void collect_poll(void *collect);
/** Ends that sleep, or the next one. Any thread. */
void collect_wake(void *collect);
/** Delivers the rest, and completes the outputs. */
void collect_finish(struct collect *collect);
/** Whether the user sees how far that is, and that Ctrl-C ends it; takes that away, for other lines. Any thread. */
bool collect_is_stoppable(void *collect);

/** What the subscribers are told of the run ("session", "mode"); NULL: it is not known. */
void collect_set_properties(const char *id, const char *mode);

/** Delivers what is in a folder.
 * @param kind  RTL_REPLAY, RTL_RECOVER, or RTL_RECORD_RECOVER, then `subscribers` is the folder of the recording
 * @param[out] left  processes that still run; may be NULL
 * @param death_said  the user knows that the collector died; quiet: no progress is shown
 * @return an exit status; it has said why */
int collect_deliver(uint32_t kind, const char *folder, const char *subscribers, uint32_t *left,
		    bool death_said, bool quiet);
/** Replays what a source plugin reads, one trace or several as one; input: its name, NULL: the first that says
 *  it reads them. own: a subscriber of rtl's own beside the others, or NULL. */
int collect_feed(char *const *traces, size_t count, const char *input, const char *subscribers,
		 const struct rtl_subscriber *own);

/** Lets a subscriber of rtl's own look at what is in a folder, as RTL_INSPECT does, or at the begin of a file that
 *  a source reads. CLI_OK, or an exit status after a line. */
int collect_inspect(const char *path, bool is_folder, const struct rtl_subscriber *own);

/** Counts the events of a database as the statistics subscriber does, and what only it knows: whether it is
 *  still written, the work of SYCL's command groups. 0, or -1 after a line: trace_summary.c. */
int database_summarize(struct database *database, struct summary *summary);
/** What only it knows alone. */
int database_summarize_more(struct database *database, struct summary *summary);

/** Whether an output in SQLite is complete; an exit status after a line if not. NULL is fine. */
int collect_check_output(const char *database);
