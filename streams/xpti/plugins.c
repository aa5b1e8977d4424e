/* SPDX-License-Identifier: MIT */
/*
 * Plugins of XPTI: the list of XPTI_SUBSCRIBERS, never unloaded. Several threads may load it at once. Their functions
 * are called without a lock, on the thread that calls the framework.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/publish.h>

#include "streams.h"
#include "thread.h"

#define PLUGINS 64u

struct plugin {
	void *library; /* of dlopen: the same one is there once */
	xpti_plugin_init init;
	xpti_plugin_finish finish;
	xpti_plugin_detail detail; /* NULL: it has none */
};

static struct plugin plugins[PLUGINS];
static uint32_t count; /* release by add, under the lock; acquire by others */

/* dlsym gives a pointer to data. */
static void take(void *library, const char *name, void *place)
{
	void *symbol = dlsym(library, name);

	memcpy(place, &symbol, sizeof symbol);
}

/* False: there are too many. */
static bool add(const struct plugin *plugin)
{
	uint32_t i;

	framework_lock();
	for (i = 0; i < count && plugins[i].library != plugin->library; i++)
		;
	if (i == count && i < PLUGINS) {
		plugins[i] = *plugin;
		/* release: with the acquire of who calls them */
		__atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
	}
	framework_unlock();
	return i < PLUGINS;
}

static void load(const char *name)
{
	void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	struct plugin plugin = {.library = library};

	if (!library) {
		rtl_log(RTL_LEVEL_WARNING, "xpti",
			"XPTI_SUBSCRIBERS: %s is not loaded (%s): give its full path, or set "
			"LD_LIBRARY_PATH",
			name, dlerror());
		return;
	}
	take(library, "xptiTraceInit", &plugin.init);
	take(library, "xptiTraceFinish", &plugin.finish);
	take(library, "xptiQuerySubscriberStreamDetailLevel", &plugin.detail);
	if (!plugin.init || !plugin.finish) {
		rtl_log(RTL_LEVEL_WARNING, "xpti",
			"XPTI_SUBSCRIBERS: %s is no plugin of XPTI: it has no %s", name,
			plugin.init ? "xptiTraceFinish" : "xptiTraceInit");
		dlclose(library);
		return;
	}
	if (!add(&plugin))
		rtl_log(RTL_LEVEL_WARNING, "xpti",
			"XPTI_SUBSCRIBERS: %s is one too many: %u are loaded", name, PLUGINS);
}

void plugins_load(void)
{
	const char *list = secure_getenv("XPTI_SUBSCRIBERS");
	char *copy = list ? strdup(list) : NULL, *rest = copy, *name;

	while (rest && (name = strsep(&rest, ",")))
		if (*name)
			load(name);
	free(copy);
}

uint32_t plugins_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_ACQUIRE);
}

void plugins_init(uint32_t major, uint32_t minor, const char *version, const char *stream)
{
	uint32_t i, n = plugins_count();

	for (i = 0; i < n; i++)
		plugins[i].init(major, minor, version, stream);
}

void plugins_finish(const char *stream)
{
	uint32_t i, n = plugins_count();

	for (i = 0; i < n; i++)
		plugins[i].finish(stream);
}

uint8_t plugins_detail(const char *stream)
{
	uint8_t most = XPTI_DETAIL_NONE;
	uint32_t i, n = plugins_count();

	for (i = 0; i < n; i++) {
		uint8_t level = XPTI_DETAIL_NORMAL;

		if (plugins[i].detail && !plugins[i].detail(stream, &level))
			level = XPTI_DETAIL_NORMAL;
		if (level > most)
			most = level;
	}
	return most;
}
