/* SPDX-License-Identifier: MIT */
/* What has become of the events of a run, by stream, whatever the output is: from the host that delivered them, or from
 * a trace. One thread. */
#pragma once

#include <rtl/subscriber.h>
#include <stdio.h>

struct database;

/* Events of one stream that the user has asked for and not got: lost, or of what had not ended when the process did. */
struct run_loss {
	char *stream, *causes; /* why lost: "CAUSE: N, CAUSE: N", or "" */
	uint64_t published, lost, unfinished;
};

struct run_ledger {
	bool known;
	uint64_t delivered, left_out; /* of all streams but rtl.diagnostics */
	/* Of dispatches and copies, with what tells of kernels and GPUs. */
	uint64_t gpu_published, gpu_delivered, gpu_lost, gpu_left_out, gpu_unfinished;
	struct run_loss *losses;
	size_t loss_count;
};

/** A subscriber that receives nothing, for a collector; in its `finish` the ledger becomes known. */
extern const struct rtl_subscriber run_ledger_watch;
/** That `finish`, for another subscriber of the command's own, which calls collect_note_stream. */
int run_ledger_finish(void *instance);
/** Moves what run_ledger_watch has found; not known if it has not finished. */
void run_ledger_take(struct run_ledger *ledger);
/** The same of a trace. */
void run_ledger_read(struct run_ledger *ledger, struct database *database);
/** How many dispatches and copies were lost, and why, and how many had not ended. */
void run_ledger_say_gpu(const struct run_ledger *ledger, FILE *out);
/** Lines for each stream that lacks events; `other_streams`: but those of dispatches and copies. */
void run_ledger_say(const struct run_ledger *ledger, bool other_streams);
void run_ledger_fini(struct run_ledger *ledger);
