/* SPDX-License-Identifier: MIT */
/*
 * Pools of contexts, whose entries are handled in the order in which they were fetched, one at a time.
 *
 * Threads: any fetch and flush; the service (dispatch.h) completes. A pool has a lock.
 */
#ifndef ROCPROFILER_POOL_H
#define ROCPROFILER_POOL_H

struct pool_entry;

/* The dispatch of an entry has ended. */
void pool_complete(struct pool_entry *entry);
/* The dispatch that it was fetched for is not counted: it can be fetched again. */
void pool_give_back(struct pool_entry *entry);

#endif
