/* SPDX-License-Identifier: MIT */
/*
 * Names of the values of HIP's enumerations, as interned strings.
 *
 * Threads: any. Finding an enumeration makes its strings once, under a lock; looking up takes none.
 */
#ifndef STREAMS_HIP_ENUMERATIONS_H
#define STREAMS_HIP_ENUMERATIONS_H

#include <stdint.h>

struct hip_enumeration;

/* NULL: there is none of that type, or no memory for it. Not on a hot path. */
const struct hip_enumeration *hip_enumeration_find(const char *type);

/* The string of a value's name; 0: it has none. */
uint64_t hip_enumeration_name(const struct hip_enumeration *enumeration, int64_t value);

#endif
