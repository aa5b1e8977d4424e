/* SPDX-License-Identifier: MIT */
/*
 * sub.h: an instance of the subscriber that writes timelines.
 *
 *   plugin.c   descriptor, settings, the calls of the host, positions
 *   output.c   which file, and what may be done to it
 *
 * What it makes of events is library/timeline/event_sink.h. All of it runs on the host's thread.
 */
#pragma once

#include "event_sink.h"
#include "output_place.h"

struct sub {
	struct event_sink sink;
	char *pattern; /* of the output's name */
	bool recovers, replays;
	bool open, failed;
	bool complete; /* it is recovered, and nothing is missing */
	struct output_file output;
};

/* output.c */

/* Chooses, makes and begins the file for those names. base_ns: what times are relative to; 0: now,
 * or what a file says that is to be continued (without one it stays closed). 0 or an enum
 * rtl_error, said. */
int output_begin(struct sub *sub, const struct output_names *names, uint64_t base_ns);
/* By the suffix of a name. 0, or RTL_EINVAL, said. */
int output_format(struct sub *sub, const char *name, enum timeline_format *format);
