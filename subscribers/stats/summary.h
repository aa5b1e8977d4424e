/* SPDX-License-Identifier: MIT */
/*
 * What the statistics subscriber and `rtl summary` have in common, so that both show the same:
 * counting durations by name, busy time by device, the ledger; printing them as a table for
 * people or as JSON for programs. This is the one header of the static library rtl_summary.
 *
 * Memory depends on the number of different names, which is bounded, not on that of events.
 *
 * Threads: one at a time. Texts given are copied.
 */
#ifndef RTL_STATS_SUMMARY_H
#define RTL_STATS_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rtl/types.h>

#include "map.h"

/** Names that a section keeps apart; the rest are counted together as SUMMARY_OTHERS. */
#define SUMMARY_GROUPS_MAX 16384u
#define SUMMARY_OTHERS     "(other names)"

/** Rows of a section in the text, if nothing else is asked for. */
#define SUMMARY_TOP 20u

/** What summaries made live and from a file have in common: titles of sections. */
#define SUMMARY_LAUNCHES "Launch latency, from the call's begin to the GPU's"
#define SUMMARY_RANGES   "Ranges"

struct summary;
struct summary_section; /* things of one kind: a table */
struct summary_group;   /* things of one name: a row */
struct summary_device;
struct summary_process;

/** NULL: out of memory, here and below. */
struct summary *summary_create(void);
void summary_destroy(struct summary *summary);

/**
 * The section of a stream's events of one kind. If there is none yet, one is made.
 * @param kind  e.g. "task"; singular, heads the column of names
 * @param title  e.g. "GPU kernels"
 */
struct summary_section *summary_section(struct summary *summary, const char *stream,
					const char *kind, const char *title);

/** The row of a name. A mangled name is shown readable. If there is no row yet, one is made while there
 * is room. */
struct summary_group *summary_group(struct summary_section *section, const char *name);

/** Counts one duration. */
void summary_group_add(struct summary_group *group, uint64_t duration_ns);
/** Counts one whose duration is not known. */
void summary_group_add_untimed(struct summary_group *group);
/** Bytes that the one counted last has moved. */
void summary_group_add_bytes(struct summary_group *group, uint64_t bytes, bool is_timed);
/** Things that were asked for and refused: they are not counted as any. */
void summary_section_add_refused(struct summary_section *section, uint64_t count);
/** The call that was counted last has failed. */
void summary_group_add_failed(struct summary_group *group);
/** Work on a GPU that is linked to no call; it is counted all the same. */
void summary_section_add_unlinked(struct summary_section *section, uint64_t count);
/**
 * One that had not ended when its process did: it is shown by itself and counted with no others.
 * @param tid  its thread
 * @param duration_ns  from its begin to the end of the process
 * @return 0, or RTL_ENOMEM
 */
int summary_section_add_open(struct summary_section *section, const char *name, uint32_t tid,
			     uint64_t duration_ns);
/** Events of the section that could not be counted: an end without its begin, or the reverse. */
void summary_section_add_unpaired(struct summary_section *section, uint64_t count);

/**
 * A cache of rows by an id (of a tracepoint, a string), never 0, so that a name is looked up
 * once. All zeros is an empty one; it forgets when it has become too large, and when memory runs
 * out.
 */
struct summary_ids {
	struct map map;
};

/** The row put there, or NULL. */
static inline struct summary_group *summary_ids_find(const struct summary_ids *ids, uint64_t key)
{
	return (struct summary_group *)(uintptr_t)map_get(&ids->map, key);
}

/** Puts a row that is not there yet. */
void summary_ids_put(struct summary_ids *ids, uint64_t key, struct summary_group *group);
void summary_ids_fini(struct summary_ids *ids);

/** A device by its number. */
struct summary_device *summary_device(struct summary *summary, uint32_t number);
/** Counts one operation on it; in whatever order, see busy.h. */
void summary_device_add(struct summary_device *device, uint64_t begin_ns, uint64_t end_ns);
/**
 * How much smaller than the truth the busy times may be because of operations that came too far
 * out of order; 0: they are exact.
 */
uint64_t summary_uncertain_ns(struct summary *summary);
/**
 * What a device is called: `key` is name, product, bus_id or uuid, as in the metadata of its
 * tracepoint (docs/sqlite.md); others are passed over. 0, or RTL_ENOMEM.
 */
int summary_device_describe(struct summary *summary, uint32_t number, const char *key,
			    const char *value);
/**
 * Looks for the longest stretches in which a device did nothing between two operations, once all of
 * these are counted. They are numbered from 0 on, longest first, those of all devices together.
 * @return 0, or RTL_ENOMEM
 */
