/* SPDX-License-Identifier: MIT */
/* Registering streams and vendors, in a process where nobody listens. */
#include <pthread.h>

#include <rtl/rtl.h>

#include "unit.h"

static const struct rtl_field good_fields[] = {
	{.struct_size = sizeof(struct rtl_field),
	 .kind = RTL_KIND_UINT,
	 .offset = 0,
	 .size = 8,
	 .name = "a",
	 .unit = "ns",
	 .description = "first"},
	{.struct_size = sizeof(struct rtl_field),
	 .kind = RTL_KIND_TEXT,
	 .offset = 8,
	 .size = 8,
	 .name = "b",
	 .unit = "",
	 .description = "second"},
};

/* A description to spoil: its parts are copies. */
struct made {
	struct rtl_stream_info info;
	struct rtl_type_info types[2];
	struct rtl_field fields[2];
	char name[160];
};

static void make(struct made *m, const char *name)
{
	memset(m, 0, sizeof(*m));
	snprintf(m->name, sizeof(m->name), "%s", name);
	memcpy(m->fields, good_fields, sizeof(good_fields));
	m->types[0] = (struct rtl_type_info){.struct_size = sizeof(m->types[0]),
					     .type = RTL_TASK_BEGIN,
					     .field_count = 2,
					     .payload_size = 16,
					     .name = "task_begin",
					     .description = "",
					     .fields = m->fields};
	m->types[1] = (struct rtl_type_info){.struct_size = sizeof(m->types[1]),
					     .type = RTL_TYPE_USER(3, 5),
					     .payload_size = 0,
					     .name = "own",
					     .description = ""};
	m->info = (struct rtl_stream_info){.struct_size = sizeof(m->info),
					   .version_major = 1,
					   .version_minor = 2,
					   .name = m->name,
					   .description = "a stream",
					   .types = m->types,
					   .type_count = 2};
}

static struct rtl_stream *register_good(const char *name)
{
	struct rtl_stream *stream = &rtl_stream_none;
	struct made m;

	make(&m, name);
	assert_int_equal(rtl_stream_register(&m.info, &stream), 0);
	assert_ptr_not_equal(stream, &rtl_stream_none);
	return stream;
}

static void refuse(const struct made *m, int error)
{
	struct rtl_stream *stream = &rtl_stream_none;

	assert_int_equal(rtl_stream_register(&m->info, &stream), error);
	assert_ptr_equal(stream, &rtl_stream_none);
}

TEST(test_streams__same_description__same_stream)
{
	struct rtl_stream *stream = register_good("t.same");

	assert_ptr_equal(register_good("t.same"), stream);
	assert_ptr_equal(rtl_stream_find("t.same"), stream);
	assert_ptr_not_equal(register_good("t.same2"), stream);
	assert_null(rtl_stream_find("t.sam"));
	assert_null(rtl_stream_find(NULL));
}

TEST(test_streams__registered__description_copied)
{
	struct rtl_stream *stream = &rtl_stream_none;
	const struct rtl_stream_info *info;
	struct made m;

	make(&m, "t.copied");
	assert_int_equal(rtl_stream_register(&m.info, &stream), 0);
	memset(&m, 0x55, sizeof(m));
	info = rtl_stream_describe(stream);
	assert_string_equal(info->name, "t.copied");
	assert_string_equal(info->description, "a stream");
	assert_int_equal(info->number, stream->number);
	assert_int_equal(info->version_major, 1);
	assert_int_equal(info->version_minor, 2);
	assert_int_equal(info->type_count, 2);
	assert_string_equal(rtl_stream_type(info, 0)->name, "task_begin");
	assert_int_equal(rtl_stream_type(info, 1)->type, RTL_TYPE_USER(3, 5));
	assert_string_equal(rtl_type_field(rtl_stream_type(info, 0), 1)->name, "b");
	assert_string_equal(rtl_type_field(rtl_stream_type(info, 0), 0)->unit, "ns");
	assert_null(rtl_stream_describe(&rtl_stream_none));
	assert_null(rtl_stream_describe(NULL));
}

TEST(test_streams__texts_missing__empty)
{
	struct rtl_stream *stream = &rtl_stream_none;
	struct made m;

	make(&m, "t.no_texts");
	m.info.description = m.types[0].description = NULL;
	m.fields[0].unit = m.fields[0].description = NULL;
	assert_int_equal(rtl_stream_register(&m.info, &stream), 0);
	assert_string_equal(rtl_stream_describe(stream)->description, "");
	assert_string_equal(rtl_stream_describe(stream)->types[0].fields[0].unit, "");
}

