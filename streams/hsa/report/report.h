/* SPDX-License-Identifier: MIT */
/*
 * The room `report`: work of GPUs as HIP itself reports it (RTL_SOURCE=runtime). No queue is
 * intercepted then, no signal touched and no copy hooked, so nothing is seen twice. GPUs and code are
 * followed as with queues.
 *
 * HIP can be asked in two ways, each of which is a struct report_way:
 *	profiler.c	the records of HIP's own profiler, if it has one
 *	tracer.c	HIP's callback for tracers, where the layout of its data is known
 * What they learn they hand to reported.h as a struct reported.
 *
 * Threads of this room: the program's in calls of HIP, where work is submitted; HIP's own and the
 * program's, where it ends; a thread `rtl-hip` that publishes.
 * Locks: that of what waits to be published, held for loads and stores.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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

/*
 * For `rtl doctor`, in a process that has loaded HIP, before HSA begins: whether RTL_SOURCE=runtime
 * (is_asked) or auto would mean HIP here. Returns how HIP is asked, or why it is not.
 */
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
