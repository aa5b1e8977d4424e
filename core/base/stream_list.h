/* SPDX-License-Identifier: MIT */
/* Lists of streams, as RTL_STREAMS is one: patterns (fnmatch) separated by ':' or ','. */
#ifndef RTL_CORE_STREAM_LIST_H
#define RTL_CORE_STREAM_LIST_H

#include <stdbool.h>

/* Whether RTL_STREAMS lets a stream through. A pattern with a '-' in front takes away what it
 * matches; the last that matches counts. If the first takes away, everything else is let through,
 * and so is all if there is no list. */
bool stream_list_selects(const char *name);

#endif
