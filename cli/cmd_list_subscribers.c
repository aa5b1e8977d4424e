/* SPDX-License-Identifier: MIT */
/* rtl list-subscribers: the plugins that a name in RTL_SUBSCRIBERS finds, and their settings. */
#include <stdlib.h>
#include <string.h>

#include <rtl/plugin.h>

#include "cli.h"
#include "summary.h"

enum { OPTION_JSON };

static const struct cli_option options[] = {
	{0, "json", NULL, "print JSON, for programs"},
};

struct listing {
	bool json;
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

static const char *or_empty(const char *text)
{
	return text ? text : "";
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
			int width = printf("  %s=%s", info->key, or_empty(info->fallback));
			char values[512];
			rtl_setting_values(info, values, sizeof(values));
			printf("%*s  %s (%s)\n", width < 20 ? 20 - width : 0, "",
			       or_empty(info->description), values);
		}
	}
	if (shadow)
		printf("  shadowed: that name finds %s\n", shadow);
}

/* ---- JSON ---- */

static void print_member(const char *before, const char *key, const char *text)
{
	printf("%s\"%s\":", before, key);
	summary_print_json_string(stdout, or_empty(text));
}

static void print_json(const char *path, const char *shadow, const struct rtl_subscriber *s,
		       const char *message)
{
	print_member("{", "file", path);
	if (shadow)
		print_member(",", "shadowed_by", shadow);
	if (!s) {
		print_member(",", "error", message);
		putchar('}');
		return;
	}
	print_member(",", "name", s->name);
	print_member(",", "version", s->version);
	print_member(",", "description", s->description);
	fputs(",\"settings\":[", stdout);
	for (uint32_t i = 0; i < s->setting_count; i++) {
		const struct rtl_setting_info *info = rtl_subscriber_setting(s, i);
		char values[512];
		rtl_setting_values(info, values, sizeof(values));
		print_member(i ? ",\n    {" : "\n    {", "key", info->key);
		print_member(",", "default", info->fallback);
		print_member(",", "values", values);
		print_member(",", "description", info->description);
		putchar('}');
	}
	fputs("]}", stdout);
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
	if (listing->json) {
		fputs(listing->count ? ",\n  " : "\n  ", stdout);
		print_json(path, shadow, subscriber, message);
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

static int list(bool json)
{
	struct listing listing = {.json = json};

	if (json)
		fputs("{\"subscribers\":[", stdout);
	rtl_plugin_list(list_one, &listing);
	if (json)
		fputs("]}\n", stdout);
	else if (!listing.count)
		printf("There is no subscriber; name their folder in RTL_PLUGIN_PATH.\n");
	for (size_t i = 0; i < listing.count; i++)
		free(listing.paths[i]);
	free(listing.paths);
	return cli_finish_output();
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_args args = CLI_ARGS(command, argc, argv);
	bool json = false;
	int option;

	while ((option = cli_next(&args)) != CLI_END) {
		if (option == CLI_HELP)
			return CLI_OK;
		if (option == CLI_BAD)
			return CLI_USAGE;
		if (option == OPTION_JSON)
			json = true;
		else
			return cli_usage("list-subscribers: '%s' is too much: it takes no operands",
					 args.value);
	}
	return list(json);
}

const struct cli_command cmd_list_subscribers = {
	.name = "list-subscribers",
	.operands = "",
	.purpose = "Shows the subscribers that can be used, and their settings",
	.details = "Looked for in the working directory, in the folders of RTL_PLUGIN_PATH, and\n"
		   "where rtl is installed.",
	.options = options,
	.option_count = sizeof(options) / sizeof(*options),
	.mentions = true,
	.run = run,
};
