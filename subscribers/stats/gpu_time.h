/* SPDX-License-Identifier: MIT */
/* What a GPU did from its first work to its last, and why it did nothing: each nanosecond is busy, or idle with one
 * cause. Work comes roughly in order of time.
 *
 * The newest work is kept in a window, thousands of pieces, until it is told in order of its begin: what lies between
 * two is explained by what threads of the host did (host_time.h) and by when the work was submitted. Work that comes so
 * late that all around it has been told takes the time from what was idle: exact where it covers whole stretches, else
 * at least so much is taken, and the difference to the most is `uncertain_ns`. Memory is the same whatever comes.
 *
 * Threads: one at a time. */
#pragma once

#include "host_time.h"

#define GPU_PENDING  4096u
#define GPU_WINDOW   16384u
#define GPU_CHUNKS   4096u
#define GPU_MARKS    65536u
#define PATH_ENDED   65536u
#define PATH_RUNNING 1024u

enum idle_cause {
	/* no work submitted, and the thread that then did so was */
	IDLE_OUTSIDE, /* outside of HIP; what: its innermost range */
	IDLE_CALL,    /* what: in that call of HIP */
	IDLE_WAIT,    /* what: in that call, which waits, although nothing was under way */
	IDLE_UNSEEN,  /* not recorded */
	/* work was submitted, and not started */
	IDLE_LATENCY,
	IDLE_COPY,    /* it waited, and what ended before was a copy */
	IDLE_QUEUE,   /* it waited, and what ended before was of another queue */
	IDLE_EVENT,   /* it waited, and other work overtook it */
	IDLE_GRAPH,   /* both are nodes of one launch of a graph */
	IDLE_UNKNOWN, /* nobody knows when it was submitted */
	/* no statement is possible */
	IDLE_PAUSED,
	IDLE_FILTERED,
	IDLE_LOST,
	IDLE_CAUSES,
	PATH_WORK = IDLE_CAUSES /* of a critical path, not idle: what it did */
};

/* Time that had a cause. Rows differ by all of the first three. */
struct idle_row {
	enum idle_cause cause;
	const struct host_thread *thread; /* of IDLE_OUTSIDE */
	const struct summary_group *what; /* NULL: none, or several */
	uint64_t total_ns, longest_ns, count;
};

/* All zeros is none. */
struct idle_rows {
	struct idle_row *list;
	uint32_t count;
	struct map of;
};

/** The number of the row that has it now, from 1; 0: out of memory. */
uint32_t idle_rows_add(struct idle_rows *rows, enum idle_cause cause,
		       const struct host_thread *thread, const struct summary_group *what,
		       uint64_t ns);
/** False: out of memory. */
bool idle_rows_merge(struct idle_rows *to, const struct idle_rows *from);
/** As gpu_time_close. */
void idle_rows_close(struct idle_rows *rows, enum idle_cause missing, bool calls_missing);
void idle_rows_fini(struct idle_rows *rows);

/* Causes in groups: nothing was submitted, not started, no statement. */
enum idle_group { IDLE_NOT_SUBMITTED, IDLE_NOT_STARTED, IDLE_NOT_KNOWN, IDLE_GROUPS };

static inline enum idle_group idle_group_of(enum idle_cause cause)
{
	return cause <= IDLE_UNSEEN  ? IDLE_NOT_SUBMITTED
	       : cause <= IDLE_GRAPH ? IDLE_NOT_STARTED
				     : IDLE_NOT_KNOWN;
}

#define GAP_PARTS 4u
#define GAPS_KEPT 16u

struct gap {
	uint64_t begin, end;
	/* The longest parts, longest first, by cause. */
	struct gap_part {
		uint32_t row; /* 1 is the first; 0: it has no range yet */
		const struct host_thread *thread;
		uint64_t begin, ns;
	} parts[GAP_PARTS];
};

/* The longest gaps. A gap that late work reaches into is cut; one that was forgotten before for its sake is
 * not found again. */
struct gaps {
	struct gap longest[GAPS_KEPT]; /* longest first, of equal ones that which was first */
	size_t kept;
	uint64_t count; /* of all */
};

struct gpu_work {
	uint64_t begin, end;
	uint64_t submit;      /* 0: not known */
	uint64_t stream;      /* differs from stream to stream, where streams are known */
	uint64_t correlation; /* of the call that submitted it; 0: none */
	uint64_t before; /* what it waited for, in path.ended from 1; 0: nothing that is known */
	const struct summary_group *what;
	struct host_thread *thread;
	uint32_t queue;
	bool is_copy;
	bool waits; /* when it was submitted, it had to wait for other work; false if that is not known */
	uint32_t first; /* of those from here on in the window, the one that was submitted first */
};

