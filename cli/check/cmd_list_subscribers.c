/* SPDX-License-Identifier: MIT */
/* rtl list-subscribers: the plugins that a name in RTL_SUBSCRIBERS finds, and their settings. */
#include <stdlib.h>
#include <string.h>

#include <rtl/plugin.h>

#include "cli.h"
#include "json.h"

struct listing {
	bool as_json;
	struct json json;
	char **paths; /* of those seen so far */
	size_t count;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file that is found first by that name; NULL: this one is. */
static const char *shadowed_by(const struct listing *listing, const char *path)
{
	for (size_t i = 0; i < listing->count; i++) {
		if (!strcmp(base_name(listing->paths[i]), base_name(path)))
			return listing->paths[i];
	}
	return NULL;
}

/* ---- text ---- */

static void print(const char *path, const char *shadow, const struct rtl_subscriber *s,
		  const char *message)
{
	if (!s) {
		printf("%s: cannot be used\n  %s\n", base_name(path), message);
	} else {
		printf("%s: %s %s, %s\n  %s\n", base_name(path), s->name, s->version,
		       s->description, path);
		for (uint32_t i = 0; i < s->setting_count; i++) {
			const struct rtl_setting_info *info = rtl_subscriber_setting(s, i);
			int width = printf("  %s=%s", info->key, cli_text(info->fallback));
			char values[512];
			rtl_setting_values(info, values, sizeof(values));
			printf("%*s  %s (%s)\n", width < 20 ? 20 - width : 0, "",
			       cli_text(info->description), values);
		}
	}
	if (shadow)
		printf("  shadowed: that name finds %s\n", shadow);
}

/* ---- JSON ---- */

static void print_setting_json(struct json *json, const struct rtl_setting_info *info)
{
	char values[512];

	rtl_setting_values(info, values, sizeof(values));
	json_object(json, NULL);
	json_text(json, "key", info->key);
	json_text(json, "default", cli_text(info->fallback));
	json_text(json, "values", values);
	json_text(json, "description", cli_text(info->description));
	json_end(json);
}

static void print_json(struct json *json, const char *path, const char *shadow,
		       const struct rtl_subscriber *s, const char *message)
{
	json_object(json, NULL);
	json_text(json, "file", path);
	if (shadow)
		json_text(json, "shadowed_by", shadow);
	if (s) {
		json_text(json, "name", s->name);
		json_text(json, "version", s->version);
		json_text(json, "description", s->description);
		json_array(json, "settings");
		for (uint32_t i = 0; i < s->setting_count; i++)
			print_setting_json(json, rtl_subscriber_setting(s, i));
		json_end(json);
	} else {
		json_text(json, "error", message);
	}
	json_end(json);
}

/* ---- */

static void list_one(void *user, const char *path)
{
	struct listing *listing = user;
	const char *shadow = shadowed_by(listing, path);
	const struct rtl_subscriber *subscriber = NULL;
	struct rtl_plugin *plugin = NULL;
	char message[4096] = "";

	if (!rtl_plugin_open(path, &plugin, message, sizeof(message)))
		subscriber = rtl_plugin_subscriber(plugin);
	if (listing->as_json) {
		print_json(&listing->json, path, shadow, subscriber, message);
	} else {
		fputs(listing->count ? "\n" : "", stdout);
		print(path, shadow, subscriber, message);
	}
	rtl_plugin_close(plugin);
	char **paths = reallocarray(listing->paths, listing->count + 1, sizeof(*paths));
	if (!paths)
		return;
	listing->paths = paths;
	paths[listing->count] = strdup(path);
	if (paths[listing->count])
		listing->count++;
}

static int list(struct listing *listing)
{
	if (listing->as_json) {
		listing->json.file = stdout;
		json_object(&listing->json, NULL);
		json_array(&listing->json, "subscribers");
	}
	rtl_plugin_list(list_one, listing);
	if (listing->as_json) {
		json_end(&listing->json);
		json_end(&listing->json);
	} else if (!listing->count) {
		printf("There is no subscriber; name their folder in RTL_PLUGIN_PATH.\n");
	}
	for (size_t i = 0; i < listing->count; i++)
		free(listing->paths[i]);
	free(listing->paths);
	return cli_finish_output();
}

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct listing, as_json), "print JSON, for programs"),
};

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct listing listing = {0};
	int status = cli_read(command, argc, argv, &listing);

	return status < 0 ? list(&listing) : status;
}

const struct cli_command cmd_list_subscribers = {
	.name = "list-subscribers",
	.operands = "",
	.purpose = "Shows the subscribers that can be used, and their settings",
	.details = "Looked for in the working directory, in the folders of RTL_PLUGIN_PATH, and\n"
		   "where rtl is installed.",
	CLI_OPTIONS(options),
	.run = run,
};
