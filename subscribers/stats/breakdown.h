/* SPDX-License-Identifier: MIT */
/* Tables broken down by a key (`--by`), and the kernels within ranges.
 *
 * A key of a table is a section of its own, in summary_section.keys, with rows for names: these are counted in addition
 * to those of the table. A range has its name when it ends; what was submitted in it waits until then, summed up by
 * name. Work is in the innermost range of its thread, and in the kernels of a range is what its inner ones have.
 *
 * Threads: the one that calls the subscriber. */
#pragma once

#include <rtl/subscriber.h>

#include "map.h"
#include "summary.h"

#define SUMMARY_KEY 128u

struct summary_piece; /* model.h */

struct breakdown {
	struct summary *summary;
	struct map keys;                 /* hash of table and key -> struct summary_section * */
	struct map rows;                 /* hash of the table's row and key -> its row of the key */
	struct map streams;              /* hash of process and stream -> number */
	struct map names;                /* hash of process and thread or stream -> char * */
	struct map ranges, older_ranges; /* hash of process and instance -> struct range * */
	struct map within; /* hash of range or its row, and kernel -> struct summary_within * */
	struct breakdown_call *calls; /* NULL: none yet */
};

/* Where something belongs. */
struct breakdown_place {
	const struct rtl_event *event;
	const struct summary_process *process;
	uint64_t stream, range; /* range: instance */
	uint32_t tid, gpu;      /* gpu: UINT32_MAX: none is known */
	uint32_t keys;          /* bits 1 << SUMMARY_BY_X of keys that it has */
	bool has_stream, is_kernel;
	bool waits;     /* of a call, or work in a graph: the key is not known yet */
	uint64_t graph; /* its number */
};

/** False: out of memory, here and below. */
bool breakdown_add(struct breakdown *breakdown, const struct breakdown_place *place,
		   struct summary_group *what, const struct summary_piece *piece);
/** A call, known by the hash of its process and correlation, or (what NULL) work of it: whichever comes first waits for
 * the other. to: the graph's number, or the GPU's + 1; 0: not known yet. */
bool breakdown_link(struct breakdown *breakdown, uint64_t call, uint32_t to,
		    struct summary_group *what, const struct summary_piece *piece);
/** A range has ended: event has its instance. parent: that of the one around it. */
bool breakdown_name_range(struct breakdown *breakdown, const struct rtl_event *event,
			  uint64_t parent, struct summary_group *name);
/** What the program calls something, by enum rtl_roctx_kind. */
bool breakdown_set_name(struct breakdown *breakdown, const struct summary_process *process,
			uint32_t kind, uint64_t object, const char *name);
/** After the last event. */
bool breakdown_finish(struct breakdown *breakdown);
void breakdown_fini(struct breakdown *breakdown);
