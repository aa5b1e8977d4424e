/* SPDX-License-Identifier: MIT */
#include "enumeration.h"

#include <pthread.h>
#include <rtl/tracepoint.h>
#include <stdlib.h>
#include <string.h>

#include "../common/threads.h"

struct call_enumerator {
	int64_t value;
	uint64_t name;
};

/* Takes "value=name" off the list. */
static bool take_value(const char **list, struct call_enumerator *out)
{
	const size_t length = strcspn(*list, ";");
	char name[256];
	char *end;

	out->value = strtoll(*list, &end, 10);
	const size_t name_length = length - (size_t)(end + 1 - *list);

	if (*end != '=' || name_length >= sizeof(name))
		return false;
	memcpy(name, end + 1, name_length);
	name[name_length] = '\0';
	*list += length + ((*list)[length] == ';');
	return !rtl_string_intern(name, &out->name);
}

STATIC_LOCK(lock); /* of who makes one */

/* Under the lock. */
static bool make(struct call_enumeration *enumeration)
{
	const char *list = enumeration->values;
	struct call_enumerator *enumerators;
	uint32_t count = 1;

	for (const char *at = list; *at; at++)
		count += *at == ';';
	enumerators = calloc(count, sizeof(*enumerators));
	if (!enumerators)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!take_value(&list, &enumerators[i])) {
			free(enumerators);
			return false;
		}
	}
	enumeration->enumerators = enumerators;
	/* release: a child that was forked meanwhile, and who looks up, find it complete */
	__atomic_store_n(&enumeration->count, count, __ATOMIC_RELEASE);
	return true;
}

bool call_enumeration_prepare(struct call_enumeration *enumeration)
{
	HOLD_LOCK(&lock);
	return enumeration->count || make(enumeration);
}

uint64_t call_enumeration_name(const struct call_enumeration *enumeration, int64_t value)
{
	const struct call_enumerator *enumerators;
	uint32_t from = 0, to;

	if (!enumeration)
		return 0;
	to = __atomic_load_n(&enumeration->count, __ATOMIC_ACQUIRE);
	enumerators = enumeration->enumerators;
	/* Most count from 0 without gaps. */
	if (value >= 0 && value < to && enumerators[value].value == value)
		return enumerators[value].name;
	while (from < to) {
		const uint32_t middle = from + (to - from) / 2;

		if (enumerators[middle].value == value)
			return enumerators[middle].name;
		if (enumerators[middle].value < value)
			from = middle + 1;
		else
			to = middle;
	}
	return 0;
}
