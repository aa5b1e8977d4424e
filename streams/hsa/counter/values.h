/* SPDX-License-Identifier: MIT */
/*
 * From what a GPU has left in memory to the values of a pass's metrics.
 *
 * Threads: those of a GPU's plan belong to one at a time. Of dispatches that is who makes a pass over
 * the sources (harvest.h), of intervals the thread rtl-sampler. No locks.
 */
#ifndef STREAMS_HSA_COUNTER_VALUES_H
#define STREAMS_HSA_COUNTER_VALUES_H

#include "plan.h"
#include "stream.h"

/* Fills the samples of the pass's inputs. False: the library cannot tell. */
bool values_read(const struct counter_pass *pass, const void *output);

/* Takes from them what was read before. False: something is less than it was, so that somebody has
 * reset or restarted the counters meanwhile. */
bool values_subtract(const struct counter_pass *pass, const void *before);

/* Of a metric, and whether it has one. */
bool values_of(const struct counter_pass *pass, const struct counter_metric *metric, double *value);

/* Publishes the samples, for the debug stream: of a dispatch (RTL_SIGNAL) or an interval (RTL_SAMPLE). */
void values_publish_parts(const struct counter_gpu *gpu, const struct counter_pass *pass,
			  uint16_t type, const struct counter_dispatch *of);

#endif
