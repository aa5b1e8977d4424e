/* SPDX-License-Identifier: MIT */
/* Finds, loads and checks plugins: <rtl/plugin.h>. The only state is each struct rtl_plugin, its opener's; so any
 * thread may open and close, as long as nobody changes the environment. */
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <rtl/plugin.h>

#include "plugin_impl.h"

/* The plugin folder, as seen from the folder that librtl is in. */
#ifndef RTL_PLUGIN_SUBDIR
#	define RTL_PLUGIN_SUBDIR "rtl"
#endif

/* The bytes of a struct up to and with a member. */
#define SIZE_THROUGH(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* A key and a value that came with the name. */
struct given {
	const char *key;
	const char *value;
};

struct rtl_plugin {
	void *handle;
	char *path;
	char *spec; /* cut into name, keys and values, all decoded but for the keys */
	struct given *given;
	size_t given_count;
	struct rtl_setting *settings; /* subscriber.setting_count of them */
	/* A copy of the plugin's own: what a shorter one does not have is 0 here. */
	struct rtl_subscriber subscriber;
};

/* A place where plugins are looked for. */
struct folder {
	char *path;
	const char *origin; /* said after the path, or NULL */
	bool exists;
	dev_t device;
	ino_t inode;
};

struct folders {
	struct folder *items;
	size_t count;
};

int message_fail(const struct message *message, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message->text, message->size, format, args);
	va_end(args);
	return error;
}

static int fail_memory(const struct message *message, const char *spec)
{
	return message_fail(message, RTL_ENOMEM, "subscriber '%s': out of memory", spec);
}

/* ---- the name and its settings ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Replaces %XX in place; false if a % is not followed by two digits, or stands for a 0. */
static bool decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		int high = hex_digit(from[1]);
		int low = high < 0 ? -1 : hex_digit(from[2]);
		if (low < 0 || high + low == 0)
			return false;
		*to++ = (char)(high << 4 | low);
		from += 2;
	}
	*to = '\0';
	return true;
}

/* NULL: it was not given. */
static const char *given_value(const struct rtl_plugin *plugin, const char *key)
{
	for (size_t i = 0; i < plugin->given_count; i++)
		if (!strcmp(plugin->given[i].key, key))
			return plugin->given[i].value;
	return NULL;
}

static int parse_setting(struct rtl_plugin *plugin, char *text, const struct message *message)
{
	const char *name = plugin->spec;
	char *value = strchr(text, '=');

	if (!value || value == text)
		return message_fail(message, RTL_EINVAL,
				    "subscriber '%s': setting '%s' is not of the form key=value",
				    name, text);
	*value++ = '\0';
	if (!decode(value))
		return message_fail(message, RTL_EINVAL,
				    "subscriber '%s': setting '%s': bad %%XX in '%s' (write %%25 "
				    "for a percent sign)",
				    name, text, value);
	if (given_value(plugin, text))
		return message_fail(message, RTL_EINVAL,
				    "subscriber '%s': setting '%s' is given twice", name, text);
	plugin->given[plugin->given_count++] = (struct given){text, value};
	return 0;
}

/* Cuts the spec: afterwards plugin->spec is the name alone. */
static int parse_spec(struct rtl_plugin *plugin, const char *spec, const struct message *message)
{
	size_t limit = 1;

	plugin->spec = strdup(spec);
	if (!plugin->spec)
		return fail_memory(message, spec);
	char *rest = strchr(plugin->spec, '?');
	if (rest)
		*rest++ = '\0';
	if (!*plugin->spec)
		return message_fail(message, RTL_EINVAL,
				    "subscriber '%s': the name is empty; give the name of a "
				    "library, e.g. libsqlite_sub.so",
				    spec);
	if (!decode(plugin->spec))
		return message_fail(
			message, RTL_EINVAL,
			"subscriber '%s': bad %%XX in its name (write %%25 for a percent sign)",
			spec);
	for (const char *p = rest; p && *p; p++)
		limit += *p == '&';
	plugin->given = calloc(limit, sizeof(*plugin->given));
	if (!plugin->given)
		return fail_memory(message, spec);
	for (char *item; (item = strsep(&rest, "&"));) {
		int error = *item ? parse_setting(plugin, item, message) : 0;
		if (error)
			return error;
	}
	return 0;
}

/* ---- where plugins are ---- */

