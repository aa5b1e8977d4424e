/* SPDX-License-Identifier: MIT */
/* Kernels: finds those of each executable when it is frozen, by hooks of the functions that load
 * code into executables, freeze and destroy them. Their names are told, and their tracepoints registered,
 * when they run for the first time: libraries load thousands that never do.
 *
 * Threads: the application's, on loading and unloading code, and with the first dispatch of a kernel. Locks:
 * kernel_table.h's; one for kernels that run first, under which the runtime is asked of them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct root_table;

struct kernel;

void kernels_hook(struct root_table *root);

/* The kernel at that address runs for the first time. Any thread. */
void kernels_run_first(uint64_t object);

/* Whether some kernel of the program has that symbol. Any thread. */
bool kernels_has_name(const char *symbol);

/* The kernel of that symbol, whose address nobody knows; never NULL. Any thread. */
const struct kernel *kernels_find_named(const char *symbol);

/* Which kernels the user wants recorded, by their names as rtl shows them: RTL_KERNEL and RTL_EXCLUDE of rtl(1).
 *
 * Threads: read once, before there are kernels; then any. No locks. */

/* Not all kernels are wanted. Set by kernel_choice_init, before there are dispatches. */
extern bool kernel_choice_on;

/* Reads the settings, the first time. What is wrong with one is said in a line, and then it chooses
 * nothing; with RTL_STRICT=1 the process ends. */
void kernel_choice_init(void);

/* Whether dispatches of the kernel are left out. */
bool kernel_choice_leaves_out(const char *symbol);
