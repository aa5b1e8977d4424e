/* SPDX-License-Identifier: MIT */
/* What processes that drained themselves have left behind when they were killed. Threads: under the
 * bus's start lock. */
#ifndef RTL_CORE_LEFTOVERS_H
#define RTL_CORE_LEFTOVERS_H

/* Says in one line that there are some in the folder that holds our own spool, of this user; each
 * is mentioned once. */
void leftovers_mention(const char *own_spool);

#endif
