/* SPDX-License-Identifier: MIT */
/* The environment of the command. Any thread, as long as nobody changes our own. */
#ifndef RTL_CLI_ENVIRONMENT_H
#define RTL_CLI_ENVIRONMENT_H

#include <stddef.h>

struct session_variable {
	char *name;
	char *value;
};

/**
 * The variables, then what else our own environment has, which is not copied.
 * @return to be freed with environment_free; NULL: out of memory
 */
char **environment_with(const struct session_variable *variables, size_t count);
/** `count`: of the variables that it was made with. NULL is fine. */
void environment_free(char **environment, size_t count);

#endif
