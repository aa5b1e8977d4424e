/* SPDX-License-Identifier: MIT */
/* test_sqlite_generic.c: streams that the plugin has never heard of, stored by field name. */
#include "test_sqlite.h"

#include <rtl/describe.h>

#include <float.h>

#define TYPE_A RTL_TYPE_USER(3, 1)
#define TYPE_B RTL_TYPE_USER(3, 2)

/* One field of each kind. */
struct all_kinds {
	uint8_t u1;
	int8_t i1;
	uint16_t u2;
	int16_t i2;
	uint32_t u4;
	int32_t i4;
	uint64_t u8;
	int64_t i8;
	float f4;
	uint8_t yes;
	uint8_t bytes[3];
	double f8;
	uint64_t address, time, none, string, uid;
	struct rtl_text text, args;
	struct rtl_arg arg[2];
	struct rtl_text values;
	uint64_t states, small, there;
	char follows[16];
};

#define FIELD(member, kind) RTL_FIELD(struct all_kinds, member, kind, "", "")

static const struct rtl_field all_fields[] = {
	FIELD(u1, RTL_KIND_UINT),         FIELD(i1, RTL_KIND_INT),
	FIELD(u2, RTL_KIND_UINT),         FIELD(i2, RTL_KIND_INT),
	FIELD(u4, RTL_KIND_UINT),         FIELD(i4, RTL_KIND_INT),
	FIELD(u8, RTL_KIND_UINT),         FIELD(i8, RTL_KIND_INT),
	FIELD(f4, RTL_KIND_FLOAT),        FIELD(yes, RTL_KIND_BOOL),
	FIELD(bytes, RTL_KIND_BYTES),     FIELD(f8, RTL_KIND_FLOAT),
	FIELD(address, RTL_KIND_ADDRESS), FIELD(time, RTL_KIND_TIME),
	FIELD(none, RTL_KIND_TIME),       FIELD(string, RTL_KIND_STRING),
	FIELD(uid, RTL_KIND_UID),         FIELD(text, RTL_KIND_TEXT),
	FIELD(args, RTL_KIND_ARGS),       FIELD(values, RTL_KIND_VALUES),
};

#define TYPE(number, type_name, field_array)                                                       \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_type_info), .type = (number),                     \
		.field_count = sizeof(field_array) / sizeof((field_array)[0]),                     \
		.payload_size = offsetof(struct all_kinds, follows), .name = (type_name),          \
		.description = "", .fields = (field_array),                                        \
	}

#define STREAM(stream_name, type_array)                                                            \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_stream_info), .version_major = 1,                 \
		.name = (stream_name), .description = "d", .types = (type_array),                  \
		.type_count = sizeof(type_array) / sizeof((type_array)[0]),                        \
	}

static const struct rtl_type_info kinds_types[] = {TYPE(TYPE_A, "all_kinds", all_fields)};
static const struct rtl_stream_info kinds_stream = STREAM("my.app", kinds_types);

static struct all_kinds sample_kinds(void)
{
	return (struct all_kinds){
		.u1 = 255,
		.i1 = -128,
		.u2 = 65535,
		.i2 = -2,
		.u4 = UINT32_MAX,
		.i4 = -3,
		.u8 = INT64_MAX,
		.i8 = INT64_MIN,
		.f4 = 0.5f,
		.yes = 1,
		.bytes = {1, 2, 3},
		.f8 = 1e300,
		.address = 0xffff800000000000,
		.time = 77,
		.text = {offsetof(struct all_kinds, follows), 5},
		.args = {offsetof(struct all_kinds, arg), 2 * sizeof(struct rtl_arg)},
		.arg = {{.value.integer = -1, .kind = RTL_KIND_INT},
			{.value.number = 31, .kind = RTL_KIND_ADDRESS, .flags = RTL_ARG_OUT}},
		.values = {offsetof(struct all_kinds, states), 24},
		.states = RTL_VALUE_FOLLOWED << 2,
		.small = UINT64_MAX,
		.there = 31,
		.follows = "it's!and more",
	};
}

static void deliver(struct trace *t, const struct rtl_stream_info *stream, uint16_t type,
		    const void *payload, uint32_t size)
{
	struct rtl_event e = fake_event(stream, type, t->process, payload, size);

	e.tid = 42;
	e.time_ns = 2000000;
	e.instance = 8;
	e.uid = 600;
	fake_host_deliver_one(t->host, &e);
}

