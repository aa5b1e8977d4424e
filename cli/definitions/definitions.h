/* SPDX-License-Identifier: MIT */
/* definitions.h: finds and reads ROCm's definitions of hardware counters and makes one list (metrics.h) of them
 * for programs: the libraries in a program read neither YAML nor XML.
 *
 * Threads: any. No locks, no state. */
#pragma once

#include <stddef.h>

/** @param file YAML, XML or a list; NULL: what RTL_COUNTERS_DEFINITIONS or ROCP_METRICS names, else all that is
 *             installed, and rtl's own table behind it
 * @return the list, to be freed. NULL after a line in `message` */
char *definitions_list(const char *file, char *message, size_t size);

/** Of a list, what some counters and metrics need, on lines that end with ";": short enough to be handed to a program
 * in RTL_COUNTERS_DEFINITIONS.
 * @param names as RTL_COUNTERS has them
 * @return to be freed. NULL: out of memory */
char *definitions_needed(const char *list, const char *names);
