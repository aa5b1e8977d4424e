/* SPDX-License-Identifier: MIT */
/*
 * Streams that are being captured into graphs: what goes to them is no work yet. A stream joins a capture
 * when it waits for an event that was recorded in it.
 *
 * Threads: any; relaxed, as the program orders what it does to a stream.
 */
#ifndef STREAMS_HSA_CAPTURES_H
#define STREAMS_HSA_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

/* The capture of a stream has begun; has ended, for all that have joined it. */
void captures_begin(uint64_t stream);
void captures_end(uint64_t stream);

/* The event is recorded in the stream: in its capture, if it is in one. */
void captures_record(uint64_t event, uint64_t stream);
/* The stream waits for the event. */
void captures_wait(uint64_t stream, uint64_t event);

/* Whether that stream is captured. More than 64 streams and events at a time are not known. */
bool captures_have(uint64_t stream);

#endif
