/* SPDX-License-Identifier: MIT */
/* Plugins for test_plugin.c: one source, built several times. Without a macro it is a sound one.
 *
 *   FIXTURE_NO_SYMBOL    exports nothing
 *   FIXTURE_ABI          its ABI version
 *   FIXTURE_SIZE         its struct_size
 *   FIXTURE_NO_CREATE    lacks a required member
 *   FIXTURE_NO_SETTINGS  has no settings
 *   FIXTURE_BAD_SETTINGS says that it has settings and points nowhere
 *   FIXTURE_DEPENDENCY   needs a library that is not there at run time
 *   FIXTURE_NAME         its name */
#include <rtl/subscriber.h>

#ifndef FIXTURE_ABI
#	define FIXTURE_ABI RTL_ABI_VERSION
#endif
#ifndef FIXTURE_SIZE
#	define FIXTURE_SIZE sizeof(struct rtl_subscriber)
#endif
#ifndef FIXTURE_NAME
#	define FIXTURE_NAME "fixture"
#endif

#ifdef FIXTURE_DEPENDENCY
int gone(void);
#endif

#ifndef FIXTURE_NO_SYMBOL

#	ifdef FIXTURE_OLD_SETTINGS
static const struct {
	uint32_t struct_size, reserved;
	const char *key, *fallback, *description;
} settings[] = {
	{sizeof(settings[0]), 0, "output", "-", "where to"},
	{sizeof(settings[0]), 0, "top", NULL, "how many"},
};
#		define SETTINGS (const struct rtl_setting_info *)settings
#	elif !defined(FIXTURE_NO_SETTINGS) && !defined(FIXTURE_BAD_SETTINGS)
#		ifdef FIXTURE_BAD_DEFAULT
#			define TOP "0"
#		else
#			define TOP "10"
#		endif
static const struct rtl_setting_info settings[] = {
	RTL_TEXT_SETTING("output", "-", 1, 16, "where to"),
	RTL_NUMBER_SETTING("top", TOP, 1, 1000, "how many"),
	RTL_SWITCH_SETTING("links", "yes", "whether"),
	RTL_CHOICE_SETTING("format", "text", "text|json|csv", "how"),
	RTL_NUMBER_SETTING("seed", NULL, 0, 0, "none if not given"),
};
#		define SETTINGS settings
#	endif

#	ifndef FIXTURE_NO_CREATE
static int create(const struct rtl_host *host, const struct rtl_setting *given, size_t count,
		  void **instance)
{
	*instance = NULL;
#		ifdef FIXTURE_DEPENDENCY
	return gone();
#		else
	return 0;
#		endif
}
#	endif

static int finish(void *instance)
{
	return 0;
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = FIXTURE_ABI,
	.struct_size = FIXTURE_SIZE,
	.name = FIXTURE_NAME,
	.version = "1.2",
	.description = "a plugin for tests",
#	ifdef FIXTURE_BAD_SETTINGS
	.setting_count = 2,
#	elif !defined(FIXTURE_NO_SETTINGS)
	.settings = SETTINGS,
	.setting_count = sizeof(settings) / sizeof(*settings),
#	endif
#	ifndef FIXTURE_NO_CREATE
	.create = create,
#	endif
	.finish = finish,
};

#endif
