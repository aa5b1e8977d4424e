/* SPDX-License-Identifier: MIT */
#include "interceptor.h"

#include <inttypes.h>
#include <stdio.h>

struct interceptor interceptor = {.stream = &rtl_stream_none, .copies = &rtl_stream_none};

uint64_t interceptor_string(const char *text)
{
	uint64_t id = 0;

	(void)rtl_string_intern(text, &id);
	return id;
}

void interceptor_set_number(uint64_t uid, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	(void)rtl_tracepoint_set(uid, key, text);
}

static bool take(void **entry, void *function)
{
	if (entry)
		*(void **)function = *entry;
	return entry && *entry;
}

#define MAY(table, entry, type, member)                                                            \
	(void)take(table_##table(root->table, entry), &interceptor.hsa.member);
#define MUST(table, entry, type, member)                                                           \
	if (!take(table_##table(root->table, entry), &interceptor.hsa.member))                     \
		return #member;

const char *interceptor_take_functions(struct root_table *root)
{
	HSA_FUNCTIONS(MUST, MAY)
	return NULL;
}
