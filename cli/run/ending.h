/* SPDX-License-Identifier: MIT */
/*
 * What is known of a run when it has ended, and why there is nothing of a GPU in its trace. It says
 * only what is known. One thread.
 */
#ifndef RTL_CLI_ENDING_H
#define RTL_CLI_ENDING_H

#include <stdbool.h>
#include <stdint.h>

struct database;
struct launch;
struct run_ledger;

struct ending {
	bool collected;        /* rtl hosted the subscribers; else met to paused are not known */
	uint32_t met, refused; /* processes with a spool; that could make none, and have said why */
	bool paused_first, paused_last; /* when the command began; when it ended */
	bool no_rocm;                   /* rtl's own collectors are not installed */
	bool xpti;                      /* --xpti */
	const char *left_out;           /* RTL_STREAMS; NULL: all streams */

	const char *selection; /* options by which the user left something out; "": none */

	bool has_trace;
	bool of_subscribers; /* known is only what these wanted, not all that was published */
	/* From the trace; 0 without one. */
	bool used_gpu;         /* the HSA runtime was there */
	bool something;        /* events of any stream */
	uint64_t operations;   /* of GPUs, recorded */
	uint64_t lost;         /* of the streams of dispatches and copies, whatever the cause */
	uint64_t cut_off;      /* of these, under way when their process ended */
	uint64_t not_selected; /* of the same streams, left out by the selection */
	char *causes;          /* of the lost: "CAUSE: N, CAUSE: N" */
};

/** What is known of that run's events, NULL: nothing; and its trace, NULL: there is none that can be asked. */
void ending_init(struct ending *ending, const struct launch *launch,
		 const struct run_ledger *ledger, struct database *database);
void ending_fini(struct ending *ending);

/** Whether there is nothing of a GPU, where there could be, or nothing at all. */
bool ending_is_empty(const struct ending *ending);
/** Says that there is nothing in the trace, or no operation of a GPU, and what is known of why. */
void ending_say(const struct ending *ending);
/** One line each if processes, or the last part, are missing in what was recorded; nothing if ending_say would say so. */
void ending_say_missing(const struct ending *ending);

#endif
