/* SPDX-License-Identifier: MIT */
/* What plugin.c, setting.c, feed.c and collector.c share. */
#pragma once

#include <rtl/subscriber.h>

/* Where a caller wants to read what went wrong; size 0: nowhere. */
struct message {
	char *text;
	size_t size;
};

/* Returns the error. */
int message_fail(const struct message *message, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- plugin.c: where plugins are: the working directory, RTL_PLUGIN_PATH, the installed folder. Any thread, as
 * long as nobody changes the environment. */

/* Calls fn with each file lib*SUFFIX, in the order in which names are looked up. */
void plugin_each_file(const char *suffix, void (*fn)(void *user, const char *path), void *user);
/* The file of a name, to be freed; RTL_ENOENT, RTL_ENOMEM: the message says where it was looked for. */
int plugin_find_file(const char *name, char **path, char *message, size_t size);

/* ---- setting.c: reads the values of a subscriber's settings as their descriptions say. No state; any thread. */

/* Whether a description makes sense, and takes its own fallback. */
bool setting_is_sound(const struct rtl_setting_info *info);

/* Fills a setting; value NULL: it was not given. False: it does not take that value. */
bool setting_read(const struct rtl_setting_info *info, const char *value, struct rtl_setting *out);
