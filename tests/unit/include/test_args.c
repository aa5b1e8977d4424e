/* SPDX-License-Identifier: MIT */
/* <rtl/args.h>: named values as text, and core/format/values.c, which reads their descriptions. That
 * they lie in the payload is test_spool's. */

#include <rtl/args.h>

#include "stream_info.h"
#include "unit.h"

/* What the members of the struct below are. */
static const char description[] =
	"zero:u64 one:address>i32 two:address three:bool four:string text:text cut:text gone:text "
	"half:f64 single:address>f32 way:i32{0=NO;1=YES;7=MAYBE} left:address>i16{-1=LESS;1=MORE} "
	"byte:u8 late:u8";

struct payload {
	uint64_t before;
	struct rtl_text args;
	struct { /* laid out as the description says */
		uint64_t states;
		uint64_t zero;
		uint64_t one;
		uint64_t two;
		uint8_t three;
		uint64_t four;
		struct rtl_text text, cut;
		uint64_t gone;
		double half;
		uint64_t single;
		int32_t way;
		uint64_t left;
		uint8_t byte;
	} values;
	char letters[8];
};

static const struct rtl_field field = {.struct_size = sizeof(field),
				       .kind = RTL_KIND_VALUES,
				       .offset = offsetof(struct payload, args),
				       .size = 8,
				       .name = "args"};

static struct rtl_values_info *info; /* what the host says */

static const char *string(const struct rtl_host *host, const struct rtl_process *process,
			  uint64_t id)
{
	return id == 4 ? "text of 4" : NULL;
}

static const struct rtl_values_info *values(const struct rtl_host *host,
					    const struct rtl_process *process, uint64_t uid)
{
	return uid == 99 ? info : NULL;
}

static const struct rtl_host host = {
	.struct_size = sizeof(host), .string = string, .values = values};

#define STATE(state, i) ((uint64_t)(state) << 2 * (i))

static struct payload payload = {
	.args = {offsetof(struct payload, values),
		 offsetof(struct payload, values.byte) + 1 - offsetof(struct payload, values)},
	.values = {.states = STATE(RTL_VALUE_FOLLOWED, 1) | STATE(RTL_VALUE_FOLLOWED, 5) |
			     STATE(RTL_VALUE_BEGINNING, 6) | STATE(RTL_VALUE_FOLLOWED, 9) |
			     STATE(RTL_VALUE_FOLLOWED, 11),
		   .zero = UINT64_MAX,
		   .one = (uint32_t)-5,
		   .two = 0x7f2a,
		   .three = 1,
		   .four = 4,
		   .text = {offsetof(struct payload, letters), 7},
		   .cut = {offsetof(struct payload, letters), 3},
		   .gone = 0x1234,
		   .half = 0.5,
		   .single = 0x3e800000, /* 0.25f */
		   .way = 7,
		   .left = 0xffff,
		   .byte = 200},
	.letters = "letters",
};

static const struct rtl_event event = {.struct_size = sizeof(event),
				       .payload = &payload,
				       .payload_size = sizeof(payload),
				       .uid = 99};

static const char all[] =
	"zero=18446744073709551615, *one=-5, two=0x7f2a, three=true, four=text of 4, "
	"text='letters', cut='let'..., gone=0x1234, half=0.5, *single=0.25, way=MAYBE, *left=LESS, "
	"byte=200";

TEST(test_args__each_kind__as_text)
{
	char text[512];

	assert_int_equal(rtl_args_text(&host, &event, &field, text, sizeof(text)), strlen(all));
	assert_string_equal(text, all);
}

