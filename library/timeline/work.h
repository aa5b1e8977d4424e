/* SPDX-License-Identifier: MIT */
/* work.h: what programs and GPUs do, as a timeline shows it: which process and track each thing is on, what it is
 * called, its values, its flow from the call that caused it; and whether it is selected. One thread.
 *
 * Categories and keys are those by which TraceLens reads traces (hip_api, kernel_dispatch, memory_copy; corr_id,
 * begin_ns, grid_size...). */
#pragma once

#include <rtl/events.h>

#include "timeline.h"

/** Keys of values: X(name of the constant, text). */
#define WORK_EACH_KEY(X)                                                                           \
	X(CORR_ID, "corr_id")                                                                      \
	X(BEGIN_NS, "begin_ns")                                                                    \
	X(END_NS, "end_ns")                                                                        \
	X(DELTA_NS, "delta_ns")                                                                    \
	X(AGENT, "agent")                                                                          \
	X(QUEUE, "queue")                                                                          \
	X(STREAM_ID, "stream_ID")                                                                  \
	X(STREAM, "stream")                                                                        \
	X(GRID_SIZE, "grid_size")                                                                  \
	X(WORKGROUP_SIZE, "workgroup_size")                                                        \
	X(GRID, "grid")                                                                            \
	X(WORKGROUP, "workgroup")                                                                  \
	X(VGPRS, "VGPR_Count")                                                                     \
	X(AGPRS, "Accum_VGPR_Count")                                                               \
	X(SGPRS, "SGPR_Count")                                                                     \
	X(LDS, "LDS_Block_Size")                                                                   \
	X(SCRATCH, "Scratch_Size")                                                                 \
	X(SUBMIT_NS, "submit_ns")                                                                  \
	X(TID, "submit_tid")                                                                       \
	X(PACKET, "packet")                                                                        \
	X(RANGE, "range")                                                                          \
	X(COPY_BYTES, "copy_bytes")                                                                \
	X(SRC_AGENT, "src_agent")                                                                  \
	X(DST_AGENT, "dst_agent")                                                                  \
	X(SRC, "src")                                                                              \
	X(DST, "dst")                                                                              \
	X(KIND, "kind")                                                                            \
	X(STATUS, "status")                                                                        \
	X(RESULT, "result")                                                                        \
	X(ARGUMENTS, "arguments")                                                                  \
	X(STREAM_NAME, "stream_name")                                                              \
	X(ID, "id")                                                                                \
	X(UNFINISHED, "unfinished")                                                                \
	X(CUT, "cut")                                                                              \
	X(END_TID, "end_tid")                                                                      \
	X(BYTES, "bytes")                                                                          \
	X(ADDRESS, "address")                                                                      \
	X(IN_USE, "in_use_bytes")                                                                  \
	X(NO_TIME, "no_time")                                                                      \
	X(BANDWIDTH, "memory bandwidth (GB/s)")

#define WORK_KEY(key, text) WORK_##key,
enum work_key { WORK_EACH_KEY(WORK_KEY) WORK_KEYS };
#undef WORK_KEY

enum work_category {
	WORK_KERNEL,
	WORK_COPY,
	WORK_FILL,
	WORK_HOST_COPY, /**< one that no GPU does */
	WORK_HIP,
	WORK_HSA,
	WORK_MARKER,
	WORK_MEMORY,
	WORK_CATEGORIES
};

/* Flows that are counted at once, a power of two: what a call causes comes close together. */
#define WORK_FLOWS 8192u

/* Values of one slice, streams' fields included. */
#define WORK_VALUES 320u

struct work_gpu {
	struct work_gpu *next;
	uint32_t node;
	struct name *agent; /**< "Agent 1" */
	uint64_t host;
	struct timeline_process *process;
};

struct work_process {
	struct work_process *next;
	uint64_t key;
	uint32_t number; /* small, from 1 */
	int32_t pid;
	uint64_t host; /* hash of its name */
	struct timeline_process *process;
	struct work_gpu *last_gpu;
	struct map streams; /* hipStream_t -> number + 1 */
	uint32_t next_stream;
};

/** What is shown, of what all processes that are shown did: all zeros is all. */
struct work_selection {
	uint64_t from_ns,
		to_ns;    /**< what ended before, what began then or later is not; 0: no limit */
	const char *name; /**< a pattern, as fnmatch takes it */
	bool has_gpu;     /**< of what GPUs do, what that one does */
	uint32_t gpu;
	uint64_t count; /**< of what was selected */
};