struct gpu_chunk {
	uint64_t end, idle_ns;
};

/* How long it had been busy and idle by then. */
struct gpu_mark {
	uint64_t time, busy_ns, idle_ns[IDLE_GROUPS];
};

/* Work for critical paths (path.c). */
struct path {
	/* The newest that have, as they did; the first is number `gone` + 1. */
	struct gpu_work ended[PATH_ENDED];
	/* Told, and not ended before what was told last: that ends last is first. */
	struct gpu_work running[PATH_RUNNING];
	size_t ended_count, running_count;
	uint64_t gone, begun; /* begin of the newest */
	struct map newest;    /* hash of process and queue or stream -> number of what ended last */
};

struct gpu_time {
	struct gpu_time *next; /* in host_time.gpus */
	struct host_time *host;
	struct gpu_work pending[GPU_PENDING];             /* as they came */
	struct gpu_work window[GPU_WINDOW + GPU_PENDING]; /* in order of begin */
	struct gpu_chunk chunks[GPU_CHUNKS];              /* what was told, in order */
	size_t pending_count, window_count, chunk_count;
	size_t chunk_works, chunk_left; /* work in a chunk; that the last one still gets */
	struct gpu_work before;         /* the one that ended last of those told */
	uint64_t first, last;           /* begin of the first, end of the last */
	uint64_t told;                  /* up to there; busy since: */
	uint64_t busy_since;
	uint64_t kernels_until, copies_until;
	uint64_t busy_ns, kernels_ns, copies_ns; /* lengths of unions */
	uint64_t idle_ns;                        /* sum of rows */
	uint64_t late_ns;                        /* of it busy after all */
	uint64_t uncertain_ns;                   /* how much too small busy_ns may be */
	struct gaps gaps;
	struct idle_rows rows;
	struct path path;
	struct idle_rows *onto; /* a path that is being told, instead of the gap: */
	struct gap gap;         /* the one that is being explained */
	/* In order, one behind each stretch of one kind; older ones are rarer. The first is where all begins. */
	struct gpu_mark marks[GPU_MARKS];
	size_t mark_count;
	size_t steps_done; /* of host_time.steps */
	bool out_of_memory;
};

/** Begins one, all zeros. It is large: memory for what comes is taken when it comes. */
void gpu_time_init(struct gpu_time *gpu, struct host_time *host);
void gpu_time_fini(struct gpu_time *gpu);
/** False: out of memory. */
bool gpu_time_add(struct gpu_time *gpu, const struct gpu_work *work);
/** Nobody asks about what the host did before that. */
uint64_t gpu_time_told(const struct gpu_time *gpu);
/** An idle piece was in that range. For host_time.c. */
void gpu_time_name_range(struct gpu_time *gpu, const struct host_thread *thread, uint64_t begin,
			 uint64_t ns, const struct summary_group *name);
/** What it did within steps that have ended is added to their ranges. all: also of what is not told yet. */
void gpu_time_take_steps(struct gpu_time *gpu, bool all);
/** Tells of the rows of a path why nothing was done from begin to end, when `work` began or was submitted; `before`:
 * what ended at the begin, or NULL. For path.c. */
void gpu_time_tell_path(struct gpu_time *gpu, struct idle_rows *rows, uint64_t begin, uint64_t end,
			const struct gpu_work *work, const struct gpu_work *before);
/** Takes work, in order of begin; UINT64_MAX: there is no more. */
void path_add(struct gpu_time *gpu, const struct gpu_work *work);
void path_end(struct gpu_time *gpu, uint64_t time_ns);
/** Adds the critical paths of steps that have ended to their ranges. all: also where work may still come. */
void path_take_steps(struct host_time *host, bool all);
/** Tells all work, once there is no more of it. False: out of memory. */
bool gpu_time_settle(struct gpu_time *gpu);
/** After that and host_time_close: rows are final. Where work is missing (IDLE_FILTERED, IDLE_LOST; else IDLE_CAUSES)
 * no statement is possible; where calls are, none of what is outside of HIP. */
void gpu_time_close(struct gpu_time *gpu, enum idle_cause missing, bool calls_missing);
/** What of idle_ns was not recorded, or of which no statement is possible. */
uint64_t gpu_time_unknown(const struct gpu_time *gpu, bool only_paused);