TEST(test_args__walk__yields_values_as_they_are)
{
	struct rtl_args walk = rtl_args_begin(&host, &event, &field);
	struct rtl_value arg;
	char text[32];
	unsigned n = 0;

	while (rtl_args_next(&walk, &arg)) {
		if (n == 1) {
			assert_string_equal(arg.name, "one");
			assert_int_equal(arg.kind, RTL_KIND_INT);
			assert_int_equal(arg.flags, RTL_ARG_OUT);
			assert_int_equal(arg.integer, -5);
			assert_int_equal(rtl_value_text(&host, &event, &arg, text, sizeof(text)),
					 2);
			assert_string_equal(text, "-5");
		}
		if (n == 6) {
			assert_int_equal(arg.flags, RTL_ARG_CUT);
			assert_int_equal(arg.length, 3);
			assert_memory_equal(arg.text, "let", 3);
		}
		if (n == 10) {
			assert_int_equal(arg.integer, 7);
			assert_string_equal(arg.enumerator, "MAYBE");
		}
		n++;
	}
	assert_int_equal(n, 13);
}

TEST(test_args__not_followed__addresses)
{
	struct payload bare = payload;
	struct rtl_event same = event;
	char text[512];

	bare.values.states = 0;
	bare.args.length--; /* the last one is missing, too */
	same.payload = &bare;
	rtl_args_text(&host, &same, &field, text, sizeof(text));
	assert_non_null(strstr(text, ", one=0xfffffffb, "));
	assert_non_null(strstr(text, "gone=0x1234, half=0.5, single=0x3e800000, way=MAYBE, "
				     "left=0xffff"));
	assert_null(strstr(text, "byte"));
}

TEST(test_args__little_room__cut_and_terminated)
{
	char text[sizeof(all) + 1];

	for (size_t size = 0; size <= sizeof(all); size++) {
		memset(text, '#', sizeof(text));
		assert_int_equal(rtl_args_text(&host, &event, &field, text, size), strlen(all));
		assert_int_equal(text[size], '#');
		if (size)
			assert_int_equal(strlen(text), size - 1);
		if (size)
			assert_memory_equal(text, all, size - 1);
	}
}

static size_t count(const struct rtl_host *of, const struct rtl_event *in)
{
	struct rtl_args walk = rtl_args_begin(of, in, &field);
	struct rtl_value arg;
	size_t n = 0;

	while (rtl_args_next(&walk, &arg))
		n++;
	return n;
}

TEST(test_args__outside_of_the_payload__none)
{
	struct payload bad = payload;
	struct rtl_event wrong = event;
	char text[512] = "before";

	bad.args.length = UINT32_MAX;
	wrong.payload = &bad;
	assert_int_equal(count(&host, &wrong), 0);
	assert_int_equal(rtl_args_text(&host, &wrong, &field, text, 8), 0);
	assert_string_equal(text, "");
	bad.args.length = 7; /* less than the states */
	assert_int_equal(count(&host, &wrong), 0);
	bad = payload;
	bad.values.text.length = UINT32_MAX;
	rtl_args_text(&host, &wrong, &field, text, sizeof(text));
	assert_non_null(strstr(text, "four=text of 4, text=?, cut='let'..."));
}

TEST(test_args__not_described__none)
{
	struct rtl_host old = host;
	struct rtl_event other = event;

	assert_int_equal(count(&host, &event), 13);
	other.uid = 98;
	assert_int_equal(count(&host, &other), 0);
	old.struct_size = offsetof(struct rtl_host, values);
	assert_int_equal(count(&old, &event), 0);
}

/* ---- an array, which says all of itself */

struct array {
	struct rtl_text args;
	struct rtl_arg arg[8];
	char letters[8];
};

static const struct rtl_field array_field = {.struct_size = sizeof(array_field),
					     .kind = RTL_KIND_ARGS,
					     .offset = offsetof(struct array, args),
					     .size = 8,
					     .name = "args"};

static const char *name(const struct rtl_host *of, const struct rtl_process *process, uint64_t id)
{
	static const char *const texts[] = {"zero", "one", "two", "three"};

	return id < 4 ? texts[id] : NULL;
}

static const struct rtl_host array_host = {.struct_size = sizeof(array_host), .string = name};

