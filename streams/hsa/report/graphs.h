/* SPDX-License-Identifier: MIT */
/*
 * How much work a launch of a graph is: its nodes are counted when it is instantiated, by HIP's own
 * functions, as HIP's records may leave some out.
 *
 * Threads: any. graphs_note and graphs_forget, which are rare, take a lock.
 */
#ifndef STREAMS_HSA_GRAPHS_H
#define STREAMS_HSA_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

/* The graph has become that executable. */
void graphs_note(uint64_t executable, uint64_t graph);

/* It is gone, or some of its nodes are turned off: how much it launches is not known any more. */
void graphs_forget(uint64_t executable);

/* Its kernels, and its copies and fills; false: not known. */
bool graphs_find(uint64_t executable, uint32_t *kernels, uint32_t *copies);

#endif
