/* SPDX-License-Identifier: MIT */
/*
 * Plugins for test_plugin.c: one source, built several times. Without a macro it is a sound one.
 *
 *   FIXTURE_NO_SYMBOL    exports nothing
 *   FIXTURE_ABI          its ABI version
 *   FIXTURE_SIZE         its struct_size
 *   FIXTURE_NO_CREATE    lacks a required member
 *   FIXTURE_NO_SETTINGS  has no settings
 *   FIXTURE_BAD_SETTINGS says that it has settings and points nowhere
 *   FIXTURE_DEPENDENCY   needs a library that is not there at run time
 *   FIXTURE_NAME         its name
 */
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

#	if !defined(FIXTURE_NO_SETTINGS) && !defined(FIXTURE_BAD_SETTINGS)
static const struct rtl_setting_info settings[] = {
	{sizeof(settings[0]), 0, "output", "-", "where to"},
	{sizeof(settings[0]), 0, "top", "10", "how many"},
};
#	endif

#	ifndef FIXTURE_NO_CREATE
static int create(const struct rtl_host *host, const struct rtl_setting *given, size_t count,
		  void **instance)
{
	(void)host, (void)given, (void)count;
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
	(void)instance;
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
	.settings = settings,
	.setting_count = 2,
#	endif
#	ifndef FIXTURE_NO_CREATE
	.create = create,
#	endif
	.finish = finish,
};

#endif
