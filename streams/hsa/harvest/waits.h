/* SPDX-License-Identifier: MIT */
/*
 * Waits: hooks of the functions by which a program learns that work of the GPU has finished. Before
 * one of them tells it so, what has finished is published: the process may die right after that.
 *
 * A wait first looks at the signal itself for a moment. So a wait for what is about to end does not
 * go through the runtime, which makes up for a part of what publishing takes.
 *
 * Threads: the application's, and HIP's. A look at a signal that is not complete costs a branch.
 */
#ifndef STREAMS_HSA_WAITS_H
#define STREAMS_HSA_WAITS_H

struct root_table;

/* Puts the hooks into the runtime's table, where it has these functions. */
void waits_hook(struct root_table *root);

#endif
