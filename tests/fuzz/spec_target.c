/* SPDX-License-Identifier: MIT */
/* Names of subscribers with their settings. The parser is static: its file is part of this one.
 * Nothing is loaded but the plugin that the target comes with. */
#include "deliver/plugin.c"

#include "fuzz.h"
#include "touch.h"

static void parse(const char *spec)
{
	struct rtl_plugin *plugin = calloc(1, sizeof(*plugin));
	char text[64] = "";
	const struct message message = {text, sizeof(text)};

	if (!plugin)
		abort();
	if (!parse_spec(plugin, spec, &message)) {
		touch_text(plugin->spec);
		for (size_t i = 0; i < plugin->given_count; i++) {
			touch_text(plugin->given[i].key);
			touch_text(plugin->given[i].value);
			if (!*plugin->given[i].key)
				abort();
		}
	} else if (!*text) {
		abort(); /* it says why */
	}
	rtl_plugin_close(plugin);
}

static void open_with(const char *settings)
{
	struct rtl_plugin *plugin;
	char text[64] = "", *spec;

	if (asprintf(&spec, "%s?%s", READ_ALL_SUB, settings) < 0)
		abort();
	if (!rtl_plugin_open(spec, &plugin, text, sizeof(text)))
		rtl_plugin_close(plugin);
	else if (!*text)
		abort();
	free(spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *spec = strndup((const char *)data, size), *rest = spec, *one;

	if (!spec)
		abort();
	open_with(spec);
	while ((one = strsep(&rest, ":"))) /* as host.c takes RTL_SUBSCRIBERS apart */
		parse(one);
	free(spec);
	return 0;
}