/* A newer publisher's structs are larger: they are walked by their own size. */
TEST(test_streams__larger_structs__understood)
{
	struct {
		struct rtl_field field;
		uint64_t more;
	} fields[2] = {{good_fields[0], 1}, {good_fields[1], 2}};
	struct {
		struct rtl_type_info type;
		uint64_t more;
	} types[2];
	struct rtl_stream *stream = &rtl_stream_none;
	struct made m;

	make(&m, "t.larger");
	fields[0].field.struct_size = fields[1].field.struct_size = sizeof(fields[0]);
	types[0].type = m.types[0];
	types[0].type.fields = &fields[0].field;
	types[1].type = m.types[1];
	types[0].type.struct_size = types[1].type.struct_size = sizeof(types[0]);
	m.info.types = &types[0].type;
	assert_int_equal(rtl_stream_register(&m.info, &stream), 0);
	assert_string_equal(rtl_stream_describe(stream)->types[1].name, "own");
	assert_string_equal(rtl_stream_describe(stream)->types[0].fields[1].name, "b");
}

/* A stream is refused after that change. */
#define REFUSE(name_, error, change)                                                               \
	do {                                                                                       \
		struct made m;                                                                     \
		make(&m, name_);                                                                   \
		change;                                                                            \
		refuse(&m, error);                                                                 \
	} while (0)
/* Each way of being malformed. */
#define SPOIL(change) REFUSE("t.malformed", RTL_EINVAL, change)

TEST(test_streams__other_layout__refused)
{
	struct made other;

	register_good("t.layout");
	REFUSE("t.layout", RTL_EEXIST, m.info.version_major = 2);
	REFUSE("t.layout", RTL_EEXIST, m.info.type_count = 1);
	REFUSE("t.layout", RTL_EEXIST, m.types[0].type = RTL_TASK_END);
	REFUSE("t.layout", RTL_EEXIST, m.types[0].payload_size = 24);
	REFUSE("t.layout", RTL_EEXIST, m.types[0].field_count = 1);
	REFUSE("t.layout", RTL_EEXIST, m.fields[0].kind = RTL_KIND_INT);
	REFUSE("t.layout", RTL_EEXIST, m.fields[0].size = 4);
	REFUSE("t.layout", RTL_EEXIST, m.fields[0].offset = 8);
	REFUSE("t.layout", RTL_EEXIST, m.fields[0].name = "c");
	make(&other, "t.layout"); /* what it says of itself is not its layout */
	other.info.description = "another text";
	other.fields[0].description = "another text";
	assert_ptr_equal(register_good("t.layout"), rtl_stream_find("t.layout"));
}

TEST(test_streams__malformed_stream__refused)
{
	struct made whole;

	SPOIL(m.info.struct_size = 0);
	SPOIL(m.info.struct_size = sizeof(m.info) - 1);
	SPOIL(m.info.name = NULL);
	SPOIL(m.info.name = "");
	SPOIL(m.info.name = "Upper");
	SPOIL(m.info.name = "with blank");
	SPOIL(m.info.name = "t/slash");
	SPOIL(m.info.name = "t.\xc3\xa4");
	SPOIL(memset(m.name, 'a', 128));
	SPOIL(m.info.types = NULL);
	make(&whole, "t.malformed");
	assert_int_equal(rtl_stream_register(NULL, &(struct rtl_stream *){NULL}), RTL_EINVAL);
	assert_int_equal(rtl_stream_register(&whole.info, NULL), RTL_EINVAL);
	assert_null(rtl_stream_find("t.malformed"));
}

TEST(test_streams__malformed_type__refused)
{
	SPOIL(m.types[0].struct_size = 0);
	SPOIL(m.types[0].struct_size = 8);
	SPOIL(m.types[0].type = 0);
	SPOIL(m.types[0].type = RTL_TYPE_ANY);
	SPOIL(m.types[1].type = m.types[0].type);
	SPOIL(m.types[0].name = NULL);
	SPOIL(m.types[0].name = "");
	SPOIL(m.types[0].name = "with.dot");
	SPOIL(m.types[1].name = "task_begin");
	SPOIL(m.types[0].payload_size = RTL_PAYLOAD_MAX + 1);
	SPOIL(m.types[0].fields = NULL);
	assert_null(rtl_stream_find("t.malformed"));
}

