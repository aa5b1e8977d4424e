/* SPDX-License-Identifier: MIT */
/*
 * The stream rtl.hsa.copy: its events.
 *
 * Threads: each function says whose; no locks. What is published may wait for room in a ring, but
 * for RTL_TRANSFER_BEGIN on the runtime's own thread (publish.h).
 */
#ifndef STREAMS_HSA_COPY_PUBLISH_H
#define STREAMS_HSA_COPY_PUBLISH_H

#include <rtl/stream.h>
#include <stdint.h>

struct slot;

/* Submitting thread, before the runtime is called. */
void copy_publish_begin(const struct slot *slot);

/* Harvester; the slot's times are there. Frees nothing. */
void copy_publish_end(const struct slot *slot);

/* Any thread: a synchronous one that has ended, from submit_ticks to end_ticks (rtl_ticks). The
 * slot is in no pool. */
void copy_publish_call(const struct slot *slot, uint64_t end_ticks);

#endif
