/* SPDX-License-Identifier: MIT */
/* Unit tests of core/hash.h, table.c and ids.c. ids.c is compiled into this file with a hash that the tests can make
 * collide; what it needs of the bus is stood in for below. */
#include <pthread.h>

#define hash_finish real_hash_finish
#include "hash.h"
#undef hash_finish

/* How many different hashes there are; 0: as many as really. Those of ids go round all of them. */
static uint64_t hash_values;

static uint64_t hash_finish(uint64_t state)
{
	uint64_t hash = real_hash_finish(state);

	if (!hash_values)
		return hash;
	return state <= hash_values ? state % hash_values + 1 : hash % hash_values + 1;
}

#include "publish/ids.c"
#include "unit.h"

struct bus bus = {.lock = PTHREAD_MUTEX_INITIALIZER};

void bus_lock(void)
{
	pthread_mutex_lock(&bus.lock);
}

void bus_unlock(void)
{
	pthread_mutex_unlock(&bus.lock);
}

void bus_note_begin(void)
{
}

void dict_add_string(struct spool *spool, uint64_t id, const char *text)
{
}

void dict_add_tracepoint(struct spool *spool, const struct rtl_tracepoint *tracepoint)
{
}

void dict_add_metadata(struct spool *spool, uint64_t uid, const char *key, const char *value,
		       uint32_t kind)
{
}

static int use_real_hash(void **state)
{
	hash_values = 0;
	return 0;
}

static uint64_t intern(const char *text)
{
	uint64_t id = 0;

	assert_int_equal(rtl_string_intern(text, &id), 0);
	assert_int_not_equal(id, 0);
	assert_string_equal(rtl_string_text(id), text);
	return id;
}

static uint64_t point(const struct rtl_tracepoint_desc *desc)
{
	uint64_t uid = 0;

	assert_int_equal(rtl_tracepoint_register(desc, &uid), 0);
	assert_int_not_equal(uid, 0);
	return uid;
}

/* ---- pinned: these stand in traces */

TEST(test_hash__known_input__known_value)
{
	assert_int_equal(real_hash_finish(hash_bytes(0, "", 0)), 0x520a0474d2a2c90au);
	assert_int_equal(real_hash_finish(hash_bytes(0, "a", 1)), 0x6e513f7985d1a300u);
	assert_int_equal(real_hash_finish(hash_bytes(0, "rtl.hsa", 7)), 0xf592e17f01f63616u);
	assert_int_equal(real_hash_finish(hash_bytes(0, "12345678", 8)), 0x7ac98a87c4aba186u);
	assert_int_equal(real_hash_finish(hash_bytes(1, "123456789", 9)), 0xa143c157de7a00a7u);
	assert_int_equal(hash_u64(1, 2), 0x1920967d5761abe1u);
}

TEST(test_string__known_text__known_id)
{
	assert_int_equal(intern("vector_add"), 0x208ef3fa67aff37bu);
	assert_int_equal(intern("_Z10vector_addPKfS0_Pfi"), 0xa66bf08a1b74185fu);
}

TEST(test_tracepoint__known_description__known_uid)
{
	const struct rtl_tracepoint_desc full = {.struct_size = sizeof(full),
						 .line = 12,
						 .column = 3,
						 .kind = "kernel",
						 .name = "vector_add",
						 .source = "a.hip",
						 .hash = 0x1234};
	const struct rtl_tracepoint_desc bare = {.struct_size = sizeof(bare), .name = "x"};

	assert_int_equal(point(&full), 0x79e46aa67f53d062u);
	assert_int_equal(point(&bare), 0xbb7be7bfa2d3b1fau);
}

/* ---- strings */

TEST(test_string__same_text__same_id)
{
	char copy[] = "the same";

	assert_int_equal(intern("the same"), intern(copy));
	assert_int_not_equal(intern("the same"), intern("the samf"));
	assert_int_not_equal(intern(""), 0);
	assert_null(rtl_string_text(0));
	assert_null(rtl_string_text(0x123456789));
}

/* What was found last for texts at an address is but a hint. */
TEST(test_string__buffer_reused__id_of_the_new_text)
{
	char text[] = "first";
	const uint64_t first = intern(text);

	memcpy(text, "other", sizeof(text));
	assert_int_not_equal(intern(text), first);
}

