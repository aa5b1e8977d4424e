/* SPDX-License-Identifier: MIT */
/* See environment.h. */
#include "environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_set_by(const struct session_variable *variable, const char *entry)
{
	size_t length = strlen(variable->name);

	return !strncmp(entry, variable->name, length) && entry[length] == '=';
}

static bool is_replaced(const struct session_variable *variables, size_t count, const char *entry)
{
	for (size_t i = 0; i < count; i++) {
		if (is_set_by(&variables[i], entry))
			return true;
	}
	return false;
}

void environment_free(char **environment, size_t count)
{
	for (size_t i = 0; environment && i < count; i++)
		free(environment[i]);
	free(environment);
}

char **environment_with(const struct session_variable *variables, size_t count)
{
	size_t size = 0, n = 0;
	char **made;

	while (environ && environ[size])
		size++;
	made = calloc(count + size + 1, sizeof(*made));
	for (; made && n < count; n++) {
		if (asprintf(&made[n], "%s=%s", variables[n].name, variables[n].value) >= 0)
			continue;
		environment_free(made, n);
		return NULL;
	}
	for (size_t i = 0; made && i < size; i++) {
		if (!is_replaced(variables, count, environ[i]))
			made[n++] = environ[i];
	}
	return made;
}
