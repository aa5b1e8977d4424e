/* SPDX-License-Identifier: MIT */
/* <rtl/args.h>: named values as text. That they lie in the payload is test_spool's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rtl/args.h>

struct payload {
	uint64_t before;
	struct rtl_text args;
	struct rtl_arg arg[8];
	char letters[8];
};

static const struct rtl_field field = {.struct_size = sizeof field,
				       .kind = RTL_KIND_ARGS,
				       .offset = offsetof(struct payload, args),
				       .size = 8,
				       .name = "args"};

static const char *string(const struct rtl_host *host, const struct rtl_process *process,
			  uint64_t id)
{
	static const char *const texts[] = {"zero", "one", "two", "three"};

	(void)host, (void)process;
	return id < 4 ? texts[id] : NULL;
}

static const struct rtl_host host = {.struct_size = sizeof host, .string = string};

static struct payload payload = {
	.args = {offsetof(struct payload, arg), sizeof payload.arg},
	.arg = {{.name = 0, .value.number = UINT64_MAX, .kind = RTL_KIND_UINT},
		{.name = 1, .value.integer = -5, .kind = RTL_KIND_INT, .flags = RTL_ARG_OUT},
		{.name = 2, .value.number = 0x7f2a, .kind = RTL_KIND_ADDRESS},
		{.name = 3, .value.number = 1, .kind = RTL_KIND_BOOL},
		{.name = 9, .value.number = 2, .kind = RTL_KIND_STRING},
		{.name = 0,
		 .value.text = {offsetof(struct payload, letters), 3},
		 .kind = RTL_KIND_TEXT,
		 .flags = RTL_ARG_CUT},
		{.name = 1, .value.real = 0.5, .kind = RTL_KIND_FLOAT},
		{.name = 2, .kind = 77}},
	.letters = "letters",
};

static const struct rtl_event event = {
	.struct_size = sizeof event, .payload = &payload, .payload_size = sizeof payload};

static const char all[] = "zero=18446744073709551615, *one=-5, two=0x7f2a, three=true, =two, "
			  "zero='let'..., one=0.5, two=?";

static void test_args__each_kind__as_text(void **state)
{
	char text[256];

	(void)state;
	assert_int_equal(rtl_args_count(&event, &field), 8);
	assert_int_equal(rtl_args_text(&host, &event, &field, text, sizeof text), strlen(all));
	assert_string_equal(text, all);
}

static void test_args__little_room__cut_and_terminated(void **state)
{
	char text[sizeof all + 1];

	(void)state;
	for (size_t size = 0; size <= sizeof all; size++) {
		memset(text, '#', sizeof text);
		assert_int_equal(rtl_args_text(&host, &event, &field, text, size), strlen(all));
		assert_int_equal(text[size], '#');
		if (size)
			assert_int_equal(strlen(text), size - 1);
		if (size)
			assert_memory_equal(text, all, size - 1);
	}
}

static void test_args__outside_of_the_payload__none(void **state)
{
	struct payload bad = payload;
	struct rtl_event wrong = event;
	char text[8] = "before";

	(void)state;
	bad.args.length = UINT32_MAX;
	wrong.payload = &bad;
	assert_int_equal(rtl_args_count(&wrong, &field), 0);
	assert_int_equal(rtl_args_text(&host, &wrong, &field, text, sizeof text), 0);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_args__each_kind__as_text),
		cmocka_unit_test(test_args__little_room__cut_and_terminated),
		cmocka_unit_test(test_args__outside_of_the_payload__none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
