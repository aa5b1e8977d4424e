/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings settings = {.slab = 10000};

/* Where the number of `name` goes, or NULL. */
static uint64_t *number_of(const char *name)
{
#define FIND(known)                                                                                \
	if (!strcmp(name, #known))                                                                 \
		return &settings.known;
	HIP_DOUBLE_NUMBERS(FIND)
#undef FIND
	return NULL;
}

static bool *switch_of(const char *name)
{
#define FIND(known)                                                                                \
	if (!strcmp(name, #known))                                                                 \
		return &settings.known;
	HIP_DOUBLE_SWITCHES(FIND)
#undef FIND
	return NULL;
}

static bool set(char *word)
{
	char *value = strchr(word, '='), *rest;

	if (!value) {
		bool *there = switch_of(word);

		if (there)
			*there = true;
		return there;
	}
	*value++ = 0;
	uint64_t *there = number_of(word);
	errno = 0;
	unsigned long long number = strtoull(value, &rest, 10);
	if (!there || errno || *rest || !number)
		return false;
	*there = number;
	return true;
}

void settings_read(void)
{
	const char *text = getenv("HIP_DOUBLE");
	char words[512], *rest;

	if (!text)
		return;
	if (strlen(text) >= sizeof(words)) {
		fprintf(stderr, "hip_double: HIP_DOUBLE is longer than %zu bytes\n", sizeof(words));
		_Exit(127);
	}
	strcpy(words, text);
	for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		if (!set(word)) {
			fprintf(stderr, "hip_double: HIP_DOUBLE: no such switch: %s\n", word);
			_Exit(127);
		}
	}
}
