/* SPDX-License-Identifier: MIT */
/* The inside of struct summary, for summary.c and the two printers. */
#pragma once

#include <inttypes.h>
#include <rtl/events.h>

#include "gpu_time.h"
#include "histogram.h"
#include "summary.h"

/* Memory of zeros that ends with the summary, and a copy there. NULL: out of memory. */
void *summary_alloc(struct summary *summary, size_t size);
char *summary_copy(struct summary *summary, const char *text);

/* One that is counted. */
struct summary_piece {
	uint64_t ns, bytes;
	bool timed, failed;
};

/* How long a kernel ran in ranges of a name. */
struct summary_within {
	struct summary_within *next;
	struct summary_group *what;
	uint64_t ns;
	struct summary_group *row; /* of a range that has not ended: for its key; NULL: none */
};

/* The call that captured or added a node. */
struct summary_origin {
	const char *function; /* NULL: not known */
	uint32_t tid;         /* 0: not known */
	const struct summary_group *const
		*range; /* the innermost; there NULL: not known. NULL: none */
};

/* Of a collective whose ranks have all come: how far apart, and who came last. */
struct summary_skew {
	uint64_t count, ns, max_ns;
	int32_t ranks;
	struct {
		uint64_t count, ns; /* that it was the last one, and the first one had to wait */
	} late[];                   /* of a rank */
};

struct summary_group {
	struct summary_section *section;
	uint64_t failed;  /* of those counted */
	uint64_t untimed; /* operations without a duration */
	uint64_t count;   /* with one */
	uint64_t total_ns, min_ns, max_ns;
	uint64_t bytes, timed_bytes;            /* moved by all, and by those with a duration */
	uint64_t busy_ns, idle_ns[IDLE_GROUPS]; /* of GPUs, while they lasted */
	struct summary_group *launches; /* of a kernel: the row of its latencies; NULL: none yet */
	/* Of a node of a graph: its kernel's row, and the gaps before it. */
	const struct summary_group *node_of;
	uint64_t gaps, gap_ns;
	uint64_t path_ns;                    /* of a node, on critical paths */
	const struct summary_origin *origin; /* of a node; NULL: not known */
	struct idle_rows path;               /* of a range or a graph: its critical paths */
	double bus; /* of a collective: its bus bandwidth is its rate times this; else 0 */
	struct summary_skew *skew;     /* NULL: ranks are not known */
	bool submits;                  /* some calls of it have submitted work */
	int is_collective;             /* a kernel of RCCL; -1: not one, 0: not known yet */
	struct summary_graph *graph;   /* whose launches these are, or NULL */
	struct summary_part *parts;    /* of a range */
	struct summary_within *within; /* of a range: what was submitted in it */
	struct histogram histogram;
	char name[];
};

struct summary_section;
/* A row that is not in its section. NULL: out of memory. */
struct summary_group *summary_group_create(struct summary_section *section, const char *name);
void summary_group_destroy(struct summary_group *group);
void summary_group_add_piece(struct summary_group *group, const struct summary_piece *piece);
/* False: out of memory. */
bool summary_group_merge(struct summary_group *to, const struct summary_group *from);
/* Of pointers to them, for qsort: longest total first. */
int summary_compare_groups(const void *a, const void *b);
/* What is in the n-th place of its groups.capacity; NULL: none. */
struct summary_group *section_group_at(const struct summary_section *section, size_t n);

/* Those of a range that have ended in one process. */
struct summary_part {
	struct summary_part *next;
	struct summary_group *range;
	const struct summary_process *process; /* NULL: too many others */
	uint64_t count, total_ns;
	struct idle_rows path;
};

/* Those with the greatest means first, of count; to be freed. NULL: fewer than two processes, or out of memory. */
const struct summary_part **summary_parts(const struct summary_group *range, size_t *count);

/* One that had not ended when its process did. */
struct summary_open {
	char *name;
	uint64_t duration_ns;
	uint32_t tid;
};

/* So many of them are told by name, those that had begun first. */
#define SUMMARY_OPEN_SHOWN 8u