struct work {
	struct timeline *timeline;
	struct work_selection
		*selection; /**< set by the owner after work_init; NULL: all is shown */
	bool counters;
	bool has_gpu_0; /**< set by the owner: GPUs are counted from 0, not as KFD's nodes */
	bool is_kineto; /**< see work_use_kineto_names */
	struct name *keys[WORK_KEYS], *categories[WORK_CATEGORIES];
	struct name *directions[6], *kinds[5];
	struct work_process *processes, **last_process;
	uint32_t process_count;
	struct work_gpu *gpus;
	uint64_t first_host;
	/* The newest flows, by their hash: how many operations of each have come. */
	struct work_flow {
		uint64_t id;
		uint32_t parts;
	} flows[WORK_FLOWS];
	struct timeline_value values[WORK_VALUES];
	uint32_t value_count;
};

/** A kernel, as its tracepoint tells of it. */
struct work_kernel {
	struct name *name;
	bool has_registers;
	uint32_t vgprs, agprs, sgprs;
};

/** False: out of memory. */
bool work_init(struct work *work, struct timeline *timeline, bool counters);
/** Uses the names of PyTorch's profiler (Kineto), by which HolisticTraceAnalysis reads traces: before
 *  anything is told. False: out of memory. */
bool work_use_kineto_names(struct work *work);
/** Whether that is selected, which is counted. gpu NULL: no GPU does it. */
bool work_fits(struct work_selection *selection, const uint32_t *gpu, const char *name,
	       uint64_t begin_ns, uint64_t end_ns);
/** The same of a slice. */
bool work_selects(struct work *work, const uint32_t *gpu, const struct timeline_slice *slice);
/** What copies of that direction (enum rtl_hsa_copy_direction) are called, as rocprofv3 does. */
const char *work_direction_name(uint32_t direction);
void work_fini(struct work *work);

/** A process of a program; found by its key, which no other process has. NULL: out of memory. */
struct work_process *work_process(struct work *work, uint64_t key, int32_t pid, const char *program,
				  const char *host_name);
/** The GPU of that KFD node, with its name once that is known (NULL: not yet). */
struct work_gpu *work_gpu(struct work *work, struct work_process *process, uint32_t node,
			  const char *name);
/** What rocprofv3 calls the agent of that node: "Agent 1". */
struct name *work_agent(struct work *work, uint32_t node);
void work_name_thread(struct work *work, struct work_process *process, uint32_t tid,
		      const char *name);

void work_dispatch(struct work *work, struct work_process *process,
		   const struct rtl_hsa_dispatch *dispatch, const struct work_kernel *kernel,
		   uint64_t correlation);
void work_copy(struct work *work, struct work_process *process, const struct rtl_hsa_copy *copy,
	       uint64_t correlation);
/** A slice with the values that work_value has added since work_begin_values. track NULL: out of memory. */
void work_slice(struct work *work, struct timeline_track *track, struct timeline_slice *slice);

static inline void work_begin_values(struct work *work)
{
	work->value_count = 0;
}

/** Its times as values. */
void work_add_times(struct work *work, const struct timeline_slice *slice);
/** Room for one more value; the last one is overwritten where there are too many. */
static inline struct timeline_value *work_value(struct work *work, struct name *key,
						enum timeline_value_kind kind)
{
	struct timeline_value *value = &work->values[work->value_count];

	work->value_count += work->value_count + 1 < WORK_VALUES;
	value->key = key;
	value->kind = (uint16_t)kind;
	return value;
}

static inline void work_add(struct work *work, enum work_key key, enum timeline_value_kind kind,
			    uint64_t number)
{
	work_value(work, work->keys[key], kind)->number = number;
}

/** The track of a thread; NULL: out of memory. */
struct timeline_track *work_thread(struct work *work, struct work_process *process, uint32_t tid);
/** A track of a GPU for something of a queue, or of that number; `what` is NULL for dispatches. */
struct timeline_track *work_gpu_track(struct work *work, struct work_process *process,
				      struct work_gpu *gpu, enum timeline_kind kind,
				      uint32_t number, const char *what);
/** What of the same call goes together. */
static inline uint64_t work_flow_id(const struct work_process *process, uint64_t correlation)
{
	return hash_number(process->key) ^ hash_number(correlation);
}
