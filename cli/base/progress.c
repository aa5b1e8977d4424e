/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host.h"

#define AFTER_NS 500000000u /* it is not shown before */
#define APART_NS 100000000u
#define WIDTH    30u

/* In one piece: others may write to the terminal as well. */
static void put(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written; /* nothing depends on it */
}

void progress_init(struct progress *progress, const char *words, bool quiet)
{
	const char *terminal = getenv("TERM"); /* which knows how to clear a line */

	progress->words = !quiet && isatty(STDERR_FILENO) && terminal && *terminal &&
					  strcmp(terminal, "dumb") != 0
				  ? words
				  : NULL;
	progress->stops = "Ctrl-C stops, `rtl recover` completes";
	progress->begin_ns = host_clock_ns(CLOCK_MONOTONIC);
	progress->shown_ns = progress->most = 0;
	/* Another thread may ask already. */
	__atomic_store_n(&progress->shown, false, __ATOMIC_RELAXED);
}

static void show(struct progress *progress, uint64_t left_bytes)
{
	const uint64_t done = progress->most - left_bytes;
	const unsigned percent = (unsigned)(done * 100 / progress->most);
	const unsigned bar = percent * WIDTH / 100;
	char text[256];

	if (left_bytes)
		snprintf(text, sizeof(text), "\r\033[Krtl: %s [%.*s%.*s] %u%%, %llu MB; %s",
			 progress->words, (int)bar, "##############################",
			 (int)(WIDTH - bar), "..............................", percent,
			 (unsigned long long)(left_bytes >> 20), progress->stops);
	else
		snprintf(text, sizeof(text), "\r\033[Krtl: %s: completing; Ctrl-C stops",
			 progress->words);
	/* before who reads the text can press Ctrl-C */
	__atomic_store_n(&progress->shown, true, __ATOMIC_RELAXED);
	put(text);
}

void progress_tell(struct progress *progress, uint64_t left_bytes)
{
	const uint64_t now = progress->words ? host_clock_ns(CLOCK_MONOTONIC) : 0;

	if (left_bytes > progress->most)
		progress->most = left_bytes;
	if (!progress->words || !progress->most || now - progress->begin_ns < AFTER_NS ||
	    (left_bytes && now - progress->shown_ns < APART_NS))
		return;
	progress->shown_ns = now;
	show(progress, left_bytes);
}

bool progress_is_shown(const struct progress *progress)
{
	return __atomic_load_n(&progress->shown, __ATOMIC_RELAXED);
}

void progress_clear(struct progress *progress)
{
	if (__atomic_exchange_n(&progress->shown, false, __ATOMIC_RELAXED))
		put("\r\033[K");
}
