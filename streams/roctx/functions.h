/* SPDX-License-Identifier: MIT */
/* Functions of roctx by name. Any thread. */
#ifndef STREAMS_ROCTX_FUNCTIONS_H
#define STREAMS_ROCTX_FUNCTIONS_H

/* Ours for a function of that name that was found there, if it is the one that ours passes on to;
 * else NULL. */
void *roctx_ours(const char *name, const void *found);

#endif
