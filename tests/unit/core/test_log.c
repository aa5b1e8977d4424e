/* SPDX-License-Identifier: MIT */
/* Unit tests of core/base/log.c: each line is one, whatever is in it. */

#include "log.h"
#include "unit.h"

static char path[] = "/tmp/rtl-test-log-XXXXXX";

static int setup(void **state)
{
	char value[64];

	close(mkstemp(path));
	snprintf(value, sizeof(value), "debug:%s", path);
	setenv("RTL_LOG", value, 1);
	log_init();
	return 0;
}

static int teardown(void **state)
{
	return unlink(path);
}

/* The line that comes of a text; valid until the next one. */
static const char *written(const char *text)
{
	static char line[3 * LOG_TEXT];
	size_t size;
	FILE *file;

	assert_int_equal(truncate(path, 0), 0);
	log_line(RTL_LEVEL_INFO, "test", "%s", text);
	file = fopen(path, "r");
	size = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[size] = '\0';
	return line;
}

TEST(test_line__control_characters__escaped)
{
	assert_string_equal(written("a\nb\tc\x1b[31m\x7f\x01 \xc3\xa9 \\n"),
			    "rtl: test: a\\nb\\tc\\x1b[31m\\x7f\\x01 \xc3\xa9 \\n\n");
}

/* Writes `count` of a unit, which is shown in `shown` bytes, and looks at what came of it. */
static void check_units(const char *unit, size_t shown, size_t count)
{
	static char text[2 * LOG_TEXT];
	size_t head = strlen("rtl: test: "), size;
	const char *line, *end;

	*text = '\0';
	for (size_t i = 0; i < count; i++)
		strcpy(text + i * strlen(unit), unit);
	line = written(text);
	size = strlen(line);
	end = line + size - 4;
	assert_true(strchr(line, '\n') == line + size - 1);
	if (strncmp(end, "...\n", 4) != 0) {
		assert_true(count * shown < LOG_TEXT + 128);
		assert_int_equal(size, head + count * shown + 1);
	} else {
		assert_true(size > LOG_TEXT - 8 && size < LOG_TEXT + 128);
		assert_int_equal((size_t)(end - line - (ptrdiff_t)head) % shown, 0);
	}
}

/* As long as there is room nothing is cut; from then on that is shown, and no character is torn. */
TEST(test_line__too_long__cut_and_marked)
{
	static const char *const units[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
					    "\n"};

	for (size_t u = 0; u < sizeof(units) / sizeof(*units); u++) {
		size_t step = strlen(units[u]), shown = *units[u] == '\n' ? 2 : step;
		size_t limit = (LOG_TEXT - 8) / shown, most = (LOG_TEXT + 136) / shown;
		check_units(units[u], shown, 1);
		for (size_t count = limit; count < most; count++)
			check_units(units[u], shown, count);
		check_units(units[u], shown, (2 * LOG_TEXT - 1) / step);
	}
}

RUN_TESTS(NULL, NULL, setup, teardown)
