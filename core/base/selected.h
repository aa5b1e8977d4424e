/* SPDX-License-Identifier: MIT */
/* What the user has selected: streams (RTL_STREAMS: fnmatch patterns separated by ':' or ',') and periods. Any
 * thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether RTL_STREAMS lets a stream through: the last matching pattern decides, '-' excludes. Without a match: yes
 * if there is no list or it begins with an exclusion. */
bool stream_list_selects(const char *name);

/* After a delay, for a duration, so many times. */
struct periods {
	uint64_t delay_ns;    /* left out at the beginning of each */
	uint64_t duration_ns; /* recorded after it; 0: from then on all */
	uint32_t repeat;      /* how many there are; 0: without end */
};

/* Whether `now_ns` is to be recorded, where they have begun at `start_ns`. *change_ns: when that
 * changes next; UINT64_MAX: never. */
bool periods_are_in(const struct periods *periods, uint64_t start_ns, uint64_t now_ns,
		    uint64_t *change_ns);
