/* SPDX-License-Identifier: MIT */
/* The HSA interceptor's settings, with librtl's log played here. */
#include <sys/wait.h>

#include <rtl/publish.h>

#include "../../streams/hip/preload.h"
#include "../../streams/hsa/runtime/config.h"
#include "unit.h"

static char line[512];
static int lines;
static bool preloaded;

bool hip_is_preloaded(void)
{
	return preloaded;
}

bool hip_table_taken(void)
{
	return false;
}

void rtl_log(enum rtl_level level, const char *component, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	lines++;
}

static int setup(void **state)
{
	static const char *const names[] = {
		"RTL_MODE",        "RTL_MODE_FALLBACK", "RTL_STRICT",          "RTL_HSA_SLOTS",
		"RTL_HSA_WAIT_MS", "RTL_HSA_EXIT_MS",   "RTL_EXIT_TIMEOUT_MS", "RTL_BUFFER_POLICY"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	lines = 0;
	preloaded = false;
	return 0;
}

TEST(test_config__nothing_set__has_defaults)
{
	struct config config;

	assert_true(config_read(&config));
	assert_int_equal(config.mode, CONFIG_STANDARD);
	assert_int_equal(config.slots, 131072);
	assert_int_equal(config.wait_ms, 60000);
	assert_int_equal(config.exit_timeout_ms, 1000);
	assert_int_equal(lines, 0);
}

TEST(test_config__exit_ms__is_read)
{
	struct config config;

	setenv("RTL_EXIT_TIMEOUT_MS", "5", 1);
	setenv("RTL_HSA_EXIT_MS", "70", 1);
	assert_true(config_read(&config));
	assert_int_equal(config.exit_timeout_ms, 70);
	setenv("RTL_HSA_EXIT_MS", "soon", 1);
	assert_true(config_read(&config));
	assert_int_equal(config.exit_timeout_ms, 1000);
	assert_int_equal(lines, 1);
	assert_non_null(strstr(line, "RTL_HSA_EXIT_MS=soon"));
}

/* The exit status of a process that reads a bad setting: 2 if it is strict about it. */
static int status_with(const char *strict)
{
	const pid_t pid = fork();
	int status;

	if (!pid) {
		struct config config;

		setenv("RTL_HSA_SLOTS", "none", 1);
		setenv("RTL_STRICT", strict, 1);
		(void)config_read(&config);
		_exit(10 + lines);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(test_config__only_1__is_strict)
{
	assert_int_equal(status_with("1"), 2);
	assert_int_equal(status_with("0"), 11);
	assert_int_equal(status_with(""), 11);
	/* That it is neither is the core's line, not ours. */
	assert_int_equal(status_with("yes"), 11);
	assert_int_equal(status_with("10"), 11);
}

TEST(test_config__mode__is_read_or_refused)
{
	static const struct {
		const char *name;
		enum config_mode mode;
		bool able;
		int lines;
	} modes[] = {{"lite", CONFIG_LITE, true, 0},        {"standard", CONFIG_STANDARD, true, 0},
		     {"default", CONFIG_STANDARD, true, 0}, {"", CONFIG_STANDARD, true, 0},
		     {"full", CONFIG_FULL, true, 0},        {"hip", CONFIG_STANDARD, false, 1},
		     {"Full", CONFIG_STANDARD, false, 1},   {"fast", CONFIG_STANDARD, false, 1}};
	struct config config;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		lines = 0;
		setenv("RTL_MODE", modes[i].name, 1);
		assert_int_equal(config_read(&config), modes[i].able);
		assert_int_equal(config.mode, modes[i].mode);
		assert_int_equal(lines, modes[i].lines);
		if (lines)
			assert_non_null(strstr(line, modes[i].name));
	}
}

TEST(test_config__mode_hip__needs_the_preload)
{
	struct config config;

	setenv("RTL_MODE", "hip", 1);
	assert_false(config_read(&config));
	assert_non_null(strstr(line, "LD_PRELOAD"));
	setenv("RTL_MODE_FALLBACK", "1", 1);
	lines = 0;
	assert_true(config_read(&config));
	assert_int_equal(config.mode, CONFIG_STANDARD);
	assert_int_equal(lines, 1);
	unsetenv("RTL_MODE_FALLBACK");
	preloaded = true;
	lines = 0;
	assert_true(config_read(&config));
	assert_int_equal(config.mode, CONFIG_STANDARD);
	assert_int_equal(lines, 0);
}

RUN_TESTS(setup, NULL, NULL, NULL)