struct summary_section {
	struct summary_section *next;
	struct summary *summary;
	char *stream, *kind, *title;
	uint64_t unpaired;
	uint64_t refused;
	uint64_t unlinked;
	uint64_t open_count;
	struct summary_open open[SUMMARY_OPEN_SHOWN]; /* longest first */
	bool has_bytes;                               /* its things move bytes */
	struct hash groups;                           /* pointers to them, by name */
	struct summary_section *keys; /* broken down by them: title is the key's name */
	size_t key_count, key_rows;
};

struct summary_device {
	struct summary_device *next;
	uint32_t number;
	uint64_t kernels, copies;
	struct gpu_time time;
};

enum device_text { DEVICE_NAME, DEVICE_PRODUCT, DEVICE_BUS_ID, DEVICE_UUID, DEVICE_TEXTS };

/* What a device is called; NULL: not known, "": not the same in all processes. */
struct summary_device_name {
	struct summary_device_name *next;
	uint32_t number;
	char *texts[DEVICE_TEXTS];
};

struct summary_loss {
	struct summary_loss *next;
	uint64_t count;
	char cause[];
};

struct summary_stream {
	struct summary_stream *next;
	struct rtl_ledger ledger;
	uint64_t filtered;   /* of those left out, what was in time that was recorded */
	uint64_t unfinished; /* of those missed, what had not ended when its process did */
	struct summary_loss *losses;
	char name[];
};

struct summary_gap {
	const struct summary_device *device;
	const struct gap *is;
};

struct summary_process {
	struct summary_process *next;
	uint64_t key;
	int32_t pid;
	int32_t rank;       /* -1: none */
	uint32_t processes; /* in one that stands for a rank */
	char *host_name, *program;
	struct summary_deeds {
		uint64_t count, total_ns;
	} deeds[SUMMARY_DEEDS];
};

/* Those that did something, by rank, host and pid, to be freed; texts are the summary's. 0, or RTL_ENOMEM. */
int summary_list_processes(const struct summary *summary, struct summary_process **list,
			   size_t *count);
/* Makes one of the processes of each rank; those without one go. How many are left. */
size_t summary_join_ranks(struct summary_process *list, size_t count);

/* What a hardware counter was, of dispatches of a kernel, or (kernel NULL) of a GPU in intervals. */
struct summary_counter {
	struct summary_counter *next;
	const char *kernel, *name, *unit;
	bool is_metric; /* an expression, which has no sum */
	uint32_t gpu;
	uint64_t count, of; /* with a value; all */
	double sum, min, max;
};

/* What the runtime has reported of a GPU or a queue. The first ones are kept. */
#define SUMMARY_FAULTS_KEPT 8u

struct summary_fault {
	struct rtl_hsa_fault is;
	int32_t pid;
	char *reason;
	const char *memory; /* where the address lies; NULL: not known */
};

struct summary {
	struct memory *memory; /* of summary_alloc */
	/* Lists in the order in which they are shown; devices by number. */
	struct summary_section *sections;
	struct summary_device *devices;
	struct summary_device_name *device_names; /* also of those that have done nothing */
	struct summary_stream *streams;
	struct summary_process *processes;
	struct summary_counter *counters; /* of kernels first */
	struct rtl_hsa_counter_ledger count_ledger;
	struct host_time host;
	struct summary_gap *gaps; /* longest first; NULL: not looked for */
	size_t gap_count;
	bool unfinished;
	enum summary_by by;
	struct summary_pattern *patterns; /* of groups, the user's */
	char *ended; /* how the command did: "with status 0"; NULL: not known */
	struct summary_fault faults[SUMMARY_FAULTS_KEPT];
	size_t fault_count;       /* of all */
	char *ranks, *ranks_json; /* summary_set_ranks */
};

/* A section, ready to be printed. */
struct summary_view {
	struct summary_group **groups; /* sorted; to be freed */
	size_t count;
	uint64_t total_ns;
	uint64_t operations; /* untimed ones included */
	uint64_t untimed;
};

/* Launches of a graph that have the same nodes, which are in the order of the first launch. */
struct summary_graph {
	uint64_t number, variant; /* a variant has other nodes */
	uint64_t executable;      /* the hipGraphExec_t; 0: not known */
	int32_t pid;
	struct summary_view nodes;
	struct summary_group *groups[]; /* of that view */
};

/* Of a section with keys: what its things were in all, and their names; shares are of the section. */
struct summary_key {
	struct summary_group *all;
	struct summary_view view;
};