TEST(test_string__bad_arguments__refused)
{
	uint64_t id = 5;

	assert_int_equal(rtl_string_intern(NULL, &id), RTL_EINVAL);
	assert_int_equal(rtl_string_intern("x", NULL), RTL_EINVAL);
	assert_int_equal(id, 5);
}

/* Texts whose zero-padded tails are equal, as the hash reads them. */
TEST(test_string__lengths_of_zeros__different)
{
	assert_int_not_equal(real_hash_finish(hash_bytes(0, "a\0\0", 1)),
			     real_hash_finish(hash_bytes(0, "a\0\0", 2)));
	assert_int_not_equal(real_hash_finish(hash_bytes(0, "a\0\0", 2)),
			     real_hash_finish(hash_bytes(0, "a\0\0", 3)));
}

/* With 64 hashes in all, 40 things cannot each have one of their own to begin with. */
#define FEW   64
#define TWINS 40

/* Keys with a pattern lie apart: a search passes over few others. */
TEST(test_table__patterned_keys__do_not_crowd)
{
	static int entry;

	for (int shift = 0; shift < 56; shift += 8) {
		struct table table = {NULL, 0};
		size_t run = 0, longest = 0, i;

		for (i = 1; i <= 200; i++)
			assert_int_equal(table_insert(&table, i << shift, &entry), 0);
		for (i = 0; i <= 2 * table.array->mask; i++) {
			run = table.array->slots[i & table.array->mask].entry ? run + 1 : 0;
			longest = run > longest ? run : longest;
		}
		assert_in_range(longest, 1, 60);
		for (i = 1; i <= 200; i++)
			assert_ptr_equal(table_find(&table, i << shift), &entry);
		table_fini(&table);
	}
}

TEST(test_string__few_hashes__told_apart)
{
	static uint64_t first[TWINS];
	static char text[TWINS][16];

	hash_values = FEW;
	for (int i = 0; i < TWINS; i++) {
		snprintf(text[i], sizeof(text[i]), "twin %d", i);
		first[i] = intern(text[i]);
		assert_true(first[i] <= FEW);
	}
	for (int i = 0; i < TWINS; i++) {
		assert_int_equal(intern(text[i]), first[i]);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(first[i], first[k]);
	}
}

/* ---- tracepoints */

TEST(test_tracepoint__anything_differs__another_uid)
{
	static const char here;
	const struct rtl_tracepoint_desc base = {.struct_size = sizeof(base),
						 .line = 1,
						 .column = 2,
						 .kind = "k",
						 .name = "n",
						 .source = "s",
						 .hash = 3};
	struct rtl_tracepoint_desc d[8];
	uint64_t uids_of[8];

	for (int i = 0; i < 8; i++)
		d[i] = base;
	d[1].line = 2;
	d[2].column = 1;
	d[3].kind = "kk";
	d[4].name = "m";
	d[5].source = NULL;
	d[6].hash = 4;
	d[7].code = &here;
	for (int i = 0; i < 8; i++)
		uids_of[i] = point(&d[i]);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(point(&d[i]), uids_of[i]);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(uids_of[i], uids_of[k]);
	}
}

TEST(test_tracepoint__texts_shifted__another_uid)
{
	struct rtl_tracepoint_desc a = {
		.struct_size = sizeof(a), .name = "ab", .kind = "c", .source = ""};
	struct rtl_tracepoint_desc b = {
		.struct_size = sizeof(b), .name = "a", .kind = "bc", .source = NULL};

	assert_int_not_equal(point(&a), point(&b));
	a.source = NULL; /* none and empty are the same */
	assert_int_equal(
		point(&a),
		point(&(struct rtl_tracepoint_desc){
			.struct_size = sizeof(a), .name = "ab", .kind = "c", .source = ""}));
}

