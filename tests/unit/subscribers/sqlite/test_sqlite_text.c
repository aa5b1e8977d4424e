/* SPDX-License-Identifier: MIT */
/* test_sqlite_text.c: texts made fit for a database: each byte, wherever it stands. */
#include "text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool stays(unsigned char byte)
{
	return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
}

static void test_sqlite_text__plain__replaces_each_byte_that_must_not_stay(void **state)
{
	struct arena arena = {0};
	char text[20];

	(void)state;
	for (size_t length = 1; length < sizeof(text); length++)
		for (size_t at = 0; at < length; at++)
			for (unsigned byte = 0; byte < 256; byte++) {
				size_t out_length = 0;
				const char *out;

				memset(text, 'a', sizeof(text));
				text[at] = (char)byte;
				out = text_plain(&arena, text, length, &out_length);
				assert_non_null(out);
				assert_int_equal(out == text, stays((unsigned char)byte));
				assert_int_equal(out_length,
						 length + (byte && byte < 0x80 ? 0 : 2));
				assert_int_equal(out[0], at ? 'a' : out[0]);
				for (size_t i = 0; i < out_length; i++)
					assert_true(stays((unsigned char)out[i]) ||
						    (unsigned char)out[i] >= 0x80);
				arena_reset(&arena);
			}
	arena_fini(&arena);
}

static void test_sqlite_text__clean__only_what_is_no_utf8(void **state)
{
	static const char mixed[] = "12345678\"\\\n\xc3\xa4.........\xff|";
	struct arena arena = {0};
	size_t length = 0;

	(void)state;
	assert_string_equal(text_clean(&arena, mixed, sizeof(mixed) - 1, &length),
			    "12345678\"\\\n\xc3\xa4.........\xef\xbf\xbd|");
	assert_int_equal(length, sizeof(mixed) - 1 + 2);
	assert_string_equal(text_clean(&arena, "", 0, &length), "");
	assert_int_equal(length, 0);
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sqlite_text__plain__replaces_each_byte_that_must_not_stay),
		cmocka_unit_test(test_sqlite_text__clean__only_what_is_no_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
