/* SPDX-License-Identifier: MIT */
#include "stream_list.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/stream.h>

struct entry {
	bool minus;
	char pattern[256];
};

/* The next entry of a list, which moves on; false: there is none. Ones that are too long for any
 * stream's name are left out. */
static bool next_entry(const char **list, struct entry *entry)
{
	while (*list && **list) {
		const char *begin = *list;
		size_t n = strcspn(begin, ":,");

		*list += n + (begin[n] != 0);
		entry->minus = *begin == '-';
		begin += entry->minus;
		n -= entry->minus;
		if (!n || n >= sizeof(entry->pattern))
			continue;
		memcpy(entry->pattern, begin, n);
		entry->pattern[n] = 0;
		return true;
	}
	return false;
}

bool stream_list_selects(const char *name)
{
	const char *list = secure_getenv("RTL_STREAMS");
	struct entry entry;
	bool selected;

	if (!list || !*list)
		return true;
	selected = *list == '-';
	while (next_entry(&list, &entry))
		if (!fnmatch(entry.pattern, name, 0))
			selected = !entry.minus;
	return selected;
}

bool rtl_stream_asked(const char *prefix)
{
	const char *list = secure_getenv("RTL_STREAMS");
	struct entry entry;

	while (next_entry(&list, &entry))
		if (!entry.minus && !strncmp(entry.pattern, prefix, strlen(prefix)))
			return true;
	return false;
}