TEST(test_tracepoint__bad_arguments__refused)
{
	struct rtl_tracepoint_desc d = {.struct_size = sizeof(d)};
	uint64_t uid = 5;

	assert_int_equal(rtl_tracepoint_register(&d, &uid), RTL_EINVAL);
	d.name = "";
	assert_int_equal(rtl_tracepoint_register(&d, &uid), RTL_EINVAL);
	d.name = "x";
	assert_int_equal(rtl_tracepoint_register(&d, NULL), RTL_EINVAL);
	assert_int_equal(rtl_tracepoint_register(NULL, &uid), RTL_EINVAL);
	d.struct_size = 8;
	assert_int_equal(rtl_tracepoint_register(&d, &uid), RTL_EINVAL);
	assert_int_equal(rtl_tracepoint_set(77, "k", "v"), RTL_ENOENT);
	assert_int_equal(rtl_tracepoint_set(0, "k", "v"), RTL_ENOENT);
	assert_int_equal(rtl_tracepoint_set(77, NULL, "v"), RTL_EINVAL);
	assert_int_equal(rtl_tracepoint_set(77, "", "v"), RTL_EINVAL);
	assert_int_equal(rtl_tracepoint_set(77, "k", NULL), RTL_EINVAL);
	assert_int_equal(uid, 5);
}

TEST(test_tracepoint__few_hashes__told_apart)
{
	struct rtl_tracepoint_desc d = {.struct_size = sizeof(d), .kind = "twin"};
	static uint64_t first[TWINS];
	static char name[TWINS][16];

	hash_values = FEW;
	for (int i = 0; i < TWINS; i++) {
		snprintf(name[i], sizeof(name[i]), "twin %d", i);
		d.name = name[i];
		first[i] = point(&d);
		assert_true(first[i] <= FEW);
	}
	for (int i = 0; i < TWINS; i++) {
		struct rtl_tracepoint found;
		struct rtl_metadata *metadata = NULL;
		uint32_t room = 0;

		d.name = name[i];
		assert_int_equal(point(&d), first[i]);
		assert_true(ids_tracepoint(first[i], &found, &metadata, &room));
		assert_string_equal(found.name, name[i]);
		free(metadata);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(first[i], first[k]);
	}
}

TEST(test_tracepoint__call_sites__module_and_offset)
{
	struct rtl_tracepoint_desc d = {.struct_size = sizeof(d), .name = "site"};
	struct rtl_metadata *metadata = NULL;
	struct rtl_tracepoint found;
	uint32_t room = 0;
	uint64_t a, b;

	d.code = (const void *)(uintptr_t)&test_string__same_text__same_id;
	a = point(&d);
	assert_true(ids_tracepoint(a, &found, &metadata, &room));
	assert_string_equal(found.module, "(main program)");
	assert_int_not_equal(found.module_offset, 0);
	assert_true(found.module_offset < 1u << 30); /* no address */
	d.code = (const void *)(uintptr_t)&strtol;
	b = point(&d);
	assert_int_not_equal(a, b);
	assert_true(ids_tracepoint(b, &found, &metadata, &room));
	assert_true(found.module_offset < 1u << 30);
	free(metadata);
}

TEST(test_tracepoint__found_by_uid__as_registered)
{
	const struct rtl_tracepoint_desc d = {.struct_size = sizeof(d),
					      .line = 7,
					      .column = 3,
					      .kind = "function",
					      .name = "found",
					      .hash = 5};
	struct rtl_tracepoint_desc out = {.struct_size = sizeof(out)};
	uint64_t uid;
	int user;

	assert_int_equal(rtl_tracepoint_register(&d, &uid), 0);
	assert_int_equal(rtl_tracepoint_find(uid, &out), 0);
	assert_string_equal(out.name, "found");
	assert_string_equal(out.kind, "function");
	assert_string_equal(out.source, "");
	assert_int_equal(out.line, 7);
	assert_int_equal(out.column, 3);
	assert_int_equal(out.hash, 5);
	assert_int_equal(rtl_tracepoint_find(uid + 1, &out), RTL_ENOENT);
	assert_int_equal(rtl_tracepoint_find(0, &out), RTL_ENOENT);
	assert_int_equal(rtl_tracepoint_find(uid, NULL), RTL_EINVAL);
	out.struct_size = 8;
	assert_int_equal(rtl_tracepoint_find(uid, &out), RTL_EINVAL);

	assert_null(rtl_tracepoint_user(uid));
	assert_int_equal(rtl_tracepoint_set_user(uid, &user), 0);
	assert_ptr_equal(rtl_tracepoint_user(uid), &user);
	assert_int_equal(rtl_tracepoint_set_user(uid + 1, &user), RTL_ENOENT);
	assert_null(rtl_tracepoint_user(uid + 1));
}

