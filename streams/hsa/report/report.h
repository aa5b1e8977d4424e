/* SPDX-License-Identifier: MIT */
/* The room `report`: work of GPUs as HIP itself reports it (RTL_SOURCE=runtime), asked in one of two ways, each a struct
 * report_way; see README.md. GPUs and code are followed as with queues.
 *
 * Threads of this room: the program's in calls of HIP, which submit work; HIP's own and the program's, where it ends; a
 * thread `rtl-hip` that publishes. Locks: that of what waits to be published, held for loads and stores. */
#pragma once

#include "submitters.h"

/* What find() says where HIP has nothing of the kind: another way may do. */
#define REPORT_ABSENT ""

struct report_way {
	const char *name;
	/* In hsa_init: whether HIP has it. NULL, or why it cannot be used. */
	const char *(*find)(void);
	/* Why it is not preferred to queues where the user leaves the choice; NULL: it is. */
	const char *doubt;
	/* HIP is to report from now on. False: there is no memory. */
	bool (*start)(void);
	/* NULL, or what looks for reports: rtl-hip calls it each time, and never sleeps for long; so does who awaits. */
	void (*poll)(void);
	/* What is under way gets that time to be reported. */
	void (*stop)(uint32_t timeout_ms);
	/* In the ledger: the cause of what was not reported then; of copies. */
	const char *lost, *lost_copies;
	/* In the child of a fork. */
	void (*forked)(void);
};

extern const struct report_way report_tracer, report_profiler;

/* HIP's function of that name; NULL: HIP is not in the process, or lacks it. */
void *report_find(const char *symbol);

/* For `rtl doctor`, in a process that has loaded HIP, before HSA begins: whether RTL_SOURCE=runtime
 * (is_asked) or auto would mean HIP here. Returns how HIP is asked, or why it is not. */
__attribute__((visibility("default"))) const char *rtl_publisher_source(bool is_asked,
									bool *is_runtime);

/* What the program knows when that function of HIP's has returned. */
enum report_wait {
	REPORT_NO_WAIT,
	REPORT_SOME,   /* that some work has ended */
	REPORT_STREAM, /* that all work of its stream has ended, which HIP reports soon by itself */
	REPORT_ALL,    /* the same of all streams */
};
enum report_wait report_has_waited(const char *function);
/* Publishes what has ended so, before that function returns. */
void report_await(enum report_wait wait);

/* HIP does something else than is known: says so, and takes no more notice of it. Any thread, once. */
void report_refuse(const char *why);

/* ---- callers.c ----
 *
 * Who submitted work that HIP reports later: HIP keeps a number with each command, which names an entry of this table,
 * for one call of HIP and all its work. There are RTL_HSA_SLOTS entries, used in turn. One whose work is not reported
 * yet is skipped while one of the next few is free.
 *
 * Threads: callers_take and callers_note by the thread in the call; callers_end by any.
 */

#define CALLERS_OPS 4 /* kinds of work */

/* What the call's arguments tell of its work. */
struct caller_facts {
	uint64_t src, dst, bytes;
	uint32_t grid[3]; /* work-items; 0: not known */
	uint16_t workgroup[3];
	uint64_t stream; /* that the call is for */
	uint64_t theirs; /* the call's number by the program's own tracer; 0: none */
	bool has_addresses;
	bool has_dispatches; /* that are wanted */
	bool is_behind;      /* work of its stream is under way */
};

struct caller {
	struct submitter submitter;
	struct caller_facts facts;
};

/* Makes the table. 0 or RTL_ENOMEM. */
int callers_init(uint32_t count);

/* A number for the next entry. Smaller ones are not from here. */
#define CALLERS_FIRST (1ull << 63)
uint64_t callers_take(void);

/* Fills the number's entry with what the thread is within. Work of whoever had the entry belongs to nobody then. */
void callers_note(uint64_t number, const struct caller_facts *facts);

/* One more piece of its work begins, of that kind. Number 0: work that belongs to nobody. */
void callers_begin(uint64_t number, unsigned op);

enum callers_found {
	CALLERS_NONE, /* nothing has begun under that number */
	CALLERS_LOST, /* it belongs to nobody by now */
	CALLERS_FOUND,
};

/* Some of its work of that kind has ended: *caller is whose it is, *ends whether it is a piece that has begun, not a
 * further part of one. */
enum callers_found callers_end(uint64_t number, unsigned op, struct caller *caller, bool *ends);