int summary_find_gaps(struct summary *summary);
/** Whether gaps were found that an operation reached into later: others may be missing. */
bool summary_gaps_uncertain(const struct summary *summary);
/** When something happened, if it was the first: what times in the text count from. */
void summary_begins(struct summary *summary, uint64_t time_ns);

/** What a hardware counter was for the dispatches of a kernel. */
struct summary_counted {
	uint64_t count, of;    /**< dispatches with a value; all of the kernel */
	double mean, min, max; /**< of those that have one */
};

/** What a hardware counter of a GPU was in intervals. */
struct summary_sampled {
	uint32_t gpu;
	bool is_metric;     /**< an expression, which has no sum */
	uint64_t count, of; /**< intervals with a value; all of them */
	double sum, min, max;
};

/** unit NULL: none is known. 0, or RTL_ENOMEM. */
int summary_add_sampled(struct summary *summary, const char *name, const char *unit,
			const struct summary_sampled *sampled);

/** Those of a kernel come one after the other. unit NULL: none is known. 0, or RTL_ENOMEM. */
int summary_add_counter(struct summary *summary, const char *kernel, const char *name,
			const char *unit, const struct summary_counted *counted);

/** What has become of the dispatches that were to be counted. */
struct summary_count_ledger {
	uint64_t dispatches, counted, not_asked, given_up, refused;
};

/** Of a GPU and process; all are added up. */
void summary_add_count_ledger(struct summary *summary, const struct summary_count_ledger *ledger);

/** Forgets what all devices have done: to count them anew, in order. */
void summary_forget_devices(struct summary *summary);

/** What a process does. */
enum summary_deed {
	SUMMARY_KERNELS,
	SUMMARY_COPIES,
	SUMMARY_HIP_CALLS,
	SUMMARY_OTHER_CALLS,
	SUMMARY_DEEDS
};

/** The process of that key, which is the caller's choice. */
struct summary_process *summary_process(struct summary *summary, uint64_t key);
/** Texts are NULL where they are not known; rank -1: none. 0, or RTL_ENOMEM. */
int summary_process_describe(struct summary_process *process, int32_t pid, int32_t rank,
			     const char *host_name, const char *program);
void summary_process_add(struct summary_process *process, enum summary_deed deed,
			 uint64_t duration_ns);

/** What became of a stream's events. 0, or RTL_ENOMEM. */
int summary_add_ledger(struct summary *summary, const char *stream,
		       const struct rtl_ledger *ledger);
/** A cause of lost or missed events. 0, or RTL_ENOMEM. */
int summary_add_loss(struct summary *summary, const char *stream, const char *cause,
		     uint64_t count);

/** Its events are not complete yet, nor are the numbers of its ledger: the text says only what is
 *  lost, "so far". */
void summary_set_unfinished(struct summary *summary);

/** What the rows of a section are sorted by: the greatest first, names as in a dictionary. */
enum summary_sort {
	SUMMARY_BY_TOTAL,
	SUMMARY_BY_COUNT,
	SUMMARY_BY_MEAN,
	SUMMARY_BY_MIN,
	SUMMARY_BY_P50,
	SUMMARY_BY_P99,
	SUMMARY_BY_MAX,
	SUMMARY_BY_NAME,
	SUMMARY_SORTS
};

/** How to print. */
struct summary_style {
	const char *title; /**< first line; "" for none */
	/** width of lines; 0: as COLUMNS says, as the terminal, or as long as they are */
	unsigned columns;
	unsigned top; /**< rows of a section; 0: all */
	enum summary_sort sort;
};

/** Prints; errors stay in the FILE. */
void summary_print_text(struct summary *summary, FILE *file, const struct summary_style *style);
void summary_print_json(struct summary *summary, FILE *file, const struct summary_style *style);
void summary_print_csv(struct summary *summary, FILE *file, const struct summary_style *style);

/** How to compare. */
struct summary_difference {
	const char *titles[2]; /**< of before and after */
	unsigned columns;      /**< as in summary_style */
	unsigned top;          /**< rows of a section, those that changed most; 0: all */
	double least;          /**< a change by less is none: 0.02 for 2 % */
	double fail;           /**< counts rows that got slower by more; negative: none */
	bool json;
};

/**
 * Prints what has changed between two runs. A row is slower or faster where its mean has changed by
 * `least` or more and the rank-sum test says with a confidence of 99 % that its durations have.
 * @return how many rows are slower by more than `fail`; -1: out of memory
 */
int summary_print_difference(struct summary *before, struct summary *after, FILE *file,
			     const struct summary_difference *how);

/** Room for a duration as text. */
#define SUMMARY_DURATION_SIZE 16
/** Four digits and a unit that fits: "812ns", "20.57us", "1.234s". Returns text. */
const char *summary_duration(char text[SUMMARY_DURATION_SIZE], uint64_t ns);

#endif
