/* SPDX-License-Identifier: MIT */
/* Reads the values of a subscriber's settings as their descriptions say. No state; any thread. */
#ifndef RTL_CORE_SETTING_H
#define RTL_CORE_SETTING_H

#include <stdbool.h>

#include <rtl/subscriber.h>

/* Whether a description makes sense, and takes its own fallback. */
bool setting_is_sound(const struct rtl_setting_info *info);

/* Fills a setting; value NULL: it was not given. False: it does not take that value. */
bool setting_read(const struct rtl_setting_info *info, const char *value, struct rtl_setting *out);

#endif
