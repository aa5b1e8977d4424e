/* SPDX-License-Identifier: MIT */
/*
 * Kernels: finds those of each executable when it is frozen, by hooks of the functions that load
 * code into executables, freeze and destroy them, and registers their tracepoints.
 *
 * Threads: the application's, on loading and unloading code. Locks: kernel_table.h's.
 */
#ifndef STREAMS_HSA_KERNELS_H
#define STREAMS_HSA_KERNELS_H

#include <stdbool.h>

struct root_table;

struct kernel;

void kernels_hook(struct root_table *root);

/* Whether some kernel of the program has that symbol. Any thread. */
bool kernels_has_name(const char *symbol);

/* The kernel of that symbol, whose address nobody knows; never NULL. Any thread. */
const struct kernel *kernels_find_named(const char *symbol);

#endif
