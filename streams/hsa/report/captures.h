/* SPDX-License-Identifier: MIT */
/*
 * Streams that are being captured into graphs: what goes to them is no work yet.
 *
 * Threads: any; relaxed, as the program orders what it does to a stream.
 */
#ifndef STREAMS_HSA_CAPTURES_H
#define STREAMS_HSA_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

/* The capture of a stream has begun, or ended. */
void captures_note(uint64_t stream, bool begins);

/* Whether that stream is captured. More than 16 at a time are not known. */
bool captures_have(uint64_t stream);

#endif
