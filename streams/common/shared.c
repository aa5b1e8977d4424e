/* SPDX-License-Identifier: MIT */
#include "shared.h"

#include <rtl/publish.h>
#include <stdlib.h>
#include <string.h>

__thread struct call_context thread_context;
bool program_paused;
uint32_t program_pause_changes;
struct reports reports;
struct work_streams work_streams = {.dispatches = &rtl_stream_none, .copies = &rtl_stream_none};

/* ---- the ranges that the user wants recorded */

int outside_open;

/* The names, a copy: the program may change its environment. NULL: none. Release by whoever makes it,
 * acquire by all. */
static char *names;

static const char *find_names(void)
{
	const char *value = secure_getenv("RTL_RANGE");
	char *made = value && *value ? strdup(value) : NULL, *none = NULL;

	if (made && !__atomic_compare_exchange_n(&names, &none, made, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
		free(made);
	return __atomic_load_n(&names, __ATOMIC_ACQUIRE);
}

int outside_find_out(void)
{
	const int found = find_names() ? 1 : -1;
	int open = 0;

	/* another thread may have been first, and have opened a range since */
	return __atomic_compare_exchange_n(&outside_open, &open, found, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED)
		       ? found
		       : open;
}

/* Whether it is one of the lines. */
static bool is_line(const char *lines, const char *name, size_t length)
{
	for (const char *line = lines; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (length && strcspn(line, "\n") == length && !memcmp(line, name, length))
			return true;
	}
	return false;
}

bool outside_range_opens(const char *name, size_t length)
{
	int open = __atomic_load_n(&outside_open, __ATOMIC_RELAXED);

	if (!open)
		open = outside_find_out();
	if (open < 0 || !is_line(__atomic_load_n(&names, __ATOMIC_ACQUIRE), name, length))
		return false;
	__atomic_fetch_add(&outside_open, 1, __ATOMIC_RELAXED);
	return true;
}

void outside_range_closes(void)
{
	__atomic_fetch_sub(&outside_open, 1, __ATOMIC_RELAXED);
}
