/* SPDX-License-Identifier: MIT */
/* What is left to be written, as a bar on the terminal, where standard error is one and it takes longer than a moment.
 * One thread, but for progress_is_shown and progress_clear. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *words; /* what is done; NULL: nothing is shown */
	const char *stops; /* what Ctrl-C does */
	uint64_t begin_ns, shown_ns;
	uint64_t most;
	bool shown; /* a bar stands there; relaxed: for a hint */
};

/** Nothing is shown where `quiet`, or where standard error is no terminal. */
void progress_init(struct progress *progress, const char *words, bool quiet);
/** So many bytes are left; 0: all is written, and the output is being completed. */
void progress_tell(struct progress *progress, uint64_t left_bytes);
/** Whether the user sees the bar, which says what Ctrl-C does. Any thread. */
bool progress_is_shown(const struct progress *progress);
/** Takes the bar away. Any thread. */
void progress_clear(struct progress *progress);