/* The file that this code was loaded from; NULL if out of memory or not known. */
static char *own_file(void)
{
	static const char here;
	const struct link_map *map;
	void *pointer;
	Dl_info info;

	if (!dladdr1(&here, &info, &pointer, RTLD_DL_LINKMAP))
		return NULL;
	map = pointer;
	/* The loader knows the program itself, where that is it, by its argv[0] only. */
	return realpath(*map->l_name ? map->l_name : "/proc/self/exe", NULL);
}

/* The installed plugin folder; NULL if out of memory or not known. */
static char *installed_folder(void)
{
	char *folder = NULL;
	char *file = own_file();
	char *slash = file ? strrchr(file, '/') : NULL;

	if (slash && asprintf(&folder, "%.*s/" RTL_PLUGIN_SUBDIR, (int)(slash - file), file) < 0)
		folder = NULL;
	free(file);
	return folder;
}

static void folders_fini(struct folders *folders)
{
	for (size_t i = 0; i < folders->count; i++)
		free(folders->items[i].path);
	free(folders->items);
}

/* Adds a folder, unless it is there by whatever name. Takes path, which may be NULL. */
static bool folders_add(struct folders *folders, char *path, const char *origin)
{
	struct folder folder = {.path = path, .origin = origin};
	struct stat st;

	if (!path)
		return false;
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		folder.exists = true;
		folder.device = st.st_dev;
		folder.inode = st.st_ino;
	}
	for (size_t i = 0; folder.exists && i < folders->count; i++) {
		const struct folder *other = &folders->items[i];
		if (other->exists && other->device == st.st_dev && other->inode == st.st_ino) {
			free(path);
			return true;
		}
	}
	struct folder *items = reallocarray(folders->items, folders->count + 1, sizeof(*items));
	if (!items) {
		free(path);
		return false;
	}
	folders->items = items;
	items[folders->count++] = folder;
	return true;
}

