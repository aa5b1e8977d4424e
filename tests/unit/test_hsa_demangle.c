/* SPDX-License-Identifier: MIT */
/* Demangled names, with the C++ runtime's part played here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../streams/hsa/demangle.h"

static char *answer;

__attribute__((visibility("default"))) char *__cxa_demangle(const char *mangled, char *buffer,
							    size_t *length, int *status);

char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status)
{
	(void)mangled;
	(void)buffer;
	(void)length;
	*status = 0;
	return answer;
}

static char *of_length(size_t length)
{
	answer = malloc(length + 1);
	assert_non_null(answer);
	memset(answer, 'x', length);
	answer[length] = 0;
	return answer;
}

static void test_demangle__not_mangled__is_none(void **state)
{
	(void)state;
	answer = NULL;
	assert_null(demangle("vector_add"));
	assert_null(demangle("_Zrubbish"));
}

static void test_demangle__as_long_as_may_be__is_whole(void **state)
{
	(void)state;
	of_length(DEMANGLED_MAX);
	char *text = demangle("_Z1x");

	assert_int_equal(strlen(text), DEMANGLED_MAX);
	assert_string_equal(text + DEMANGLED_MAX - 3, "xxx");
	free(text);
}

static void check_cut(size_t length)
{
	of_length(length);
	char *text = demangle("_Z1x");

	assert_int_equal(strlen(text), DEMANGLED_MAX);
	assert_string_equal(text + DEMANGLED_MAX - 4, "x...");
	free(text);
}

static void test_demangle__too_long__is_cut(void **state)
{
	(void)state;
	assert_int_equal(DEMANGLED_MAX, 16384);
	check_cut(DEMANGLED_MAX + 1);
	check_cut(25000000);
}

static void test_demangle__cut_in_a_character__leaves_it_out(void **state)
{
	(void)state;
	memcpy(of_length(DEMANGLED_MAX + 1) + DEMANGLED_MAX - 4, "\xe2\x82\xac", 3);
	char *text = demangle("_Z1x");

	assert_int_equal(strlen(text), DEMANGLED_MAX - 1);
	assert_string_equal(text + DEMANGLED_MAX - 5, "x...");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demangle__not_mangled__is_none),
		cmocka_unit_test(test_demangle__as_long_as_may_be__is_whole),
		cmocka_unit_test(test_demangle__too_long__is_cut),
		cmocka_unit_test(test_demangle__cut_in_a_character__leaves_it_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