TRACE_TEST(test_sqlite_generic__every_kind__has_its_column)
{
	struct all_kinds k = sample_kinds();

	trace_begin(t, "");
	fake_host_stream(t->host, &kinds_stream);
	assert_true(fake_host_subscribed(t->host, &kinds_stream, TYPE_A));
	k.string = fake_host_string(t->host, t->process, "an \"interned\" 'text' \xc3\xbc");
	k.arg[0].name = k.string;
	fake_host_tracepoint(t->host, t->process, 600, "place", "here", RTL_VALUES_KEY,
			     "small:i64 there:address>address");
	k.uid = 600;
	deliver(t, &kinds_stream, TYPE_A, &k, sizeof(k));
	trace_end(t);
	assert_sql(t,
		   "SELECT id, process, tid, time_ns, uid, parent_uid, instance, correlation FROM "
		   "rtl_e_my_app_all_kinds",
		   "3|1|42|2000000|600|0|8|0");
	assert_answer(
		t->file,
		"SELECT u1, i1, u2, i2, u4, i4, u8, i8, f4, yes, hex(bytes), f8"
		" FROM rtl_e_my_app_all_kinds",
		"255|-128|65535|-2|4294967295|-3|9223372036854775807|-9223372036854775808|0.5|"
		"1|010203|1.0e+300");
	assert_sql(t,
		   "SELECT printf('%x', address), time, none, string, \"uid_2\", text FROM "
		   "rtl_e_my_app_all_kinds",
		   "ffff800000000000|77|NULL|an \"interned\" 'text' \xc3\xbc|600|it's!");
	assert_sql(t, "SELECT args FROM rtl_e_my_app_all_kinds",
		   "an 'interned' 'text' \xc3\xbc=-1, *=0x1f");
	assert_sql(t, "SELECT \"values\" FROM rtl_e_my_app_all_kinds", "small=-1, *there=0x1f");
	assert_sql(t, "SELECT name FROM rtl_tracepoint WHERE uid = 600", "here");
	assert_sql(t, "SELECT table_name FROM rtl_type WHERE stream = 2", "rtl_s_my_app_all_kinds");
	assert_sql(t, "SELECT column_name FROM rtl_field WHERE stream = 2 AND name = 'uid'",
		   "uid_2");
}

TRACE_TEST(test_sqlite_generic__texts__are_cut_out_checked_and_made_valid)
{
	struct all_kinds k = sample_kinds();
	const struct rtl_text bad[] = {
		{0, UINT32_MAX}, {UINT32_MAX, 8}, {sizeof(k), 1}, {sizeof(k) - 2, 3}};

	trace_begin(t, "");
	fake_host_stream(t->host, &kinds_stream);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		k.text = bad[i];
		deliver(t, &kinds_stream, TYPE_A, &k, sizeof(k));
	}
	k.text = (struct rtl_text){offsetof(struct all_kinds, follows), 6};
	memcpy(k.follows,
	       "a\0\xc3\xe2\x82"
	       "b",
	       6);
	deliver(t, &kinds_stream, TYPE_A, &k, sizeof(k));
	k.text.length = 0;
	deliver(t, &kinds_stream, TYPE_A, &k, sizeof(k));
	trace_end(t);
	assert_sql(t, "SELECT text FROM rtl_e_my_app_all_kinds ORDER BY id",
		   ";;;;a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
		   "b;");
}

TRACE_TEST(test_sqlite_generic__very_long_text__is_whole)
{
	size_t length = 3000000;
	struct all_kinds *k = calloc(1, sizeof(*k) + length);

	*k = sample_kinds();
	k->text = (struct rtl_text){sizeof(*k), (uint32_t)length};
	memset(k + 1, 'x', length);
	trace_begin(t, "");
	fake_host_stream(t->host, &kinds_stream);
	deliver(t, &kinds_stream, TYPE_A, k, (uint32_t)(sizeof(*k) + length));
	trace_end(t);
	free(k);
	assert_sql(t, "SELECT length(text) FROM rtl_e_my_app_all_kinds", "3000000");
}

