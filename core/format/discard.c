/* SPDX-License-Identifier: MIT */
#include "discard.h"

const char *const discard_texts[SPOOL_DISCARD_CAUSES] = {
	[SPOOL_DISCARD_FULL] = "the ring was full",
	[SPOOL_DISCARD_NO_RING] = "no ring for the thread",
	[SPOOL_DISCARD_REENTRANT] = "from a signal handler that interrupted rtl",
	[SPOOL_DISCARD_TOO_LARGE] = "payload too large",
	[SPOOL_DISCARD_DEPTH] = "inline callbacks nested too deep",
	[SPOOL_DISCARD_MALFORMED] = "not as its stream describes it",
	[SPOOL_DISCARD_COLLECTOR_DIED] = "the collector died, and the buffers were full",
	[SPOOL_DISCARD_STALLED] = "the collector or a subscriber did not get on",
};

const char *const left_out_texts[SPOOL_LEFT_OUT_CAUSES] = {
	[RTL_LEFT_OUT_KERNEL] = "a kernel that was not asked for",
	[RTL_LEFT_OUT_PERIOD] = "outside of the periods",
	[RTL_LEFT_OUT_RANGE] = "outside of the ranges",
	[SPOOL_LEFT_OUT_OLDER] = "older than what is kept",
};
