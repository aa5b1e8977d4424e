/* SPDX-License-Identifier: MIT */
/* Texts that are kept together. Any thread. */
#ifndef RTL_CORE_TEXTS_H
#define RTL_CORE_TEXTS_H

#include <stddef.h>
#include <string.h>

/* Copies texts one behind the other; they then point there. NULL is an empty one. Returns the bytes that
 * it takes; `to` NULL: nothing else. */
static inline size_t texts_put(char *to, const char **texts, size_t n)
{
	size_t all = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t size = texts[i] ? strlen(texts[i]) + 1 : 1;

		if (to)
			texts[i] = memcpy(to + all, texts[i] ? texts[i] : "", size);
		all += size;
	}
	return all;
}

#endif
