/* SPDX-License-Identifier: MIT */
/* Where plugins are: the working directory, RTL_PLUGIN_PATH, the installed folder. Any thread, as
 * long as nobody changes the environment. */
#ifndef RTL_CORE_PLUGIN_FIND_H
#define RTL_CORE_PLUGIN_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* Calls fn with each file lib*SUFFIX, in the order in which names are looked up, until it returns true;
 * returns whether it did. */
bool plugin_each_file(const char *suffix, bool (*fn)(void *user, const char *path), void *user);
/* The file of a name, to be freed; RTL_ENOENT, RTL_ENOMEM: the message says where it was looked for. */
int plugin_find_file(const char *name, char **path, char *message, size_t size);

#endif
