/* SPDX-License-Identifier: MIT */
#include "plugin_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rtl/plugin.h>

/* What a plugin's own, which may be shorter, lacks is 0. */
static struct rtl_setting_info whole(const struct rtl_setting_info *info)
{
	struct rtl_setting_info all = {0};

	memcpy(&all, info, info->struct_size < sizeof(all) ? info->struct_size : sizeof(all));
	return all;
}

static bool is_within(const struct rtl_setting_info *info, uint64_t n)
{
	return n >= info->least && (!info->most || n <= info->most);
}

static bool read_number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

/* The place of a word among "several|words". */
static bool read_choice(const char *words, const char *text, uint64_t *out)
{
	for (*out = 0;; ++*out) {
		const size_t length = strcspn(words, "|");

		if (length == strlen(text) && !memcmp(words, text, length))
			return true;
		if (!words[length])
			return false;
		words += length + 1;
	}
}

static bool read_value(const struct rtl_setting_info *info, const char *text, uint64_t *out)
{
	*out = 0;
	switch (info->type) {
	case RTL_SETTING_TEXT:
		return is_within(info, strlen(text));
	case RTL_SETTING_NUMBER:
		return read_number(text, out) && is_within(info, *out);
	case RTL_SETTING_SWITCH:
		return read_choice("no|yes", text, out);
	case RTL_SETTING_CHOICE:
		return read_choice(info->choices, text, out);
	default:
		return false;
	}
}

bool setting_is_sound(const struct rtl_setting_info *given)
{
	const struct rtl_setting_info info = whole(given);
	uint64_t ignored;

	if (!info.key || !*info.key || info.type > RTL_SETTING_CHOICE ||
	    (info.most && info.least > info.most) ||
	    (info.type == RTL_SETTING_CHOICE && (!info.choices || !*info.choices)))
		return false;
	return !info.fallback || read_value(&info, info.fallback, &ignored);
}

bool setting_read(const struct rtl_setting_info *given, const char *value, struct rtl_setting *out)
{
	const struct rtl_setting_info info = whole(given);

	*out = (struct rtl_setting){
		.struct_size = sizeof(*out),
		.type = info.type,
		.key = info.key,
		.value = value ? value : info.fallback,
		.given = value != NULL,
	};
	return !out->value || read_value(&info, out->value, &out->number);
}

/* "a|b|c" as "a, b or c" */
static int print_choices(const char *words, char *text, size_t size)
{
	int length = 0;

	for (;;) {
		const size_t word = strcspn(words, "|");
		const size_t at = (size_t)length < size ? (size_t)length : size;
		const char *next = words + word + (words[word] == '|');

		length += snprintf(text + at, size - at, "%.*s%s", (int)word, words,
				   !*next                     ? ""
				   : next[strcspn(next, "|")] ? ", "
							      : " or ");
		if (!*next)
			return length;
		words = next;
	}
}

static int print_range(const struct rtl_setting_info *info, const char *what, const char *unit,
		       char *text, size_t size)
{
	if (info->least && info->most)
		return snprintf(text, size, "%s from %" PRIu64 " to %" PRIu64 "%s", what,
				info->least, info->most, unit);
	if (info->most)
		return snprintf(text, size, "%s of at most %" PRIu64 "%s", what, info->most, unit);
	if (info->least)
		return snprintf(text, size, "%s of at least %" PRIu64 "%s", what, info->least,
				unit);
	return snprintf(text, size, "%s", what);
}

int rtl_setting_values(const struct rtl_setting_info *given, char *text, size_t size)
{
	const struct rtl_setting_info info = whole(given);

	switch (info.type) {
	case RTL_SETTING_NUMBER:
		return print_range(&info, "a number", "", text, size);
	case RTL_SETTING_SWITCH:
		return snprintf(text, size, "yes or no");
	case RTL_SETTING_CHOICE:
		return print_choices(info.choices, text, size);
	default:
		if (info.least == 1 && !info.most)
			return snprintf(text, size, "a text that is not empty");
		return print_range(&info, "a text", " bytes", text, size);
	}
}
