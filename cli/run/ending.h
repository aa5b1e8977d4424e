/* SPDX-License-Identifier: MIT */
/* What is known of a run when it has ended, and why there is nothing of a GPU in its trace. It says only what is known.
 * One thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct database;
struct launch;
struct run_ledger;

struct ending {
	const struct launch *launch;
	const struct run_ledger *ledger; /* zeros where nothing is known */
	bool has_trace;
	bool of_subscribers; /* known is only what these wanted, not all that was published */
	/* From the trace; 0 without one. */
	bool something;        /* events of any stream */
	bool operations;       /* of GPUs: some were recorded */
	uint64_t not_selected; /* events of dispatches and copies, left out by the selection */
};

/** What is known of that run's events, NULL: nothing; and its trace, NULL: there is none that can be asked. Both
 *  stay the caller's. */
void ending_init(struct ending *ending, const struct launch *launch,
		 const struct run_ledger *ledger, struct database *database);

/** Whether there is nothing of a GPU, where there could be, or nothing at all. */
bool ending_is_empty(const struct ending *ending);
/** Says that there is nothing in the trace, or no operation of a GPU, and what is known of why. */
void ending_say(const struct ending *ending);
/** One line each if processes, or the last part, are missing in what was recorded; nothing if ending_say would say so. */
void ending_say_missing(const struct ending *ending);

/* What `rtl trace` says when its command has ended: trace_report.c. `status` as waitpid gives it. */

/** The subscribers were in this process. */
void trace_report_collected(struct launch *launch, int status);
/** They were in the command's processes. */
void trace_report_in_process(struct launch *launch, int status);
/** Takes away a trace in which there is nothing: the collector makes it before the command runs. */
void trace_remove_empty(struct launch *launch);
