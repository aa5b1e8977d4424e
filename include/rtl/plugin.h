/* SPDX-License-Identifier: MIT */
/** @file plugin.h
 * For hosts and commands: finds, loads and checks plugins, for `rtl list-subscribers` and the bus. */
#ifndef RTL_PLUGIN_H
#define RTL_PLUGIN_H

#include <rtl/subscriber.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A loaded subscriber and the settings that its name carried. */
struct rtl_plugin;

/** Loads a subscriber.
 *
 * The name is looked up as given (a path, or a file in the working directory), then in each folder of RTL_PLUGIN_PATH
 * (colon-separated), then in the installed plugin folder.
 *
 * @param spec  NAME or NAME?key=value&key=value; %XX in NAME and values stands for that byte
 * @param[out] out  to be closed
 * @param[out] message  on failure one line: what, where, what to do; may be NULL if size is 0
 * @return 0; RTL_ENOENT: not found, or no subscriber; RTL_EABI; RTL_EINVAL: unknown setting, or
 *         a value that it does not take; RTL_ENOMEM */
RTL_API int rtl_plugin_open(const char *spec, struct rtl_plugin **out, char *message, size_t size);

/** The plugin's descriptor; valid until it is closed. */
RTL_API const struct rtl_subscriber *rtl_plugin_subscriber(const struct rtl_plugin *plugin);
/** The file that was loaded; valid until it is closed. */
RTL_API const char *rtl_plugin_path(const struct rtl_plugin *plugin);
/** What `create` gets: all that the descriptor lists, with given values or fallbacks. rtl_setting_at walks them. */
RTL_API const struct rtl_setting *rtl_plugin_settings(const struct rtl_plugin *plugin,
						      size_t *count);
/** The values that a setting takes, as snprintf: "a number from 1 to 64", "text or json". Any thread. */
RTL_API int rtl_setting_values(const struct rtl_setting_info *info, char *text, size_t size);
/** Unloads; NULL is fine. */
RTL_API void rtl_plugin_close(struct rtl_plugin *plugin);

/** Calls fn with each file that could be a subscriber (lib*_sub.so), in look-up order; shadowed ones included. */
RTL_API void rtl_plugin_list(void (*fn)(void *user, const char *path), void *user);

/** What a library that publishes streams exports so that `rtl list-streams` can show them without running it: a
 * function of this type, named rtl_publisher_streams. It returns `*count` descriptions, valid as long as the library is
 * loaded, and has no side effects. */
typedef const struct rtl_stream_info *const *(*rtl_publisher_streams_fn)(size_t *count);
#define RTL_PUBLISHER_SYMBOL "rtl_publisher_streams"

#ifdef __cplusplus
}
#endif
#endif