TEST(test_streams__malformed_field__refused)
{
	SPOIL(m.fields[0].struct_size = 0);
	SPOIL(m.fields[1].struct_size = 4);
	SPOIL(m.fields[0].name = NULL);
	SPOIL(m.fields[0].name = "Big");
	SPOIL(m.fields[0].name = "b");
	SPOIL(m.fields[0].kind = 0);
	SPOIL((m.fields[0].kind = 0xffff, m.fields[0].size = 0));
	SPOIL((m.fields[0].kind = 0xffff, m.fields[0].size = 17));
	SPOIL(m.fields[0].size = 0);
	SPOIL(m.fields[0].size = 3);
	SPOIL(m.fields[0].size = 16);
	SPOIL(m.fields[0].offset = 9);
	SPOIL(m.fields[0].offset = 17);
	SPOIL(m.fields[0].offset = UINT32_MAX);
	SPOIL(m.fields[1].size = 4);
	SPOIL((m.fields[0].kind = RTL_KIND_BOOL, m.fields[0].size = 2));
	SPOIL((m.fields[0].kind = RTL_KIND_FLOAT, m.fields[0].size = 2));
	SPOIL((m.fields[0].kind = RTL_KIND_STRING, m.fields[0].size = 4));
	SPOIL((m.fields[0].kind = RTL_KIND_BYTES, m.fields[0].size = 0));
	SPOIL((m.fields[0].kind = RTL_KIND_BYTES, m.fields[0].size = UINT32_MAX));
	assert_null(rtl_stream_find("t.malformed"));
}

TEST(test_streams__field_of_unknown_kind__kept)
{
	struct rtl_stream *stream = &rtl_stream_none;
	const struct rtl_field *field;
	struct made m;

	make(&m, "t.newer");
	m.fields[0].kind = 4242;
	m.fields[0].size = 3;
	assert_int_equal(rtl_stream_register(&m.info, &stream), 0);
	field = rtl_type_field(rtl_stream_type(rtl_stream_describe(stream), 0), 0);
	assert_int_equal(field->kind, 4242);
	assert_int_equal(field->size, 3);
}

/* A stream with `types` types of `fields` fields each. */
static int register_large(const char *name, uint32_t types, uint16_t fields)
{
	struct rtl_type_info *type = calloc(types, sizeof(*type));
	struct rtl_field *field = calloc(fields, sizeof(*field));
	char(*names)[16] = calloc(types + fields, sizeof(*names));
	struct rtl_stream *stream = &rtl_stream_none;
	struct rtl_stream_info info = {
		.struct_size = sizeof(info), .name = name, .types = type, .type_count = types};
	int err;

	assert_true(type && field && names);
	for (uint32_t i = 0; i < types + fields; i++)
		snprintf(names[i], sizeof(*names), "n%u", i);
	for (uint32_t i = 0; i < fields; i++)
		field[i] = (struct rtl_field){.struct_size = sizeof(*field),
					      .kind = RTL_KIND_BOOL,
					      .offset = i % 64,
					      .size = 1,
					      .name = names[i]};
	for (uint32_t i = 0; i < types; i++)
		type[i] = (struct rtl_type_info){.struct_size = sizeof(*type),
						 .type = (uint16_t)(i + 1),
						 .field_count = fields,
						 .payload_size = 64,
						 .name = names[fields + i],
						 .fields = field};
	err = rtl_stream_register(&info, &stream);
	free(type);
	free(field);
	free(names);
	return err;
}

TEST(test_streams__more_than_a_stream_may_have__refused)
{
	assert_int_equal(register_large("t.large", 256, 256), 0);
	assert_int_equal(register_large("t.types", 257, 1), RTL_EINVAL);
	assert_int_equal(register_large("t.fields", 1, 257), RTL_EINVAL);
	assert_int_equal(register_large("t.all", 60000, 60000), RTL_EINVAL);
}

