/* SPDX-License-Identifier: MIT */
/* Spools as processes leave them: of a child that published events and died, with streams of all kinds of fields,
 * strings, tracepoints with metadata, losses, and rings of several threads. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define REAL_STREAM "t.real"

struct real_spool {
	uint32_t events;        /* of each thread */
	uint32_t threads;       /* publishing after one another */
	uint32_t filler;        /* bytes of text in each event */
	const char *ring_bytes; /* RTL_BUFFER_SIZE; NULL: its default */
};

/* Leaves a spool in a new folder below `base`; `path` gets its name. 0 or -1. The subscriber is
 * what a collector needs to be one. */
int real_spool_make(const struct real_spool *what, const char *base, const char *subscriber,
		    char *path, size_t size);
