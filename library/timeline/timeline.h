/* SPDX-License-Identifier: MIT */
/* timeline.h: a timeline in a file: processes (of the program, and GPUs) with tracks, tracks with slices, marks and
 * counters, flows between slices. Two writers: Chrome's JSON, which Perfetto and TraceLens read, and Perfetto's
 * protobuf.
 *
 * The order in which things are told does not matter to readers. What a timeline holds after timeline_commit it holds
 * whatever happens to its writer. A failure is kept: timeline_error. One thread. */
#pragma once

#include "file.h"
#include "lane.h"
#include "name.h"
#include "output_place.h"
#include "state.h"

enum timeline_format { TIMELINE_JSON, TIMELINE_JSON_GZ, TIMELINE_PFTRACE };

/** The suffixes that timeline_format_of knows, for a line. */
#define TIMELINE_SUFFIXES ".json, .json.gz, .pftrace"
/** By the suffix of a file's name. False: it is none of them. */
bool timeline_format_of(const char *path, enum timeline_format *format);

#define TIMELINE_MARK_SIZE 512u
/** What a file begins with, by which it is known again.
 * @param session  NULL: as far as it is the same for all
 * @return its length */
size_t timeline_mark(enum timeline_format format, const char *session,
		     char mark[TIMELINE_MARK_SIZE]);

/** look.c: what is at the path of a timeline. `session`: of this run; NULL or "": none. `state`: what is beside it, or NULL. */
enum look timeline_look(const char *path, enum timeline_format format, const char *session,
			struct state *state);

/** What kind of track a number is of; each is sorted in this order. */
enum timeline_kind {
	TIMELINE_THREAD = 1,
	TIMELINE_STARTED,   /**< ranges that another thread may stop, of a thread */
	TIMELINE_HOST,      /**< work of the runtime's on the host */
	TIMELINE_QUEUE,     /**< of a GPU: process << 32 | queue */
	TIMELINE_COPIES,    /**< of a GPU: process << 32 | direction */
	TIMELINE_GPU_OTHER, /**< of a GPU: process << 32 | queue, of other streams */
	TIMELINE_COUNTER,   /**< of a number that grows and shrinks */
};

struct timeline_lane {
	struct lane lane;
	uint32_t tid; /**< what readers tell it by, within the process */
	uint64_t uuid;
};

struct timeline_track {
	struct timeline_process *process;
	enum timeline_kind kind;
	enum lane_rule rule;
	uint64_t number, key;
	uint32_t lane_count;
	struct timeline_lane **lanes;
	const struct name *name; /**< of a counter also the reader's key, with `unit` */
	const struct name *unit;
	struct timeline_track *next; /**< of all */
};

struct timeline_process {
	struct timeline_process *next;
	uint64_t key;
	uint32_t pid;    /**< in the file */
	uint32_t number; /**< its pid, or the GPU's */
	bool is_gpu;
	uint32_t next_tid; /**< of tracks that are no threads */
	uint64_t uuid;
	char *name;
	int sort;
	struct map tracks; /* key -> struct timeline_track * */
	struct timeline_track *last;
	struct map used_tids; /* 1 */
};

enum timeline_value_kind {
	TIMELINE_UINT,
	TIMELINE_INT,
	TIMELINE_HEX, /**< an address or an id: too large for JSON's numbers in some readers */
	TIMELINE_REAL,
	TIMELINE_BOOL,
	TIMELINE_TEXT, /**< any bytes */
	TIMELINE_NAME,
	TIMELINE_TIME, /**< ns; left out by writers whose readers show it of each slice anyway */
};

/** A value of a slice; `key` comes of names_of. */
struct timeline_value {
	struct name *key;
	uint16_t kind;
	union {
		uint64_t number;
		int64_t integer;
		double real;
		struct name *name;
		const char *text;
	};
	uint32_t length; /**< of a text */
};

enum timeline_flow { TIMELINE_NO_FLOW, TIMELINE_FLOW_OUT, TIMELINE_FLOW_IN };

struct timeline_slice {
	struct name *name; /**< or NULL: text */
	const char *text;
	uint32_t text_length;
	struct name *category;
	uint64_t begin_ns, end_ns;
	bool is_mark;       /**< a moment, begin_ns */
	uint8_t flow;       /**< enum timeline_flow */
	uint32_t flow_part; /**< in: which one, from 0; out: how many */
	uint64_t flow_id;
	const struct timeline_value *values;
	uint32_t value_count;
	/** Of work, where the writer asks: the thread of its call, and when that began; NULL: not known. */
	const struct timeline_track *caller;
	uint64_t called_ns;
};

/** A stream's ledger, for the end of the file. */
struct timeline_ledger {
	const char *stream;
	struct rtl_ledger counts;
};
struct timeline_loss {
	const char *stream;
	char *cause;
	uint64_t count;
};

struct timeline;

