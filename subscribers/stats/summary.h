/* SPDX-License-Identifier: MIT */
/* What the statistics subscriber and `rtl summary` have in common, so that both show the same: counting durations by
 * name, busy time by device, the ledger; printing them as a table for people or as JSON for programs. This is the one
 * header of the static library rtl_summary.
 *
 * Memory depends on the number of different names, which is bounded, not on that of events.
 *
 * Threads: one at a time. Texts given are copied. */
#pragma once

#include <stdio.h>

#include <rtl/types.h>

/** Names that a section keeps apart; the rest are counted together as SUMMARY_OTHERS. */
#define SUMMARY_GROUPS_MAX 16384u
#define SUMMARY_OTHERS     "(other names)"

/** Rows of a section in the text, if nothing else is asked for. */
#define SUMMARY_TOP 20u

/** What summaries made live and from a file have in common: titles of sections. */
#define SUMMARY_LAUNCHES    "Launch latency (API call to start on the GPU)"
#define SUMMARY_RANGES      "Ranges"
#define SUMMARY_GRAPHS      "Graph launches"
#define SUMMARY_COLLECTIVES "Collectives (time on the GPU)"

struct summary;
struct summary_section; /* things of one kind: a table */
struct summary_group;   /* things of one name: a row */
struct summary_device;
struct summary_process;

/** NULL: out of memory, here and below. */
struct summary *summary_create(void);
void summary_destroy(struct summary *summary);

/** The section of a stream's events of one kind ("task"; heads the column of names); made if there is none yet. */
struct summary_section *summary_section(struct summary *summary, const char *stream,
					const char *kind, const char *title);

/** The row of a name. A mangled name is shown readable. If there is no row yet, one is made while there is room. */
struct summary_group *summary_group(struct summary_section *section, const char *name);

/** Counts one duration. */
void summary_group_add(struct summary_group *group, uint64_t duration_ns);
/** One that had not ended when its process did, so long after it began: shown by itself, counted with no others. 0, or
 *  RTL_ENOMEM. */
int summary_section_add_open(struct summary_section *section, const char *name, uint32_t tid,
			     uint64_t duration_ns);
/** A device by its number. */
struct summary_device *summary_device(struct summary *summary, uint32_t number);
/** What a device is called: `key` is name, product, bus_id or uuid, as in the metadata of its tracepoint
 *  (docs/sqlite.md); others are passed over. 0, or RTL_ENOMEM. */
int summary_device_describe(struct summary *summary, uint32_t number, const char *key,
			    const char *value);
/** Tells why devices were idle, and which gaps were the longest, of all devices together, once all is counted and the
 *  ledger is known. 0, or RTL_ENOMEM. */
int summary_explain(struct summary *summary);
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
int summary_process_describe(struct summary *summary, struct summary_process *process, int32_t pid,
			     int32_t rank, const char *host_name, const char *program);
/** What became of a stream's events. 0, or RTL_ENOMEM. */
int summary_add_ledger(struct summary *summary, const char *stream,
		       const struct rtl_ledger *ledger);
/** A cause of lost or missed events. 0, or RTL_ENOMEM. */
int summary_add_loss(struct summary *summary, const char *stream, const char *cause,
		     uint64_t count);
/** Of those that its ledger says were left out, so many would have been recorded else. 0, or RTL_ENOMEM. */
int summary_add_filtered(struct summary *summary, const char *stream, uint64_t count);

/** Events and ledger are not complete yet: the text says only what is lost, "so far". */
void summary_set_unfinished(struct summary *summary);

/** Where the address of the fault that was taken as number so many lies; NULL: not known. */
void summary_fault_memory(struct summary *summary, size_t number, const char *text);

/** Where each of several ranks was when it ended. row: lines, or NULL; an array in JSON. */
void summary_set_ranks(void *summary, const char *const *row);

/** What tables are broken down by. */
enum summary_by {
	SUMMARY_BY_NONE,
	SUMMARY_BY_RANGE,
	SUMMARY_BY_STREAM,
	SUMMARY_BY_THREAD,
	SUMMARY_BY_PROCESS,
	SUMMARY_BY_GPU,
	SUMMARY_BY_GRAPH,
	SUMMARY_BY_GROUP,
	SUMMARY_BYS
};

#define SUMMARY_ERROR 512u
/** Before anything is counted. 0, or an rtl_error, and what is wrong.
 * @param by  range, stream, ...; NULL: nothing
 * @param groups  file of patterns, for group; NULL: as RTL_GROUPS says, if anything */
int summary_set_by(struct summary *summary, const char *by, const char *groups,
		   char error[SUMMARY_ERROR]);

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
	unsigned
		columns; /**< of lines; 0: as COLUMNS says, as the terminal, or as long as they are */
	unsigned top;    /**< rows of a section; 0: all */
	enum summary_sort sort;
};

/** Prints; errors stay in the FILE. */
void summary_print_text(struct summary *summary, FILE *file, const struct summary_style *style);
void summary_print_json(struct summary *summary, FILE *file, const struct summary_style *style);

/** How to compare. */
struct summary_difference {
	/** The runs of each side, and the names of their traces. */
	struct summary **runs[2];
	const char *const *titles[2];
	size_t count[2];
	const char *only; /**< kind of the sections that are compared; NULL: all */
	unsigned columns; /**< as in summary_style */
	unsigned top;     /**< rows of a section, those that changed most; 0: all */
	double least;     /**< a change by less is none: 0.02 for 2 % */
	double fail;      /**< counts rows that got slower by more; negative: none */
	bool json;
};

/** Prints what has changed between runs. A row is slower or faster where its mean has changed by `least` or more and
 * that is no chance (Student's t-test of the means of runs): 0.1 % for all rows together. Of one run of each side only
 * kernels are, whose times do not overlap.
 * @return how many rows are slower by more than `fail`; -1: out of memory */
int summary_print_difference(FILE *file, const struct summary_difference *how);

#define SUMMARY_DURATION_SIZE 16
/** Four digits and a unit that fits: "812ns", "20.57us", "1.234s". Returns text. */
const char *summary_duration(char text[SUMMARY_DURATION_SIZE], uint64_t ns);
