/* SPDX-License-Identifier: MIT */
/* Unit tests of name.h and put.h: what becomes of awkward texts and numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "put.h"

static void check(const char *text, size_t length, const char *json)
{
	struct timeline_names names = {0};
	struct timeline_name *name = timeline_name(&names, text, length);

	assert_non_null(name);
	assert_int_equal(name->json_length, strlen(json));
	assert_memory_equal(name->json, json, name->json_length);
	assert_ptr_equal(timeline_name(&names, text, length), name);
	timeline_names_fini(&names);
}

#define CHECK(text, json) check(text, sizeof(text) - 1, json)

static void test_name__awkward_texts__are_json_in_valid_utf8(void **state)
{
	(void)state;
	CHECK("", "\"\"");
	CHECK("plain", "\"plain\"");
	CHECK("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	CHECK("\b\t\n\f\r\x01\x1f\x7f", "\"\\b\\t\\n\\f\\r\\u0001\\u001f\\u007f\"");
	CHECK("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80", "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\"");
	CHECK("a\0b", "\"a\xef\xbf\xbd"
		      "b\"");
	CHECK("\xff\xc3", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	CHECK("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* a surrogate */
}

static void test_name__many__are_told_apart(void **state)
{
	struct timeline_names names = {0};
	char text[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "name %u", i);
			assert_int_equal(timeline_name(&names, text, strlen(text))->number, i + 1);
		}
	timeline_names_fini(&names);
}

static void test_put__numbers__are_what_printf_makes(void **state)
{
	const uint64_t values[] = {0,          1,         9,         10,      99,
				   100,        12345,     999999,    1000000, 4294967296,
				   1ULL << 53, INT64_MAX, UINT64_MAX};
	char ours[64], theirs[64];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		const unsigned long long value = values[i];

		*put_uint(ours, value) = '\0';
		snprintf(theirs, sizeof(theirs), "%llu", value);
		assert_string_equal(ours, theirs);
		*put_int(ours, (int64_t)value) = '\0';
		snprintf(theirs, sizeof(theirs), "%lld", (long long)value);
		assert_string_equal(ours, theirs);
		*put_hex(ours, value) = '\0';
		snprintf(theirs, sizeof(theirs), "0x%llx", value);
		assert_string_equal(ours, theirs);
		*put_us(ours, value) = '\0';
		snprintf(theirs, sizeof(theirs), "%llu.%03llu", value / 1000, value % 1000);
		assert_string_equal(ours, theirs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name__awkward_texts__are_json_in_valid_utf8),
		cmocka_unit_test(test_name__many__are_told_apart),
		cmocka_unit_test(test_put__numbers__are_what_printf_makes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