TEST(test_streams__nobody_listens__not_enabled)
{
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};
	struct rtl_stream *stream = register_good("t.silent");
	struct rtl_record *record;

	assert_false(rtl_enabled(stream, RTL_TASK_BEGIN));
	record = rtl_reserve(stream, RTL_TASK_BEGIN, 16);
	assert_null(record);
	record = rtl_reserve(&rtl_stream_none, RTL_TASK_BEGIN, 16);
	assert_null(record);
	assert_int_equal(rtl_flush(1000), 0);
	assert_int_equal(rtl_stream_ledger(stream, &ledger), 0);
	assert_int_equal(ledger.published, 0);
	assert_int_equal(rtl_stream_ledger(&rtl_stream_none, &ledger), RTL_EINVAL);
	assert_int_equal(rtl_stream_ledger(NULL, &ledger), RTL_EINVAL);
	assert_int_equal(rtl_stream_ledger(stream, NULL), RTL_EINVAL);
	ledger.struct_size = 4;
	assert_int_equal(rtl_stream_ledger(stream, &ledger), RTL_EINVAL);
}

#define TOGETHER 100

static struct rtl_stream *made_by[8][TOGETHER];

static void *register_together(void *user)
{
	int me = (int)(intptr_t)user, i;
	struct made m;
	char name[32];

	for (i = 0; i < TOGETHER; i++) {
		snprintf(name, sizeof(name), "t.together-%d", me % 2 ? TOGETHER - 1 - i : i);
		make(&m, name);
		if (rtl_stream_register(&m.info, &made_by[me][me % 2 ? TOGETHER - 1 - i : i]))
			return user ? user : (void *)1;
	}
	return NULL;
}

TEST(test_streams__threads_at_once__one_stream_each)
{
	pthread_t threads[8];
	void *result;
	intptr_t i;

	for (i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, register_together, (void *)i),
				 0);
	for (i = 0; i < 8; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_null(result);
	}
	for (i = 1; i < 8; i++)
		assert_memory_equal(made_by[0], made_by[i], sizeof(made_by[0]));
	for (i = 1; i < TOGETHER; i++)
		for (int k = 0; k < i; k++)
			assert_ptr_not_equal(made_by[0][i], made_by[0][k]);
}

/* The last of the tests: afterwards there is no room. */
TEST(test_streams__more_than_256__limit)
{
	struct rtl_stream *known = rtl_stream_find("t.same"), *stream;
	struct made m;
	char name[32];
	int i, err = 0;

	for (i = 0; i < 300 && !err; i++) {
		snprintf(name, sizeof(name), "t.many-%d", i);
		make(&m, name);
		stream = &rtl_stream_none;
		err = rtl_stream_register(&m.info, &stream);
		assert_true(err ? stream == &rtl_stream_none : stream->number <= 255);
	}
	assert_int_equal(err, RTL_ELIMIT);
	assert_true(i > 100);
	assert_ptr_equal(register_good("t.same"), known);
}

TEST(test_vendors__names__numbers)
{
	uint8_t a = 0, b = 0, again = 0, n = 77;
	char name[32];
	int i, err = 0;

	assert_int_equal(rtl_vendor_register("a", &a), 0);
	assert_int_equal(rtl_vendor_register("b", &b), 0);
	assert_int_equal(rtl_vendor_register("a", &again), 0);
	assert_int_equal(a, again);
	assert_int_not_equal(a, b);
	assert_true(a >= 1 && a <= 254);
	assert_int_equal(rtl_vendor_register("", &n), RTL_EINVAL);
	assert_int_equal(rtl_vendor_register(NULL, &n), RTL_EINVAL);
	assert_int_equal(rtl_vendor_register("a", NULL), RTL_EINVAL);
	for (i = 0; i < 300 && !err; i++) {
		snprintf(name, sizeof(name), "vendor %d", i);
		n = 77;
		err = rtl_vendor_register(name, &n);
	}
	assert_int_equal(err, RTL_ELIMIT);
	assert_int_equal(n, 77);
	assert_int_equal(i, 253);
}

TEST(test_errors__all__have_name_and_text)
{
	for (int i = 0; i >= RTL_EPLUGIN; i--) {
		assert_non_null(rtl_error_name(i));
		assert_true(strlen(rtl_error_text(i)) > 5);
		assert_memory_equal(rtl_error_name(i), i ? "RTL_E" : "RTL_OK", 5);
	}
	assert_string_equal(rtl_error_name(RTL_ELIMIT), "RTL_ELIMIT");
	assert_string_equal(rtl_error_text(1), "unknown error");
	assert_string_equal(rtl_error_text(-1000), "unknown error");
	assert_string_equal(rtl_error_name(INT32_MIN), "RTL_E?");
}

static int without_subscribers(void **state)
{
	return unsetenv("RTL_SUBSCRIBERS") | unsetenv("RTL_COLLECTOR");
}

RUN_TESTS(NULL, NULL, without_subscribers, NULL)
