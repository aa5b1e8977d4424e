/* SPDX-License-Identifier: MIT */
/* array.h: an array that grows by one element at a time. It has room for as many as the next power of two, so how
 * many there are is all that is to be known of it. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/** The next element, whose value is not set, counted already; NULL: out of memory, and nothing has changed. `list`: a
 * pointer, NULL for none, to be freed; it may move. */
#define ARRAY_ADD(list, count)                                                                     \
	(array_has_room(&(list), (count), sizeof(*(list))) ? &(list)[(count)++] : NULL)

/** The same of an array that is emptied and filled again, and keeps its memory. made: how many there have been at once,
 * 0 at first. */
#define ARRAY_REFILL(list, count, made)                                                            \
	((count) < (made) || ARRAY_ADD(list, made) ? &(list)[(count)++] : NULL)

static inline bool array_has_room(void *list, size_t count, size_t size)
{
	void *at;

	if (count & (count - 1))
		return true;
	memcpy(&at, list, sizeof(at)); /* a pointer of another type */
	at = reallocarray(at, count ? 2 * count : 1, size);
	if (at)
		memcpy(list, &at, sizeof(at));
	return at != NULL;
}
