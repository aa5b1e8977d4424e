/* SPDX-License-Identifier: MIT */
/* Blocks as they are sent: what ClickHouse 18.16 itself says in the format Native, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "block.h"
#include "names.h"

static const struct column_info columns[] = {
	{"a", "UInt32", "", COLUMN_4},
	{"k", "LowCardinality(String)", "", COLUMN_NAME},
	{"d", "Date", "", COLUMN_DAY},
	{"t", "String", "", COLUMN_TEXT},
};
static const struct table_info table = {"t", "a", columns, 4, false};
static const struct process_columns process = {.day = 0x4fe6};

static void add(struct block *block, uint32_t a, uint32_t name, const char *text, size_t length)
{
	uint32_t row = 0;

	assert_true(block_add(block, &process, &row));
	block_put_uint32(block, 0, row, a);
	block_put_uint32(block, 1, row, name);
	block_put_text(block, 3, text, length);
	block_added(block);
}

/* To be freed. */
static char *send(const struct block *block, struct names *names, size_t *size)
{
	struct native native = {0};
	char *bytes, *to;

	assert_true(native_make(&native, block, names));
	*size = native.bytes;
	to = bytes = malloc(native.bytes + 1);
	assert_non_null(bytes);
	for (size_t i = 0; i < native.count; i++) {
		memcpy(to, native.pieces[i].data, native.pieces[i].size);
		to += native.pieces[i].size;
	}
	assert_int_equal(to - bytes, native.bytes);
	native_fini(&native);
	return bytes;
}

static void test_block__three_rows__bytes_as_the_server_has_them(void **state)
{
	static const char expected[] = "\x04\x03"
				       "\x01"
				       "a"
				       "\x06"
				       "UInt32"
				       "\x01\0\0\0\x02\0\0\0\x03\0\0\0"
				       "\x01"
				       "k"
				       "\x16"
				       "LowCardinality(String)"
				       "\x01\0\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\x03\0\0\0\0\0\0\0"
				       "\x00\x01"
				       "x"
				       "\x02"
				       "yy"
				       "\x03\0\0\0\0\0\0\0\x01\x02\x01"
				       "\x01"
				       "d"
				       "\x04"
				       "Date"
				       "\xe6\x4f\xe6\x4f\xe6\x4f"
				       "\x01"
				       "t"
				       "\x06"
				       "String"
				       "\x00\x03"
				       "one"
				       "\x05"
				       "\xef\xbf\xbd"
				       "ab";
	struct names names = {0};
	struct block *block = block_create(&table);
	size_t size;
	char *bytes;

	(void)state;
	assert_true(names_init(&names));
	assert_non_null(block);
	add(block, 1, names_of(&names, "x"), "", 0);
	add(block, 2, names_of(&names, "yy"), "one", 3);
	add(block, 3, names_of(&names, "x"),
	    "\xff"
	    "ab",
	    3);
	bytes = send(block, &names, &size);
	assert_int_equal(size, sizeof(expected) - 1);
	assert_memory_equal(bytes, expected, size);
	free(bytes);
	block_destroy(block);
	names_fini(&names);
}

/* More names than a byte can tell apart, and then than two can. */
static void test_block__many_names__wider_indices(void **state)
{
	static const struct column_info one[] = {{"k", "N", "", COLUMN_NAME}};
	static const struct table_info narrow = {"t", "k", one, 1, false};
	static const uint32_t counts[] = {255, 256, 65535, 65536};
	static const unsigned widths[] = {1, 2, 2, 4};
	char text[16];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct names names = {0};
		struct block *block = block_create(&narrow);
		uint32_t row = 0, last = 0;
		size_t size;
		char *bytes;

		assert_true(names_init(&names));
		for (uint32_t n = 0; n < counts[i]; n++) {
			snprintf(text, sizeof(text), "n%u", n);
			assert_true(block_add(block, &process, &row));
			block_put_uint32(block, 0, row, names_of(&names, text));
			block_added(block);
		}
		bytes = send(block, &names, &size);
		memcpy(&last, bytes + size - widths[i], widths[i]);
		assert_int_equal(last, counts[i]);
		memcpy(&last, bytes + size - counts[i] * widths[i] - 8, sizeof(last));
		assert_int_equal(last, counts[i]);
		free(bytes);
		block_destroy(block);
		names_fini(&names);
	}
}

static void test_block__emptied__rows_of_before_are_gone(void **state)
{
	struct names names = {0};
	struct block *block = block_create(&table);
	size_t size, again;
	char *first, *second;

	(void)state;
	assert_true(names_init(&names));
	add(block, 7, names_of(&names, "x"), "text", 4);
	first = send(block, &names, &size);
	block_clear(block);
	add(block, 7, names_of(&names, "x"), "text", 4);
	second = send(block, &names, &again);
	assert_int_equal(size, again);
	assert_memory_equal(first, second, size);
	free(first);
	free(second);
	block_destroy(block);
	names_fini(&names);
}

static void test_names__bytes_of_no_utf8__one_name(void **state)
{
	struct names names = {0};

	(void)state;
	assert_true(names_init(&names));
	assert_int_equal(names_of(&names, NULL), 0);
	assert_int_equal(names_of(&names, ""), 0);
	assert_int_equal(names_of(&names, "a\xfe"), 1);
	assert_int_equal(names_of(&names, "a\xff"), 1);
	assert_string_equal(names.texts[1], "a\xef\xbf\xbd");
	names_fini(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block__three_rows__bytes_as_the_server_has_them),
		cmocka_unit_test(test_block__many_names__wider_indices),
		cmocka_unit_test(test_block__emptied__rows_of_before_are_gone),
		cmocka_unit_test(test_names__bytes_of_no_utf8__one_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
