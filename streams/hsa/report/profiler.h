/* SPDX-License-Identifier: MIT */
/* HIP's own profiler, for those who work with it: see README.md. */
#pragma once

#include "reported.h"
#include "submitters.h"

/* Records of HIP's own profiler, as HIP has them from ROCm 7.14 on (header version 0.1; 0.2 has
 * the registers of a kernel, too): a record for each call, in slabs.
 *
 * A record is cleared when a call takes it, and filled by the call's thread. The GPU's half, and the list
 * behind it, are written without a lock by whoever learns that the work has ended: the flag comes last. */

struct gpu_work {
	uint64_t flags;
	uint64_t begin_ns, end_ns; /* HSA system clock */
	union {
		uint64_t bytes;
		const char *kernel; /* mangled; NULL: no kernel, or not known */
	};
	uint32_t count, reserved; /* in a record: of all work of the call */
	const struct gpu_work *next;
	union {
		struct {
			uint32_t grid[3], block[3]; /* the grid in blocks */
			void *args;
			uint32_t args_bytes, args_reserved;
		};
		struct {
			uint64_t src, dst;
		};
	};
	/* Of version 0.2. */
	uint32_t group_bytes, private_bytes, registers[3], valid;
	uint32_t zero[4];
};

struct hip_record {
	const char *function; /* text in HIP's image */
	uint64_t flags;
	uint64_t thread;           /* gettid; before May 2026 a hash */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: it runs */
	uint64_t stream, internal, memory[2], size;
	uint32_t number;
	uint32_t zero[11];
	struct gpu_work work;
};
_Static_assert(sizeof(struct gpu_work) == 128 && offsetof(struct gpu_work, next) == 40 &&
		       offsetof(struct gpu_work, group_bytes) == 88 &&
		       sizeof(struct hip_record) == 256 && offsetof(struct hip_record, zero) == 84,
	       "as HIP has it");

#define RECORD_HAS_WORK 1u /* in flags of a record */

static inline unsigned work_op(uint64_t flags)
{
	return flags & 7;
}

static inline unsigned work_copy_kind(uint64_t flags)
{
	return flags >> 4 & 0xf;
}

static inline uint32_t work_node(uint64_t flags)
{
	return (uint32_t)(flags >> 16 & 0xffff); /* KFD's */
}

typedef int enable_fn(uint64_t *start, uint64_t state);
typedef int disable_fn(uint64_t *end);
typedef int get_records_fn(const struct hip_record *const **slabs, size_t *slab_count,
			   size_t *slab_size, size_t *total);

/* Notes: whose the records of HIP's profiler are. When HIP has returned, the calling thread notes what it was within,
 * at the number of the call's record, where it stays. Threads: notes_add by that thread; the rest by who looks at
 * records, under look.c's lock. */

#define NOTE_KINDS 2 /* of work, in the ledger: REPORTED_DISPATCH and REPORTED_COPY */

struct note {
	struct submitter submitter;
	uint32_t grid[3]; /* work-items; 0: not known */
	uint16_t workgroup[3];
	uint8_t left_out;           /* by the user's selection: a bit for each kind */
	bool is_known;              /* how much work there is */
	uint32_t begun[NOTE_KINDS]; /* and not ended; who looks counts down */
	bool is_there;              /* release when it is complete, acquire */
};

/* By record. Written before HIP reports. Only what is used becomes memory. */
extern struct notes {
	struct note *of;
	uint64_t count;
} notes;

/* What the thread's call was within; false: there is no more room. */
static inline bool notes_add(uint64_t record, const struct note *note)
{
	if (record >= notes.count)
		return false;
	notes.of[record] = *note;
	/* Release: with the acquire in notes_find, the note is complete. */
	__atomic_store_n(&notes.of[record].is_there, true, __ATOMIC_RELEASE);
	return true;
}

/* NULL: nothing was noted of that record. */
static inline struct note *notes_find(uint64_t record)
{
	return record < notes.count && __atomic_load_n(&notes.of[record].is_there, __ATOMIC_ACQUIRE)
		       ? &notes.of[record]
		       : NULL;
}

/* ---- profiler.c ---- */

/* Written before it is enabled, but for `over`. */
struct profiler_state {
	get_records_fn *get_records;
	uintptr_t image_begin, image_end; /* HIP's, where names of functions are */
	uint64_t start;                   /* the first record */
	uint64_t memory_bytes;            /* that HIP may keep */
	bool hashed;                      /* records have no thread ids */
	bool endless;                     /* records do not tell when a call has ended */
	bool over;                        /* relaxed: no more is taken */
};

extern struct profiler_state profiler;

/* It does something that is not known: says so, and takes no more notice of it. */
void profiler_give_up(const char *why);

/* It has kept so much, which is too much: it is stopped. */
void profiler_stop_for_memory(uint64_t bytes);

static inline bool profiler_is_over(void)
{
	return __atomic_load_n(&profiler.over, __ATOMIC_RELAXED);
}

struct slabs {
	const struct hip_record *const *slabs;
	size_t count, size, total;
};

static inline bool profiler_get(struct slabs *slabs)
{
	*slabs = (struct slabs){0};
	return !profiler.get_records(&slabs->slabs, &slabs->count, &slabs->size, &slabs->total) &&
	       slabs->slabs && slabs->size;
}

/* NULL: its slab is gone, or not there yet. */
static inline const struct hip_record *record_at(const struct slabs *slabs, uint64_t number)
{
	const uint64_t slab = number / slabs->size;

	if (slab >= slabs->count)
		return NULL;
	const struct hip_record *first = __atomic_load_n(&slabs->slabs[slab], __ATOMIC_ACQUIRE);

	return first ? &first[number % slabs->size] : NULL;
}

/* Whether it has been cleared and begun. Acquire: what was written before its name. */
static inline bool record_is_begun(const struct hip_record *record)
{
	return record &&
	       (uintptr_t)__atomic_load_n(&record->function, __ATOMIC_ACQUIRE) -
			       profiler.image_begin <
		       profiler.image_end - profiler.image_begin &&
	       __atomic_load_n(&record->start_ns, __ATOMIC_RELAXED);
}

/* ---- launches.c ---- */

/* Whether a function may submit work. */
bool launches_may(const char *function);

/* What a function is to us; id: a number of its own. */
enum {
	CALL_IS_KNOWN = 1,
	CALL_SUBMITS = 2,
	CALL_IS_FOLLOWED = 4,
	CALL_WAITS = 8, /* and above: times enum report_wait */
};
unsigned launches_kind(uint32_t id, const char *function);

/* A call of the program's, of a function of that kind, has succeeded. */
void launches_note(unsigned kind, const char *function, const uint64_t *slots);

/* ---- look.c ---- */

/* Room for what is known of each record, and its note. False: there is no memory. */
bool look_init(uint64_t records);

/* At what has come since the look before; the last time at all. `noted`: calls are. */
void look_at_records(bool noted, bool last);

/* ---- graphs.c ---- */

/* How much work a launch of a graph is: its nodes are counted when it is instantiated, by HIP's own functions, as HIP's
 * records may lack some. Threads: any. A lock, for the list of what is known. */

/* The graph has become that executable. */
void graphs_note(uint64_t executable, uint64_t graph);

/* It is gone, or some of its nodes are turned off: how much it launches is not known any more. */
void graphs_forget(uint64_t executable);

/* Its kernels, and its copies and fills; false: not known. */
bool graphs_find(uint64_t executable, uint32_t *kernels, uint32_t *copies);
