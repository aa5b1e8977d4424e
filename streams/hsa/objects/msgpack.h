/* SPDX-License-Identifier: MIT */
/*
 * Reads MessagePack (the format's specification: msgpack/msgpack, spec.md), as much of it as the
 * notes of code objects need. A reader moves through the bytes; the first thing that is not there,
 * or goes beyond their end, stops it for good. An object that is not of the kind asked for is left
 * where it is.
 *
 * Threads: no state but the reader's. No locks, no recursion, no memory.
 */
#ifndef STREAMS_HSA_MSGPACK_H
#define STREAMS_HSA_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msgpack {
	const unsigned char *at; /* NULL: stopped */
	const unsigned char *end;
};

/* Points into the bytes that are read. */
struct msgpack_text {
	const char *bytes;
	uint32_t length;
};

struct msgpack msgpack_at(const void *bytes, size_t size);

/* Whether it has not stopped. */
static inline bool msgpack_good(const struct msgpack *reader)
{
	return reader->at != NULL;
}

/* Where the bytes are not what they should be. */
static inline void msgpack_stop(struct msgpack *reader)
{
	reader->at = NULL;
}

/* The next object, if it is of that kind: then the reader is behind it, or behind the head of a map
 * (of so many pairs: 2 objects each) or an array. Numbers that are negative are none. */
bool msgpack_map(struct msgpack *reader, uint32_t *pairs);
bool msgpack_array(struct msgpack *reader, uint32_t *count);
bool msgpack_text(struct msgpack *reader, struct msgpack_text *text);
bool msgpack_number(struct msgpack *reader, uint64_t *number);

/* Goes behind the next object and all that is in it. */
void msgpack_skip(struct msgpack *reader);

bool msgpack_is(const struct msgpack_text *text, const char *constant);

#endif
