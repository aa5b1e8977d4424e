/* SPDX-License-Identifier: MIT */
/* The periods in which the user wants things recorded: after a delay, for a duration, so many times. No
 * state, any thread. */
#ifndef RTL_CORE_PERIODS_H
#define RTL_CORE_PERIODS_H

#include <stdbool.h>
#include <stdint.h>

struct periods {
	uint64_t delay_ns;    /* left out at the beginning of each */
	uint64_t duration_ns; /* recorded after it; 0: from then on all */
	uint32_t repeat;      /* how many there are; 0: without end */
};

/* Whether `now_ns` is to be recorded, where they have begun at `start_ns`. *change_ns: when that
 * changes next; UINT64_MAX: never. */
bool periods_are_in(const struct periods *periods, uint64_t start_ns, uint64_t now_ns,
		    uint64_t *change_ns);

#endif
