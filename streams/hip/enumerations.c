/* SPDX-License-Identifier: MIT */
/* See enumerations.h. */
#include "enumerations.h"

#include <pthread.h>
#include <rtl/tracepoint.h>
#include <stdlib.h>
#include <string.h>

#include "../common/fork_lock.h"

struct enumerator {
	int64_t value;
	uint64_t name;
};

struct hip_enumeration {
	const char *type;
	const char *values; /* "value=name;value=name", ascending */
	struct enumerator *enumerators;
	uint32_t count; /* 0: not made yet */
};

static struct hip_enumeration enumerations[] = {
#define HIP_FUNCTION(...)
#define HIP_PROCEDURE(...)
#define HIP_EXCLUDED(...)
#define HIP_ENUMERATION(name, names) {.type = #name, .values = names},
#include "functions.def"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t count_values(const char *values)
{
	uint32_t count = 1;

	for (; *values; values++)
		count += *values == ';';
	return count;
}

/* Takes "value=name" off the list. */
static bool take_value(const char **list, struct enumerator *out)
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who makes one */
FORK_LOCK(known, lock);

/* Under the lock. */
static bool make(struct hip_enumeration *enumeration)
{
	const uint32_t count = count_values(enumeration->values);
	struct enumerator *enumerators = calloc(count, sizeof(*enumerators));
	const char *list = enumeration->values;

	if (!enumerators)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!take_value(&list, &enumerators[i])) {
			free(enumerators);
			return false;
		}
	}
	enumeration->enumerators = enumerators;
	/* release: a child that was forked meanwhile finds it complete */
	__atomic_store_n(&enumeration->count, count, __ATOMIC_RELEASE);
	return true;
}

const struct hip_enumeration *hip_enumeration_find(const char *type)
{
	struct hip_enumeration *found = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < COUNT(enumerations); i++)
		if (!strcmp(enumerations[i].type, type))
			found = &enumerations[i];
	if (found && !found->count && !make(found))
		found = NULL;
	pthread_mutex_unlock(&lock);
	return found;
}

uint64_t hip_enumeration_name(const struct hip_enumeration *enumeration, int64_t value)
{
	const struct enumerator *enumerators;
	uint32_t from = 0, to;

	if (!enumeration)
		return 0;
	enumerators = enumeration->enumerators;
	to = enumeration->count;
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
