/* SPDX-License-Identifier: MIT */
/* Unit tests of core/deliver/plugin.c. The plugins come from test_plugin_fixture.c and are in the folder PLUGINS/; the
 * "installed" one is where the installed folder of this executable would be. */
#include <sys/stat.h>

#include <rtl/plugin.h>

#include "unit.h"

static char text[4096];

/* Opens, expects success. */
static struct rtl_plugin *open_good(const char *spec)
{
	struct rtl_plugin *plugin = NULL;

	text[0] = '\0';
	if (rtl_plugin_open(spec, &plugin, text, sizeof(text)) != 0)
		fail_msg("%s: %s", spec, text);
	assert_non_null(plugin);
	return plugin;
}

static void assert_contains(const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

/* Opens, expects an error and one line that contains part. */
static void open_bad(const char *spec, int error, const char *part)
{
	struct rtl_plugin *untouched = (struct rtl_plugin *)&text, *plugin = untouched;

	text[0] = '\0';
	assert_int_equal(rtl_plugin_open(spec, &plugin, text, sizeof(text)), error);
	assert_ptr_equal(plugin, untouched);
	assert_null(strchr(text, '\n'));
	assert_contains(part);
}

static int setup(void **state)
{
	return setenv("RTL_PLUGIN_PATH", PLUGINS, 1);
}

TEST(test_open__path__gives_descriptor)
{
	size_t count = 99;
	struct rtl_plugin *plugin = open_good(PLUGINS "/libgood_sub.so");
	const struct rtl_subscriber *s = rtl_plugin_subscriber(plugin);

	assert_string_equal(s->name, "fixture");
	assert_string_equal(s->version, "1.2");
	assert_int_equal(s->setting_count, 5);
	assert_non_null(s->create);
	assert_non_null(s->finish);
	assert_null(s->destroy);
	assert_string_equal(rtl_plugin_path(plugin), PLUGINS "/libgood_sub.so");
	rtl_plugin_settings(plugin, &count);
	assert_int_equal(count, 5);
	rtl_plugin_close(plugin);
}

TEST(test_open__name_in_plugin_path__found)
{
	struct rtl_plugin *plugin;

	setenv("RTL_PLUGIN_PATH", "/nonexistent::" PLUGINS ":", 1);
	plugin = open_good("libgood_sub.so");
	assert_string_equal(rtl_plugin_path(plugin), PLUGINS "/libgood_sub.so");
	rtl_plugin_close(plugin);
}

TEST(test_open__name_in_installed_folder__found)
{
	struct rtl_plugin *plugin;

	unsetenv("RTL_PLUGIN_PATH");
	plugin = open_good("libinstalled_sub.so");
	assert_string_equal(rtl_plugin_subscriber(plugin)->name, "installed");
	rtl_plugin_close(plugin);
}

TEST(test_open__working_directory__comes_first)
{
	struct rtl_plugin *plugin;

	assert_int_equal(chdir(PLUGINS), 0);
	setenv("RTL_PLUGIN_PATH", "/nonexistent", 1);
	plugin = open_good("libgood_sub.so");
	assert_string_equal(rtl_plugin_path(plugin), "./libgood_sub.so");
	rtl_plugin_close(plugin);
	assert_int_equal(chdir("/"), 0);
}

static void assert_setting(const struct rtl_plugin *plugin, size_t n, const char *key,
			   const char *value, uint64_t number, bool given)
{
	size_t count;
	const struct rtl_setting *setting = rtl_plugin_settings(plugin, &count);

	assert_true(n < count);
	setting = rtl_setting_at(setting, n);
	assert_int_equal(setting->struct_size, sizeof(*setting));
	assert_string_equal(setting->key, key);
	if (value)
		assert_string_equal(setting->value, value);
	else
		assert_null(setting->value);
	assert_int_equal(setting->number, number);
	assert_int_equal(setting->given, given);
}

TEST(test_open__settings__decoded_and_typed)
{
	struct rtl_plugin *plugin = open_good(
		"libgood_sub.so?format=csv&top=7&links=no&output=a%3ab%26%25%3D=c d%C3%a9");

	assert_setting(plugin, 0, "output", "a:b&%==c d\xc3\xa9", 0, true);
	assert_setting(plugin, 1, "top", "7", 7, true);
	assert_setting(plugin, 2, "links", "no", 0, true);
	assert_setting(plugin, 3, "format", "csv", 2, true);
	assert_setting(plugin, 4, "seed", NULL, 0, false);
	rtl_plugin_close(plugin);
}

TEST(test_open__settings_not_given__defaults)
{
	struct rtl_plugin *plugin = open_good("libgood_sub.so?&top=3&&");

	assert_setting(plugin, 0, "output", "-", 0, false);
	assert_setting(plugin, 1, "top", "3", 3, true);
	assert_setting(plugin, 2, "links", "yes", 1, false);
	assert_setting(plugin, 3, "format", "text", 0, false);
	rtl_plugin_close(plugin);
	rtl_plugin_close(open_good("libgood_sub.so?"));
}

TEST(test_open__bad_value__says_what_is_allowed)
{
	static const struct {
		const char *setting, *wanted;
	} cases[] = {
		{"top=", "top=: give a number from 1 to 1000"},
		{"top=0", "top=0: give a number from 1 to 1000"},
		{"top=1001", "top=1001: give a number from 1 to 1000"},
		{"top=-1", "top=-1: give a number from 1 to 1000"},
		{"top=%203", "top= 3: give a number from 1 to 1000"},
		{"top=3x", "top=3x: give a number from 1 to 1000"},
		{"seed=18446744073709551616", "seed=18446744073709551616: give a number"},
		{"links=maybe", "links=maybe: give yes or no"},
		{"links=", "links=: give yes or no"},
		{"format=xml", "format=xml: give text, json or csv"},
		{"format=js", "format=js: give text, json or csv"},
		{"format=text|json", "format=text|json: give text, json or csv"},
		{"output=", "output=: give a text from 1 to 16 bytes"},
		{"output=12345678901234567", "give a text from 1 to 16 bytes"},
	};
	char spec[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(spec, sizeof(spec), "libgood_sub.so?%s", cases[i].setting);
		open_bad(spec, RTL_EINVAL, cases[i].wanted);
		assert_contains("subscriber 'libgood_sub.so': ");
	}
	rtl_plugin_close(open_good("libgood_sub.so?top=1000&seed=18446744073709551615"));
}

/* A plugin from before settings had types: they are texts. */
TEST(test_open__shorter_setting_infos__are_texts)
{
	struct rtl_plugin *plugin = open_good("liboldsettings_sub.so?output=");
	const struct rtl_subscriber *s = rtl_plugin_subscriber(plugin);

	assert_int_equal(s->setting_count, 2);
	assert_string_equal(rtl_subscriber_setting(s, 1)->key, "top");
	assert_setting(plugin, 0, "output", "", 0, true);
	assert_setting(plugin, 1, "top", NULL, 0, false);
	assert_true(rtl_setting_values(rtl_subscriber_setting(s, 1), text, sizeof(text)) > 0);
	assert_string_equal(text, "a text");
	rtl_plugin_close(plugin);
	plugin = open_good("liboldsettings_sub.so?top=many");
	assert_setting(plugin, 1, "top", "many", 0, true);
	rtl_plugin_close(plugin);
}

TEST(test_open__same_plugin_twice__separate_settings)
{
	struct rtl_plugin *a = open_good("libgood_sub.so?top=1");
	struct rtl_plugin *b = open_good("libgood_sub.so?top=2");

	assert_setting(a, 1, "top", "1", 1, true);
	rtl_plugin_close(a);
	assert_setting(b, 1, "top", "2", 2, true);
	assert_string_equal(rtl_plugin_subscriber(b)->name, "fixture");
	rtl_plugin_close(b);
}

TEST(test_open__shorter_descriptor__rest_is_null)
{
	struct rtl_plugin *plugin = open_good("libolder_sub.so");
	const struct rtl_subscriber *s = rtl_plugin_subscriber(plugin);

	assert_int_equal(s->struct_size, sizeof(*s));
	assert_non_null(s->create);
	assert_null(s->finish);
	rtl_plugin_close(plugin);
}

TEST(test_open__missing__says_where_it_looked)
{
	setenv("RTL_PLUGIN_PATH", "/nonexistent:" PLUGINS, 1);
	open_bad("libnone_sub.so", RTL_ENOENT, "'libnone_sub.so' not found");
	assert_contains("/nonexistent (RTL_PLUGIN_PATH, no such folder), " PLUGINS
			" (RTL_PLUGIN_PATH), ");
	assert_contains("/rtl");
	open_bad("./a/libnone_sub.so?top=1", RTL_ENOENT, "'./a/libnone_sub.so'");
	open_bad(PLUGINS "/", RTL_ENOENT, "no such file");
}

TEST(test_open__no_subscriber__refused)
{
	open_bad("libnosymbol_sub.so", RTL_ENOENT, PLUGINS "/libnosymbol_sub.so is no subscriber");
}

TEST(test_open__other_abi__refused)
{
	open_bad("libmajor_sub.so", RTL_EABI, "version 7.3 of the plugin ABI");
	assert_contains(PLUGINS "/libmajor_sub.so");
	open_bad("libminor_sub.so", RTL_EABI, "of the plugin ABI");
}

TEST(test_open__malformed_descriptor__refused)
{
	open_bad("libshort_sub.so", RTL_EABI, "too short (struct_size 8)");
	open_bad("libnocreate_sub.so", RTL_EABI, "no create function");
	open_bad("libnoname_sub.so", RTL_EABI, "no name");
	open_bad("libbadsettings_sub.so", RTL_EABI, "not well-formed");
	open_bad("libbaddefault_sub.so", RTL_EABI, "setting 'top' in its descriptor");
}

TEST(test_open__missing_dependency__reason_passed_on)
{
	open_bad("libdependent_sub.so", RTL_ENOENT, "cannot be loaded: libgone-for-test.so.1: ");
	assert_contains(PLUGINS "/libdependent_sub.so");
}

TEST(test_open__no_elf__refused)
{
	char path[] = "/tmp/rtl-test-plugin-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	open_bad(path, RTL_ENOENT, "cannot be loaded: file too short");
	assert_int_equal(write(fd, "#!/bin/sh\nexit 0\n# not a library\n", 33), 33);
	/* Longer than an ELF header, so that the magic number decides. */
	assert_int_equal(ftruncate(fd, 4096), 0);
	close(fd);
	open_bad(path, RTL_ENOENT, "cannot be loaded: invalid ELF header");
	unlink(path);
}

TEST(test_open__empty_name__refused)
{
	open_bad("", RTL_EINVAL, "the name is empty");
	open_bad("?top=1", RTL_EINVAL, "'?top=1': the name is empty");
}

TEST(test_open__unknown_setting__known_ones_listed)
{
	open_bad("libgood_sub.so?top=1&outptu=x", RTL_EINVAL, "no setting 'outptu'");
	assert_contains("knows: output, top, links, format, seed");
	open_bad("libnosettings_sub.so?a=1", RTL_EINVAL, "no setting 'a'; it has none");
}

TEST(test_open__malformed_setting__refused)
{
	open_bad("libgood_sub.so?top", RTL_EINVAL, "'top' is not of the form key=value");
	open_bad("libgood_sub.so?=3", RTL_EINVAL, "'=3' is not of the form key=value");
	open_bad("libgood_sub.so?top=1&top=2", RTL_EINVAL, "'top' is given twice");
	open_bad("libgood_sub.so?top=100%", RTL_EINVAL, "bad %XX in '100%'");
	open_bad("libgood_sub.so?top=%4", RTL_EINVAL, "bad %XX");
	open_bad("libgood_sub.so?top=%zz", RTL_EINVAL, "bad %XX");
	open_bad("libgood_sub.so?top=%00", RTL_EINVAL, "bad %XX");
	open_bad("lib%zz_sub.so", RTL_EINVAL, "'lib%zz_sub.so': bad %XX in its name");
	open_bad("libgood_sub.so%0?top=1", RTL_EINVAL, "bad %XX in its name");
}

TEST(test_open__name__decoded)
{
	struct rtl_plugin *plugin;

	setenv("RTL_PLUGIN_PATH", PLUGINS, 1);
	plugin = open_good("lib%67ood%5Fsub.so?top=%31");
	assert_string_equal(rtl_plugin_path(plugin), PLUGINS "/libgood_sub.so");
	rtl_plugin_close(plugin);
	open_bad("none%3F%3a%25_sub.so", RTL_ENOENT, "'none?:%_sub.so' not found");
}

TEST(test_open__no_room_for_message__only_code)
{
	struct rtl_plugin *plugin;
	char small[8];

	assert_int_equal(rtl_plugin_open("libnone_sub.so", &plugin, NULL, 0), RTL_ENOENT);
	assert_int_equal(rtl_plugin_open("libnone_sub.so", &plugin, small, sizeof(small)),
			 RTL_ENOENT);
	assert_string_equal(small, "subscri");
}

TEST(test_close__null__nothing)
{
	rtl_plugin_close(NULL);
}

struct listing {
	size_t good, other, position;
	size_t good_at[4];
};

static void count_path(void *user, const char *path)
{
	struct listing *l = user;

	l->position++;
	if (strstr(path, "/libgood_sub.so")) {
		assert_true(l->good < 4);
		l->good_at[l->good++] = l->position;
	} else if (!strstr(path, "/lib") || !strstr(path, "_sub.so")) {
		l->other++;
	}
}

TEST(test_list__folder_named_twice__each_file_once)
{
	struct listing l = {0};

	assert_int_equal(chdir("/"), 0);
	setenv("RTL_PLUGIN_PATH", PLUGINS ":" PLUGINS "/../plugins", 1);
	rtl_plugin_list(count_path, &l);
	assert_int_equal(l.good, 1);
	assert_int_equal(l.other, 0);
	assert_true(l.position > 5);
}

TEST(test_list__shadowed__both_in_order)
{
	char folder[] = "/tmp/rtl-test-plugin-XXXXXX";
	char link[sizeof(folder) + 32];
	struct listing l = {0};

	assert_non_null(mkdtemp(folder));
	snprintf(link, sizeof(link), "%s/libgood_sub.so", folder);
	assert_int_equal(symlink(PLUGINS "/libgood_sub.so", link), 0);
	assert_int_equal(chdir(folder), 0);
	setenv("RTL_PLUGIN_PATH", PLUGINS, 1);
	rtl_plugin_list(count_path, &l);
	assert_int_equal(l.good, 2);
	assert_int_equal(l.good_at[0], 1);
	assert_int_equal(chdir("/"), 0);
	unlink(link);
	rmdir(folder);
}

RUN_TESTS(setup, NULL, NULL, NULL)
