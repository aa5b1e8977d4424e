/* SPDX-License-Identifier: MIT */
/* rtl list-subscribers: the plugins that a name in RTL_SUBSCRIBERS finds, and their settings. */
#include <stdlib.h>

#include <rtl/plugin.h>

#include "cli.h"
#include "embed.h"
#include "view.h"

EMBED(list_subscribers_sql, RTL_CLI "/check/list_subscribers.sql");

struct listing {
	bool as_json;
	struct view view;
	char **paths; /* of those seen so far */
	size_t count;
};

/* The file that is found first by that name; NULL: this one is. */
static const char *shadowed_by(const struct listing *listing, const char *path)
{
	for (size_t i = 0; i < listing->count; i++)
		if (!strcmp(cli_base_name(listing->paths[i]), cli_base_name(path)))
			return listing->paths[i];
	return NULL;
}

static void write_setting(struct json *json, const struct rtl_setting_info *info)
{
	char values[512];

	rtl_setting_values(info, values, sizeof(values));
	json_print(json, "{key:%s default:%s values:%s description:%s}", info->key,
		   cli_text(info->fallback), values, cli_text(info->description));
}

static void write_plugin(struct json *json, const char *path, const char *shadow,
			 const struct rtl_subscriber *s, const char *message)
{
	json_print(json, "{file:%s ?shadowed_by:%s", path, shadow);
	if (!s)
		return json_print(json, "error:%s}", message);
	json_print(json, "name:%s version:%s description:%s settings:[", s->name, s->version,
		   s->description);
	for (uint32_t i = 0; i < s->setting_count; i++)
		write_setting(json, rtl_subscriber_setting(s, i));
	json_print(json, "]}");
}

static void list_one(void *user, const char *path)
{
	struct listing *listing = user;
	const char *shadow = shadowed_by(listing, path);
	const struct rtl_subscriber *subscriber = NULL;
	struct rtl_plugin *plugin = NULL;
	char message[4096] = "";

	if (!rtl_plugin_open(path, &plugin, message, sizeof(message)))
		subscriber = rtl_plugin_subscriber(plugin);
	write_plugin(&listing->view.json, path, shadow, subscriber, message);
	rtl_plugin_close(plugin);
	*CLI_ADD(listing->paths, listing->count) = cli_need(strdup(path));
}

static int list(void *request)
{
	struct listing *listing = request;

	view_begin(&listing->view, listing->as_json);
	json_print(&listing->view.json, "{subscribers:[");
	rtl_plugin_list(list_one, listing);
	for (size_t i = 0; i < listing->count; i++)
		free(listing->paths[i]);
	free(listing->paths);
	return view_end(&listing->view, list_subscribers_sql);
}

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct listing, as_json), "print JSON, for programs"),
};

const struct cli_command cmd_list_subscribers = {
	.name = "list-subscribers",
	.operands = "",
	.purpose = "Lists the subscribers and their settings",
	.details =
		"Searches the working directory, the folders of RTL_PLUGIN_PATH, and the folder\n"
		"of rtl's own subscribers.",
	CLI_OPTIONS(options),
	.request_size = sizeof(struct listing),
	.run = list,
};
