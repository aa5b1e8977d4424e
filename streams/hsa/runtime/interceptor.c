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

uint64_t interceptor_tracepoint(const char *kind, const char *name, const char *source,
				uint64_t hash)
{
	const struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc),
						 .kind = kind,
						 .name = name,
						 .source = source,
						 .hash = hash};
	uint64_t uid = 0;

	(void)rtl_tracepoint_register(&desc, &uid);
	return uid;
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

#define MAY(member, function, ...)                                                                 \
	(void)take(table_entry(root, ENTRY_##function), &interceptor.hsa.member);
#define MUST(member, function, ...)                                                                \
	if (!take(table_entry(root, ENTRY_##function), &interceptor.hsa.member))                   \
		return #member;

const char *interceptor_take_functions(struct root_table *root)
{
	HSA_FUNCTIONS(MUST, MAY)
	return NULL;
}

/* ---- the runtime's own thread */

uint32_t handler_thread;

static bool found(hsa_signal_value_t value, void *data)
{
	__atomic_store_n(&handler_thread, rtl_thread_id(), __ATOMIC_RELAXED);
	interceptor.hsa.signal_destroy((hsa_signal_t){(uint64_t)(uintptr_t)data});
	return false;
}

/* A signal whose condition holds already calls its handler at once. */
void handler_thread_find(void)
{
	hsa_signal_t signal;

	if (interceptor.hsa.signal_create(0, 0, NULL, &signal))
		return;
	if (interceptor.hsa.signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, found,
						 (void *)(uintptr_t)signal.handle))
		interceptor.hsa.signal_destroy(signal);
}
