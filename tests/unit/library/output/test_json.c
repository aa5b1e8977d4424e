/* SPDX-License-Identifier: MIT */
/* Unit tests of library/output/json.h. */

#include "unit.h"

#include "json.h"
#include "utf8.h"

#define FFFD UTF8_REPLACEMENT

TEST(test_json__odd_bytes_in_a_text__valid_json)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{"", "\"\""},
		{"a\"b\\c\n\x7f", "\"a\\\"b\\\\c\\n\\u007f\""},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		 "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"\xc3", "\"" FFFD "\""},
		{"\xc0\xaf\xff", "\"" FFFD FFFD FFFD "\""},
		{"\xed\xa0\x80", "\"" FFFD FFFD FFFD "\""},
		{"\xf8\x8f\xbf\xbf", "\"" FFFD FFFD FFFD FFFD "\""},
		{"\xf5\x80\x80\x80", "\"" FFFD FFFD FFFD FFFD "\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = NULL;
		size_t size;
		FILE *file = open_memstream(&text, &size);
		json_string(file, cases[i].text);
		fclose(file);
		assert_string_equal(text, cases[i].json);
		free(text);
	}
}

/* However it is cut on its way to the file. */
TEST(test_json__long_text__no_character_is_torn)
{
	char text[400], *json = NULL;
	size_t size;

	for (size_t before = 120; before < 132; before++) {
		FILE *file = open_memstream(&json, &size);
		memset(text, 'a', before);
		strcpy(text + before, "\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa9\x80\xff end");
		json_string(file, text);
		fclose(file);
		assert_int_equal(size, before + strlen(text + before) + 2 + 4);
		assert_memory_equal(json + 1, text, before + 9);
		assert_string_equal(json + 1 + before + 9, FFFD FFFD " end\"");
		free(json);
	}
}

TEST(test_json__objects_and_arrays__commas_between_and_lines_for_rows)
{
	static char *volatile none;
	char *text = NULL;
	size_t size;
	struct json json = {.file = open_memstream(&text, &size)};

	json_object(&json, NULL);
	json_text(&json, "a\"b", "c");
	json_print(&json, "none:%s ?left:%s ?out:%u empty:[] rows:[", none, none, 0);
	for (unsigned i = 0; i < 2; i++) {
		json_print(&json, "{n:%lu in:{yes:%i}list:[%.1f", UINT64_MAX - i, true, 1.25);
		json_value(&json, NULL, "-7");
		json_print(&json, "]?left:%s ?left_out:%u in:%d}", "x", 0, -7);
	}
	json_end(&json);
	json_value(&json, "last", NULL);
	json_end(&json);
	fclose(json.file);
	assert_string_equal(text, "{\"a\\\"b\":\"c\",\"none\":null,\"empty\":[],\"rows\":["
				  "\n  "
				  "{\"n\":18446744073709551615,\"in\":{\"yes\":true},\"list\":[1.2,"
				  "-7],\"left\":\"x\",\"in\":-7},"
				  "\n  "
				  "{\"n\":18446744073709551614,\"in\":{\"yes\":true},\"list\":[1.2,"
				  "-7],\"left\":\"x\",\"in\":-7}],"
				  "\"last\":null}\n");
	free(text);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