/* All folders in the order of the search; false: out of memory. */
static bool folders_init(struct folders *folders)
{
	const char *path = secure_getenv("RTL_PLUGIN_PATH");

	*folders = (struct folders){0};
	if (!folders_add(folders, strdup("."), NULL))
		return false;
	while (path && *path) {
		size_t length = strcspn(path, ":");
		if (length && !folders_add(folders, strndup(path, length), "RTL_PLUGIN_PATH"))
			return false;
		path += length + (path[length] == ':');
	}
	char *installed = installed_folder();
	return !installed || folders_add(folders, installed, NULL);
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

/* Says where a name was looked for. */
static void fail_not_found(const struct message *message, const char *name,
			   const struct folders *folders)
{
	char *places = NULL;
	size_t size;
	FILE *stream = open_memstream(&places, &size);

	for (size_t i = 1; stream && i < folders->count; i++) {
		const struct folder *folder = &folders->items[i];
		fprintf(stream, ", %s", folder->path);
		if (folder->origin || !folder->exists)
			fprintf(stream, " (%s%s%s)", folder->origin ? folder->origin : "",
				folder->origin && !folder->exists ? ", " : "",
				folder->exists ? "" : "no such folder");
	}
	if (stream)
		fclose(stream);
	message_fail(message, RTL_ENOENT,
		     "subscriber '%s' not found in the working directory%s; give its path, or name "
		     "its folder in RTL_PLUGIN_PATH",
		     name, places ? places : "");
	free(places);
}

static int find_in_folders(const char *name, char **path, const struct message *message)
{
	struct folders folders;
	int error = folders_init(&folders) ? RTL_ENOENT : RTL_ENOMEM;

	for (size_t i = 0; i < folders.count && error == RTL_ENOENT; i++) {
		if (asprintf(path, "%s/%s", folders.items[i].path, name) < 0) {
			*path = NULL;
			error = RTL_ENOMEM;
		} else if (is_file(*path)) {
			error = 0;
		} else {
			free(*path);
			*path = NULL;
		}
	}
	if (error == RTL_ENOENT)
		fail_not_found(message, name, &folders);
	else if (error)
		fail_memory(message, name);
	folders_fini(&folders);
	return error;
}

static int find(struct rtl_plugin *plugin, const struct message *message)
{
	if (!strchr(plugin->spec, '/'))
		return find_in_folders(plugin->spec, &plugin->path, message);
	if (!is_file(plugin->spec))
		return message_fail(message, RTL_ENOENT, "subscriber '%s': there is no such file",
				    plugin->spec);
	plugin->path = strdup(plugin->spec);
	return plugin->path ? 0 : fail_memory(message, plugin->spec);
}

/* ---- loading and checking ---- */

/* Copies the descriptor, after having made sure that its version allows to read it. */
static int read_descriptor(struct rtl_plugin *plugin, const struct rtl_subscriber *from,
			   const struct message *message)
{
	struct rtl_subscriber *to = &plugin->subscriber;
	uint32_t version = from->abi_version;

	if (version >> 16 != RTL_ABI_VERSION >> 16 ||
	    (version & 0xffff) > (RTL_ABI_VERSION & 0xffff))
		return message_fail(
			message, RTL_EABI,
			"subscriber %s is made for version %u.%u of the plugin ABI, rtl %u.%u.%u "
			"has %u.%u; rebuild it, or use the rtl that it belongs to",
			plugin->path, version >> 16, version & 0xffff, RTL_VERSION_MAJOR,
			RTL_VERSION_MINOR, RTL_VERSION_PATCH, RTL_ABI_VERSION >> 16,
			RTL_ABI_VERSION & 0xffff);
	if (from->struct_size < SIZE_THROUGH(struct rtl_subscriber, create))
		return message_fail(
			message, RTL_EABI,
			"subscriber %s: its descriptor is too short (struct_size %u); rebuild it",
			plugin->path, from->struct_size);
	memcpy(to, from, from->struct_size < sizeof(*to) ? from->struct_size : sizeof(*to));
	to->struct_size = sizeof(*to);
	if (!to->name || !*to->name || !to->create)
		return message_fail(message, RTL_EABI,
				    "subscriber %s: its descriptor has no %s; rebuild it",
				    plugin->path, to->create ? "name" : "create function");
	if (!to->version)
		to->version = "";
	if (!to->description)
		to->description = "";
	return 0;
}

static int check_setting_infos(const struct rtl_plugin *plugin, const struct message *message)
{
	const struct rtl_subscriber *s = &plugin->subscriber;

	if (!s->setting_count)
		return 0;
	if (!s->settings ||
	    s->settings->struct_size < SIZE_THROUGH(struct rtl_setting_info, description))
		return message_fail(message, RTL_EABI,
				    "subscriber %s: the settings in its descriptor are not "
				    "well-formed; rebuild it",
				    plugin->path);
	for (uint32_t i = 0; i < s->setting_count; i++) {
		const struct rtl_setting_info *info = rtl_subscriber_setting(s, i);
		if (!setting_is_sound(info))
			return message_fail(
				message, RTL_EABI,
				"subscriber %s: setting '%s' in its descriptor is not well-formed, "
				"or does not take its own default; rebuild it",
				plugin->path, info->key ? info->key : "");
	}
	return 0;
}

static int fail_unknown_setting(const struct rtl_plugin *plugin, const char *key,
				const struct message *message)
{
	const struct rtl_subscriber *s = &plugin->subscriber;
	char *known = NULL;
	size_t size;
	FILE *stream = s->setting_count ? open_memstream(&known, &size) : NULL;

	for (uint32_t i = 0; stream && i < s->setting_count; i++)
		fprintf(stream, "%s%s", i ? ", " : "", rtl_subscriber_setting(s, i)->key);
	if (stream)
		fclose(stream);
	message_fail(message, RTL_EINVAL, "subscriber '%s' has no setting '%s'; it %s%s",
		     plugin->spec, key, known ? "knows: " : "has none", known ? known : "");
	free(known);
	return RTL_EINVAL;
}

static int check_keys(const struct rtl_plugin *plugin, const struct message *message)
{
	const struct rtl_subscriber *s = &plugin->subscriber;

	for (size_t i = 0; i < plugin->given_count; i++) {
		uint32_t known = 0;
		while (known < s->setting_count &&
		       strcmp(rtl_subscriber_setting(s, known)->key, plugin->given[i].key) != 0)
			known++;
		if (known == s->setting_count)
			return fail_unknown_setting(plugin, plugin->given[i].key, message);
	}
	return 0;
}

static int read_settings(struct rtl_plugin *plugin, const struct message *message)
{
	const struct rtl_subscriber *s = &plugin->subscriber;
	int error = check_keys(plugin, message);
	char values[512];

	if (error || !s->setting_count)
		return error;
	plugin->settings = calloc(s->setting_count, sizeof(*plugin->settings));
	if (!plugin->settings)
		return fail_memory(message, plugin->spec);
	for (uint32_t i = 0; i < s->setting_count; i++) {
		const struct rtl_setting_info *info = rtl_subscriber_setting(s, i);
		const char *value = given_value(plugin, info->key);
		if (setting_read(info, value, &plugin->settings[i]))
			continue;
		rtl_setting_values(info, values, sizeof(values));
		return message_fail(message, RTL_EINVAL, "subscriber '%s': %s=%s: give %s",
				    plugin->spec, info->key, value, values);
	}
	return 0;
}

static int load(struct rtl_plugin *plugin, const struct message *message)
{
	plugin->handle = dlopen(plugin->path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin->handle) {
		/* The reason often begins with the path, which the line has already. */
		const char *reason = dlerror();
		size_t length = strlen(plugin->path);
		if (!reason)
			reason = "dlopen failed";
		else if (!strncmp(reason, plugin->path, length) &&
			 !strncmp(reason + length, ": ", 2))
			reason += length + 2;
		return message_fail(message, RTL_ENOENT, "subscriber %s cannot be loaded: %s",
				    plugin->path, reason);
	}
	const struct rtl_subscriber *descriptor = dlsym(plugin->handle, RTL_SUBSCRIBER_SYMBOL);
	if (!descriptor)
		return message_fail(
			message, RTL_ENOENT,
			"%s is no subscriber: it does not export '" RTL_SUBSCRIBER_SYMBOL
			"'; `rtl list-subscribers` shows those that are",
			plugin->path);
	int error = read_descriptor(plugin, descriptor, message);
	if (!error)
		error = check_setting_infos(plugin, message);
	return error ? error : read_settings(plugin, message);
}

/* ---- the public functions ---- */

int rtl_plugin_open(const char *spec, struct rtl_plugin **out, char *text, size_t size)
{
	const struct message message = {text, size};
	struct rtl_plugin *plugin = calloc(1, sizeof(*plugin));
	int error;

	if (!plugin)
		return fail_memory(&message, spec);
	error = parse_spec(plugin, spec, &message);
	if (!error)
		error = find(plugin, &message);
	if (!error)
		error = load(plugin, &message);
	if (error) {
		rtl_plugin_close(plugin);
		return error;
	}
	*out = plugin;
	return 0;
}

const struct rtl_subscriber *rtl_plugin_subscriber(const struct rtl_plugin *plugin)
{
	return &plugin->subscriber;
}

const char *rtl_plugin_path(const struct rtl_plugin *plugin)
{
	return plugin->path;
}

const struct rtl_setting *rtl_plugin_settings(const struct rtl_plugin *plugin, size_t *count)
{
	*count = plugin->subscriber.setting_count;
	return plugin->settings;
}

void rtl_plugin_close(struct rtl_plugin *plugin)
{
	if (!plugin)
		return;
	if (plugin->handle)
		dlclose(plugin->handle);
	free(plugin->settings);
	free(plugin->given);
	free(plugin->spec);
	free(plugin->path);
	free(plugin);
}

/* ---- files ---- */

/* Whether a file is called lib*SUFFIX. */
static bool is_plugin_name(const char *name, const char *suffix)
{
	const size_t length = strlen(name), end = strlen(suffix);

	return length > 3 + end && !strncmp(name, "lib", 3) && !strcmp(name + length - end, suffix);
}

static void each_of_folder(const struct folder *folder, const char *suffix,
			   void (*fn)(void *user, const char *path), void *user)
{
	struct dirent **entries;
	int count = folder->exists ? scandir(folder->path, &entries, NULL, alphasort) : -1;

	if (count < 0)
		return;
	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (is_plugin_name(entries[i]->d_name, suffix) &&
		    asprintf(&path, "%s/%s", folder->path, entries[i]->d_name) >= 0) {
			if (is_file(path))
				fn(user, path);
			free(path);
		}
		free(entries[i]);
	}
	free(entries);
}

void plugin_each_file(const char *suffix, void (*fn)(void *user, const char *path), void *user)
{
	struct folders folders;

	if (folders_init(&folders))
		for (size_t i = 0; i < folders.count; i++)
			each_of_folder(&folders.items[i], suffix, fn, user);
	folders_fini(&folders);
}

int plugin_find_file(const char *name, char **path, char *text, size_t size)
{
	const struct message message = {text, size};
	struct rtl_plugin plugin = {.spec = (char *)(uintptr_t)name};
	int error = find(&plugin, &message);

	*path = plugin.path;
	return error;
}

void rtl_plugin_list(void (*fn)(void *user, const char *path), void *user)
{
	plugin_each_file("_sub.so", fn, user);
}
