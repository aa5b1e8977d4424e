/* SPDX-License-Identifier: MIT */
/*
 * Memory that the application allocates and releases: the stream rtl.hsa.mem.
 *
 * Once the hooks are there, allocations are kept track of whether or not somebody listens, so
 * that releases know their sizes and the running totals are right when somebody does.
 *
 * Threads: memory_register and memory_hook in OnLoad; hooks on any. One lock, for the table of
 * what is allocated and the totals; the calls that it is taken around talk to the driver.
 */
#ifndef STREAMS_HSA_MEMORY_H
#define STREAMS_HSA_MEMORY_H

#include <rtl/types.h>

struct root_table;

/* Registers the stream if the mode, or RTL_STREAMS, asks for memory. Before memory_hook. */
void memory_register(void);

/* Hooks the functions, if the stream is registered; before calls_hook. */
void memory_hook(struct root_table *root);

/* The runtime has ended: so has its memory. */
void memory_forget(void);

#endif
