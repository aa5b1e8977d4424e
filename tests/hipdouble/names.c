/* SPDX-License-Identifier: MIT */
#include "names.h"

#include "find.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct name {
	struct name *next;
	const char *demangled, *mangled;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name *names;

/* By the C++ runtime that HIP brings with it. */
static char *demangle(const char *mangled)
{
	char *(*function)(const char *, char *, size_t *, int *);
	char *name = NULL;
	int status;

	*(void **)&function = library_find("libstdc++.so.6", "__cxa_demangle");
	if (function)
		name = function(mangled, NULL, NULL, &status);
	return name ? name : strdup(mangled);
}

static const struct name *find(const char *name)
{
	const struct name *known = names;

	while (known && strcmp(known->mangled, name) && strcmp(known->demangled, name))
		known = known->next;
	return known;
}

static const char *add(const char *mangled, const char *demangled)
{
	struct name *name = malloc(sizeof(*name));

	if (!name || !mangled || !demangled)
		abort();
	*name = (struct name){.next = names, .mangled = mangled, .demangled = demangled};
	names = name;
	return mangled;
}

void names_saw(const char *mangled)
{
	if (!mangled)
		return;
	pthread_mutex_lock(&lock);
	if (!find(mangled))
		add(strdup(mangled), demangle(mangled));
	pthread_mutex_unlock(&lock);
}

const char *names_mangled(const char *name)
{
	const char *mangled;

	pthread_mutex_lock(&lock);
	const struct name *known = find(name);
	if (known) {
		mangled = known->mangled;
	} else {
		char *copy = strdup(name);

		mangled = add(copy, copy);
	}
	pthread_mutex_unlock(&lock);
	return mangled;
}
