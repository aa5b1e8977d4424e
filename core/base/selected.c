/* SPDX-License-Identifier: MIT */
#include "selected.h"

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

bool periods_are_in(const struct periods *periods, uint64_t start_ns, uint64_t now_ns,
		    uint64_t *change_ns)
{
	const uint64_t whole = periods->delay_ns + periods->duration_ns;
	const uint64_t since = now_ns > start_ns ? now_ns - start_ns : 0;
	uint64_t begin, number;
	bool in;

	*change_ns = UINT64_MAX;
	if (!periods->duration_ns) {
		if (since < periods->delay_ns)
			*change_ns = start_ns + periods->delay_ns;
		return since >= periods->delay_ns;
	}
	number = since / whole;
	if (periods->repeat && number >= periods->repeat)
		return false;
	begin = number * whole;
	in = since - begin >= periods->delay_ns;
	*change_ns = start_ns + begin + (in ? whole : periods->delay_ns);
	return in;
}