static const struct array array = {
	.args = {offsetof(struct array, arg), sizeof(array.arg)},
	.arg = {{.name = 0, .value.number = UINT64_MAX, .kind = RTL_KIND_UINT},
		{.name = 1, .value.integer = -5, .kind = RTL_KIND_INT, .flags = RTL_ARG_OUT},
		{.name = 2, .value.number = 0x7f2a, .kind = RTL_KIND_ADDRESS},
		{.name = 3, .value.number = 1, .kind = RTL_KIND_BOOL},
		{.name = 9, .value.number = 2, .kind = RTL_KIND_STRING},
		{.name = 0,
		 .value.text = {offsetof(struct array, letters), 3},
		 .kind = RTL_KIND_TEXT,
		 .flags = RTL_ARG_CUT},
		{.name = 1, .value.real = 0.5, .kind = RTL_KIND_FLOAT},
		{.name = 2, .kind = 77}},
	.letters = "letters",
};

TEST(test_args__array__as_text)
{
	static const char expected[] =
		"zero=18446744073709551615, *one=-5, two=0x7f2a, three=true, =two, "
		"zero='let'..., one=0.5, two=?";
	const struct rtl_event of = {
		.struct_size = sizeof(of), .payload = &array, .payload_size = sizeof(array)};
	struct rtl_event shorter = of;
	char text[256];

	assert_int_equal(rtl_args_text(&array_host, &of, &array_field, text, sizeof(text)),
			 strlen(expected));
	assert_string_equal(text, expected);
	shorter.payload_size = array.args.offset + array.args.length - 1;
	assert_int_equal(rtl_args_text(&array_host, &shorter, &array_field, text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

/* ---- descriptions */

TEST(test_values_parse__values_without_states__laid_out_as_a_struct)
{
	static const uint32_t offsets[] = {0, 2, 4, 8, 16, 24};
	struct rtl_values_info *parsed =
		values_parse(" a:u8  b:i16 c:u8 d:u32{5=x;-5=y} e:time f:uid ");

	assert_non_null(parsed);
	assert_int_equal(parsed->count, 6);
	assert_int_equal(parsed->has_states, 0);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(rtl_values_info_one(parsed, i)->offset, offsets[i]);
	assert_int_equal(parsed->values[3].enumerator_count, 2);
	assert_int_equal(parsed->values[3].enumerators[0].value, -5);
	assert_string_equal(parsed->values[3].enumerators[0].name, "y");
	free(parsed);
	parsed = values_parse("");
	assert_non_null(parsed);
	assert_int_equal(parsed->count, 0);
	free(parsed);
}

TEST(test_values_parse__nonsense__refused)
{
	static const char *const texts[] = {
		"a",
		"a:",
		":u8",
		"a:u9",
		"a:u8{",
		"a:u8{}",
		"a:u8{1}",
		"a:u8{=x}",
		"a:u8{1=}",
		"a:u8{1=x",
		"a:u8{x=1}",
		"a:u8{1=x}b:u8",
		"a:u64>u8",
		"a:text{1=x}",
		"a:address>",
		"a:address{1=x}",
		"a:address>f64{1=x}",
		"a:u8{1=x;}",
		"a:u8{99999999999999999999=x}",
		"a>u8",
		"a:u8 b",
		"a=1:u8",
		"a:u8}",
	};
	char many[33 * 5 + 1] = "";

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (values_parse(texts[i]))
			fail_msg("'%s' is taken", texts[i]);
	for (int i = 0; i < 33; i++)
		strcat(many, "a:u8 ");
	assert_null(values_parse(many));
	many[32 * 5] = 0;
	free(values_parse(many));
}

static int parse(void **state)
{
	return !(info = values_parse(description));
}

static int free_info(void **state)
{
	free(info);
	return 0;
}

RUN_TESTS(NULL, NULL, parse, free_info)