/* Kinds of a later version, and sizes that a kind does not have. */
static const struct rtl_field odd_fields[] = {
	{.struct_size = sizeof(struct rtl_field),
	 .kind = 999,
	 .offset = 0,
	 .size = 4,
	 .name = "new"},
	{.struct_size = sizeof(struct rtl_field),
	 .kind = RTL_KIND_UINT,
	 .size = 3,
	 .name = "three"},
	{.struct_size = sizeof(struct rtl_field),
	 .kind = RTL_KIND_FLOAT,
	 .size = 2,
	 .name = "half"},
	{.struct_size = sizeof(struct rtl_field),
	 .kind = RTL_KIND_TEXT,
	 .size = 4,
	 .name = "short"},
	{.struct_size = sizeof(struct rtl_field), .kind = RTL_KIND_UINT, .size = 1, .name = NULL},
};

static const struct rtl_type_info odd_types[] = {TYPE(TYPE_A, NULL, odd_fields)};

TEST(test_sqlite_generic__unknown_kinds_and_sizes__are_bytes)
{
	static const struct rtl_stream_info stream = STREAM("odd", odd_types);
	struct trace *t = *state;
	const uint8_t payload[offsetof(struct all_kinds, follows)] = {1, 2, 3, 4};

	trace_begin(t, "");
	fake_host_stream(t->host, &stream);
	deliver(t, &stream, TYPE_A, payload, sizeof(payload));
	trace_end(t);
	assert_sql(t,
		   "SELECT hex(\"new\"), hex(three), hex(half), hex(short), field FROM "
		   "rtl_e_odd_type897",
		   "01020304|010203|0102|01020304|1");
	assert_sql(t, "SELECT kind FROM rtl_field WHERE name = 'new'", "unknown");
}

#define NAMED(field_name)                                                                          \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_field), .kind = RTL_KIND_UINT, .size = 1,         \
		.name = (field_name)                                                               \
	}

static const struct rtl_field named_fields[] = {
	NAMED("select"),   NAMED("a\"; DROP TABLE rocpd_op; --"),
	NAMED("Same"),     NAMED("same"),
	NAMED("id"),       NAMED(""),
	NAMED("\xc3\xa4"), NAMED("1st"),
	NAMED("time_ns"),
};

static const struct rtl_type_info named_types[] = {
	TYPE(TYPE_A, "x y", named_fields),
	TYPE(TYPE_B, "X-y", named_fields),
};

TEST(test_sqlite_generic__odd_names__are_cleaned_and_kept_apart)
{
	static const struct rtl_stream_info stream = STREAM("a.b\"c", named_types);
	struct trace *t = *state;
	const uint8_t payload[offsetof(struct all_kinds, follows)] = {1};

	trace_begin(t, "");
	fake_host_stream(t->host, &stream);
	deliver(t, &stream, TYPE_A, payload, sizeof(payload));
	deliver(t, &stream, TYPE_B, payload, sizeof(payload));
	trace_end(t);
	assert_sql(t, "SELECT table_name FROM rtl_type WHERE stream = 2 ORDER BY type",
		   "rtl_s_a_b_c_x_y;rtl_s_a_b_c_X_y_2");
	assert_sql(t, "SELECT name FROM pragma_table_info('rtl_e_a_b_c_x_y') WHERE cid >= 8",
		   "select;a___DROP_TABLE_rocpd_op____;Same;same_2;id_2;field;__;1st;time_ns_2");
	assert_sql(t, "SELECT count(*) FROM rtl_e_a_b_c_X_y_2", "1");
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "0");
	assert_sql(t, "SELECT name FROM rtl_stream WHERE stream = 2", "a.b\"c");
}

TEST(test_sqlite_generic__same_stream_of_two_processes__shares_tables)
{
	static const struct rtl_type_info fewer[] = {{
		.struct_size = sizeof(struct rtl_type_info),
		.type = TYPE_A,
		.field_count = 3,
		.payload_size = 8,
		.name = "all_kinds",
		.fields = all_fields,
	}};
	struct rtl_stream_info twin = kinds_stream, older = STREAM("my.app", fewer);
	struct trace *t = *state;
	struct all_kinds k = sample_kinds();

	trace_begin(t, "");
	fake_host_stream(t->host, &kinds_stream);
	fake_host_stream(t->host, &twin);
	fake_host_stream(t->host, &older);
	deliver(t, &kinds_stream, TYPE_A, &k, sizeof(k));
	deliver(t, &twin, TYPE_A, &k, sizeof(k));
	deliver(t, &older, TYPE_A, &k, 8);
	trace_end(t);
	assert_sql(t, "SELECT count(*), max(id) FROM rtl_e_my_app_all_kinds", "2|4");
	assert_sql(t, "SELECT u1 FROM rtl_e_my_app_all_kinds_2", "255");
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