TEST(test_metadata__set_again__replaced)
{
	struct rtl_tracepoint_desc d = {.struct_size = sizeof(d), .name = "with metadata"};
	struct rtl_metadata *metadata = NULL;
	struct rtl_tracepoint found;
	uint32_t room = 0, i;
	char key[16];
	uint64_t uid = point(&d);

	for (i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		assert_int_equal(rtl_tracepoint_set(uid, key, "first"), 0);
		assert_int_equal(rtl_tracepoint_set(uid, key, key), 0);
	}
	assert_true(ids_tracepoint(uid, &found, &metadata, &room));
	assert_int_equal(found.metadata_count, 100);
	for (i = 0; i < 100; i++)
		assert_string_equal(found.metadata[i].key, found.metadata[i].value);
	free(metadata);
}

TEST(test_metadata__values__text_and_kind)
{
	struct rtl_tracepoint_desc d = {.struct_size = sizeof(d), .name = "with values"};
	static const struct {
		const char *key, *text;
		uint16_t kind;
		uint64_t bits;
	} values[] = {
		{"uint", "18446744073709551615", RTL_KIND_UINT, UINT64_MAX},
		{"int", "-1", RTL_KIND_INT, UINT64_MAX},
		{"float", "0.5", RTL_KIND_FLOAT, 0x3fe0000000000000u},
		{"bool", "true", RTL_KIND_BOOL, 2},
		{"address", "0xabc", RTL_KIND_ADDRESS, 0xabc},
	};
	struct rtl_metadata *metadata = NULL;
	struct rtl_tracepoint found;
	uint32_t room = 0, i, k, seen = 0;
	uint64_t uid = point(&d);

	assert_int_equal(rtl_tracepoint_set(uid, "uint", "was a text"), 0);
	for (i = 0; i < 5; i++)
		assert_int_equal(rtl_tracepoint_set_value(uid, values[i].key, values[i].kind,
							  values[i].bits),
				 0);
	assert_int_equal(rtl_tracepoint_set_value(uid, "text", RTL_KIND_TEXT, 0), RTL_EINVAL);
	assert_int_equal(rtl_tracepoint_set_value(uid + 1, "uint", RTL_KIND_UINT, 0), RTL_ENOENT);
	assert_true(ids_tracepoint(uid, &found, &metadata, &room));
	assert_int_equal(found.metadata_count, 5);
	for (i = 0; i < 5; i++)
		for (k = 0; k < 5; k++)
			if (!strcmp(metadata[k].key, values[i].key)) {
				assert_string_equal(metadata[k].value, values[i].text);
				assert_int_equal(metadata[k].kind, values[i].kind);
				seen++;
			}
	assert_int_equal(seen, 5);
	free(metadata);
}

/* ---- threads */

#define NAMES 3000

static uint64_t ids_of[4][NAMES], points_of[4][NAMES];

static void *register_all(void *user)
{
	int me = (int)(intptr_t)user, i, n;
	char text[32];

	for (i = 0; i < NAMES; i++) {
		struct rtl_tracepoint_desc d = {.struct_size = sizeof(d), .name = text};

		n = me % 2 ? NAMES - 1 - i : i;
		snprintf(text, sizeof(text), "thread text %d", n);
		if (rtl_string_intern(text, &ids_of[me][n]) ||
		    rtl_tracepoint_register(&d, &points_of[me][n]) ||
		    strcmp(rtl_string_text(ids_of[me][n]), text) != 0)
			return (void *)1;
	}
	return NULL;
}

TEST(test_ids__threads_at_once__agree)
{
	pthread_t threads[4];
	void *result;
	intptr_t i;

	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, register_all, (void *)i), 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_null(result);
	}
	for (i = 1; i < 4; i++) {
		assert_memory_equal(ids_of[0], ids_of[i], sizeof(ids_of[0]));
		assert_memory_equal(points_of[0], points_of[i], sizeof(points_of[0]));
	}
}

RUN_TESTS(use_real_hash, NULL, NULL, NULL)