/* What the summary is broken down by, such as "gpu"; NULL: nothing. */
const char *summary_by_name(const struct summary *summary);
/* Longest total first; to be freed by the other one. */
struct summary_key *summary_keys(const struct summary_section *section, enum summary_sort sort,
				 size_t *count);
void summary_keys_free(struct summary_key *keys, size_t count);

#define SUMMARY_WITHIN_SHOWN 3u
/* Kernels within ranges, those with the greatest shares of total_ns. Returns how many. */
size_t summary_top_within(const struct summary_group *range, uint64_t *total_ns,
			  const struct summary_within *top[SUMMARY_WITHIN_SHOWN]);

/* Adds the rows of all sections, or only sees to it that there are rows of their names. 0, or RTL_ENOMEM. */
int summary_merge_sections(struct summary *to, const struct summary *from, bool only_names);

/* 0, or RTL_ENOMEM. */
int summary_view(const struct summary_section *section, enum summary_sort sort,
		 struct summary_view *view);

/* A quantile of a group's durations; its exact minimum and maximum bound it. */
uint64_t summary_group_quantile(const struct summary_group *group, double share);

/* Bytes that a group's things moved for each ns that they took, which is GB/s. */
double summary_group_rate(const struct summary_group *group);

/* enum device_text as the key of a tracepoint's metadata. */
const char *summary_device_key(unsigned which);
/* NULL: not known. */
const char *summary_device_text(const struct summary *summary, uint32_t number, unsigned which);

/* A row of a table in the text: cells of numbers, and last a name, which gets the rest of the line. NULL: none. */
#define SUMMARY_CELLS 16u
#define SUMMARY_CELL  96u
struct summary_row {
	char cells[SUMMARY_CELLS][SUMMARY_CELL];
	const char *name;
};

struct summary_table {
	unsigned columns; /* of lines: as summary_line_width has it */
	bool is_close;    /* one blank between cells, not two */
	unsigned left;    /* bits: cells that begin at the left */
	/* Cells that are left out where lines are too short, these first. */
	const uint8_t *dispensable;
	size_t dispensable_count;
};
#define SUMMARY_DISPENSABLE(cells) .dispensable = (cells), .dispensable_count = sizeof(cells)

__attribute__((format(printf, 2, 3))) void summary_set(char cell[SUMMARY_CELL], const char *format,
						       ...);
/* A duration in 3 or 4 digits. */
void summary_set_ns(char text[SUMMARY_DURATION_SIZE], uint64_t ns, int digits);
void summary_set_share(char cell[SUMMARY_CELL], uint64_t part, uint64_t whole);
/* The first row has the headings. A column in which nothing else is is not shown. */
void summary_print_table(FILE *file, const struct summary_row *rows, size_t count,
			 const struct summary_table *table);
/* How wide lines of text are. 0 takes COLUMNS, else the terminal's width, else what they need. */
unsigned summary_line_width(FILE *file, unsigned asked);
/* Prints bytes; what would upset a terminal becomes '?'. */
void summary_print_bytes(FILE *file, const char *text, size_t length);
/* A name for a line that has `others` bytes beside it; to be freed. NULL: out of memory. */
char *summary_cut_name(const char *name, unsigned columns, unsigned others);
/* What heads the column of names. */
const char *summary_name_heading(const struct summary_section *section);

/* What a cause is called in JSON. */
const char *summary_cause_key(enum idle_cause cause);
/* Rows as they are shown, longest first; to be freed. None: out of memory, too. */
struct idle_row *summary_idle_rows(const struct idle_rows *rows, size_t *count);
/* Tables of the text beside those of sections (print_tables.c). */
void summary_print_idle(FILE *file, const struct summary *summary, unsigned columns, unsigned top);
/* What GPUs did within ranges. */
void summary_print_steps(FILE *file, const struct summary *summary,
			 const struct summary_section *ranges, unsigned columns,
			 const struct summary_style *style);
void summary_print_processes(FILE *file, const struct summary *summary, unsigned columns,
			     unsigned top);

void summary_print_counters(FILE *file, const struct summary *summary, unsigned columns,
			    unsigned top);
struct json;
void summary_print_counters_json(struct json *json, const struct summary *summary, unsigned top);

/* Events of a stream that are not in the summary. */
uint64_t summary_stream_lost(const struct summary_stream *stream);
