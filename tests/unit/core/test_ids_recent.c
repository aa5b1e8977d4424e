/* SPDX-License-Identifier: MIT */
/* Ids follow the content, wherever it lies: what was found last at an address is but a hint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>

#include <rtl/tracepoint.h>

static uint64_t intern(const char *text)
{
	uint64_t id = 0;

	assert_int_equal(rtl_string_intern(text, &id), 0);
	assert_string_equal(rtl_string_text(id), text);
	return id;
}

static uint64_t tracepoint(const char *name, const char *kind, const char *source, uint32_t line)
{
	const struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc),
						 .line = line,
						 .kind = kind,
						 .name = name,
						 .source = source};
	uint64_t uid = 0;

	assert_int_equal(rtl_tracepoint_register(&desc, &uid), 0);
	assert_true(uid);
	return uid;
}

static void test_ids_recent__same_text_elsewhere__same_id(void **state)
{
	char copy[] = "a text", *heap = strdup("a text");
	const uint64_t id = intern("a text");

	(void)state;
	assert_non_null(heap);
	assert_true(intern(copy) == id && intern(heap) == id && intern(copy) == id);
	free(heap);
}

static void test_ids_recent__buffer_reused__id_of_the_new_text(void **state)
{
	char buffer[32];
	uint64_t first[100];
	int i, round;

	(void)state;
	for (round = 0; round < 2; round++)
		for (i = 0; i < 100; i++) {
			snprintf(buffer, sizeof(buffer), "reused %d", i);
			if (!round)
				first[i] = intern(buffer);
			assert_true(intern(buffer) == first[i]);
			assert_true(intern(buffer) == first[i]);
			assert_true(!i || first[i] != first[i - 1]);
		}
}

static void test_ids_recent__tracepoint_differs_in_one_member__another_uid(void **state)
{
	char name[8] = "n", kind[8] = "k", source[8] = "s";
	const uint64_t uid = tracepoint(name, kind, source, 1);

	(void)state;
	assert_true(tracepoint(name, kind, source, 1) == uid);
	assert_true(tracepoint(name, kind, source, 2) != uid);
	assert_true(tracepoint(name, NULL, source, 1) != uid);
	*name = 'N';
	assert_true(tracepoint(name, kind, source, 1) != uid);
	*name = 'n', *kind = 'K';
	assert_true(tracepoint(name, kind, source, 1) != uid);
	*kind = 'k', *source = 'S';
	assert_true(tracepoint(name, kind, source, 1) != uid);
	*source = 's';
	assert_true(tracepoint(name, kind, source, 1) == uid);
}

/* Longer than what entries share a piece of memory with. */
static void test_ids_recent__long_text__whole(void **state)
{
	const size_t length = 100000;
	char *text = malloc(length + 1);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', length);
	text[length] = 0;
	assert_true(intern(text) == intern(text));
	assert_true(intern(text + 1) != intern(text));
	free(text);
}

static void *load(const char *path, const void **site)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	assert_non_null(library);
	*site = dlsym(library, "call_site");
	assert_non_null(*site);
	return library;
}

static uint64_t register_site(const char *name, const void *code)
{
	const struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .name = name, .code = code};
	uint64_t uid = 0;

	assert_int_equal(rtl_tracepoint_register(&desc, &uid), 0);
	return uid;
}

/* Two libraries of one layout: the second is loaded to where the first was. */
static void test_ids_recent__another_library_at_the_address__another_uid(void **state)
{
	static const char name[] = "site";
	const void *first, *second, *again;
	uint64_t uids[2];
	void *library;

	(void)state;
	library = load(LIBRARY_A, &first);
	uids[0] = register_site(name, first);
	assert_true(register_site(name, first) == uids[0]);
	dlclose(library);
	library = load(LIBRARY_B, &second);
	uids[1] = register_site(name, second);
	assert_true(uids[1] != uids[0]);
	assert_true(register_site(name, second) == uids[1]);
	dlclose(library);
	library = load(LIBRARY_A, &again);
	assert_true(register_site(name, again) == uids[0]);
	dlclose(library);
	if (first != second)
		skip(); /* the loader has chosen another address: nothing was shown */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_recent__same_text_elsewhere__same_id),
		cmocka_unit_test(test_ids_recent__buffer_reused__id_of_the_new_text),
		cmocka_unit_test(test_ids_recent__tracepoint_differs_in_one_member__another_uid),
		cmocka_unit_test(test_ids_recent__long_text__whole),
		cmocka_unit_test(test_ids_recent__another_library_at_the_address__another_uid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
