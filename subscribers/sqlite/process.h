/* SPDX-License-Identifier: MIT */
/* process.h: what is known of a process that events come from. The host's thread. */
#ifndef RTL_SQLITE_PROCESS_H
#define RTL_SQLITE_PROCESS_H

#include <rtl/subscriber.h>
#include <stdbool.h>
#include <stdint.h>

#include "map.h"

struct queue;

/* A process that events come from. */
struct process {
	struct process *next;
	const struct rtl_process *info;
	uint32_t number;      /* in the database */
	uint32_t host_number; /* in the host */
	int32_t pid;
	bool ended;
	/* Its rows of rocpd_api: where it begins and ends. */
	int64_t span_id, span_end_id;
	uint64_t span_start_ns, span_end_ns;
	bool span_changed;
	struct map uids;         /* tracepoints that have a row: see tracepoints.c */
	struct map kernels;      /* tracepoint -> id of the name */
	struct map kernel_names; /* host's string -> id of the name */
	struct map gpus;         /* KFD node + 1 -> number in rocpd_op + 1, where these differ */
	struct map queues;       /* number -> struct queue * */
	struct queue *last_queue;
};

#endif