/** What a format is written by. */
struct timeline_writer {
	size_t (*mark)(const char *session, char mark[TIMELINE_MARK_SIZE]);
	bool strict;       /**< slices of a lane nest strictly: LANE_STRICT */
	bool counts_flows; /**< it needs flow_part */
	bool tells_callers; /**< instead of flows; and submissions are slices where no call is known */
	/** The file's beginning; or NULL. `again`: of what is added to one that was left. */
	void (*begin)(struct timeline *timeline, bool again);
	void (*process)(struct timeline *timeline,
			const struct timeline_process *process); /**< or NULL */
	/** NULL: slices get no lanes. */
	void (*lane)(struct timeline *timeline, const struct timeline_track *track, uint32_t lane);
	void (*slice)(struct timeline *timeline, const struct timeline_track *track,
		      const struct timeline_lane *lane, const struct timeline_slice *slice);
	void (*counter)(struct timeline *timeline, const struct timeline_track *track,
			uint64_t time_ns, double value);
	/** What closes the file, and its length; who calls frees it. NULL: nothing does. */
	char *(*tail)(struct timeline *timeline, size_t *length);
	/** What is told of the end, before it. */
	void (*end)(struct timeline *timeline);
};

extern const struct timeline_writer timeline_json, timeline_pftrace;

struct timeline {
	const struct timeline_writer *writer; /**< NULL: by the format; else the owner's */
	struct file file;
	struct state state;
	char session[64];
	uint64_t base_ns;
	int64_t unix_ns; /**< CLOCK_REALTIME at the base; 0: not known */
	uint64_t latest_ns;
	uint64_t left_ns; /**< the latest time in what somebody has left */
	struct names names;
	struct timeline_process *processes, **last_process;
	struct timeline_track *tracks; /**< newest first */
	struct map pids;               /* in use: 1 */
	uint32_t next_gpu_pid;
	uint64_t slices;
	/* For the tail. */
	struct timeline_ledger *ledgers;
	struct timeline_loss *losses;
	size_t ledger_count, loss_count;
	const char *interrupted, *ended, *pauses; /**< of the host's properties, or NULL */
	/* For JSON that names a rank, as PyTorch's profiler does; as that. */
	bool has_rank;
	uint32_t rank;
	bool resumed;
	bool has_state;
	bool out_of_memory;
	uint32_t sequence; /**< the protobuf writer's */
};

/** Begins a timeline in an empty file, which it owns from here on.
 * @param session  of the run, or ""
 * @param can_continue  another one can, if this one dies; else it is made in one go */
bool timeline_begin(struct timeline *timeline, const char *path, int fd,
		    enum timeline_format format, uint64_t base_ns, int64_t unix_ns,
		    const char *session, bool can_continue);
/** Goes on with one that was left, by timeline->state, which has been read. */
bool timeline_continue(struct timeline *timeline, int fd, enum timeline_format format);
/** What it holds is there from here on. */
void timeline_commit(struct timeline *timeline);
/** Forgets what has been said of ledgers and losses. */
void timeline_forget_ledger(struct timeline *timeline);
/** Completes the file. */
void timeline_finish(struct timeline *timeline);
/** Gives all of it back; `done`: it is complete, or gone. */
void timeline_fini(struct timeline *timeline, bool done);
/** errno of the first failure; 0: none. */
int timeline_error(const struct timeline *timeline);

/** A process, or a GPU; found by its key. `number`: its pid, or the GPU's. NULL: out of memory. */
struct timeline_process *timeline_process(struct timeline *timeline, uint64_t key, bool is_gpu,
					  uint32_t number, const char *name, int sort);
/** A track of a process; NULL: there is none of that number. */
static inline struct timeline_track *timeline_find(struct timeline_process *process,
						   enum timeline_kind kind, uint64_t number)
{
	struct timeline_track *track = process->last;

	if (__builtin_expect(track && track->kind == kind && track->number == number, 1))
		return track;
	track = map_pointer(&process->tracks, hash_number(number) * 8 + kind);
	if (track)
		process->last = track;
	return track;
}
/** Adds a track. NULL: out of memory. */
struct timeline_track *timeline_add(struct timeline *timeline, struct timeline_process *process,
				    enum timeline_kind kind, uint64_t number, const char *name);
/** Adds one that is a counter; its name is unique in the process. */
struct timeline_track *timeline_add_counter(struct timeline *timeline,
					    struct timeline_process *process, uint64_t number,
					    const char *name, const char *unit);
/** Another name for a track that is there. */
void timeline_rename(struct timeline *timeline, struct timeline_track *track, const char *name);
/** Zeros, to be freed. NULL: out of memory, which is kept. */
void *timeline_alloc(struct timeline *timeline, size_t size);
/** A name for slices, categories and keys; NULL: out of memory, which is kept. */
struct name *timeline_intern(struct timeline *timeline, const char *text);

void timeline_slice(struct timeline *timeline, struct timeline_track *track,
		    const struct timeline_slice *slice);
/** A counter's value from then on: finite, whole up to 2^53. */
void timeline_counter(struct timeline *timeline, const struct timeline_track *track,
		      uint64_t time_ns, double value);
