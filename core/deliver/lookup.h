/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints as a subscriber has looked them up. What it was given stays valid and as it was until
 * its instance is destroyed; where the metadata has changed since, it is given another one. What
 * values are is read once.
 *
 * Threads: any; lookup.lock, and under it bus.lock.
 */
#ifndef RTL_CORE_LOOKUP_H
#define RTL_CORE_LOOKUP_H

#include <pthread.h>

#include "source.h"
#include "table.h"

struct lookup {
	pthread_mutex_t lock;
	struct table answers;          /* struct answer by process and uid */
	struct rtl_metadata *metadata; /* of the look-up that is under way */
	uint32_t room;
};

void lookup_init(struct lookup *lookup);
void lookup_fini(struct lookup *lookup);
/* A tracepoint of a process; NULL: there is none, or no memory. */
const struct rtl_tracepoint *lookup_tracepoint(struct lookup *lookup, const struct source *source,
					       uint64_t uid);
/* What its events' values are; NULL: it does not say, or no memory. No lock once it is known. */
const struct rtl_values_info *lookup_values(struct lookup *lookup, const struct source *source,
					    uint64_t uid);

#endif
