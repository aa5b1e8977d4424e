/* SPDX-License-Identifier: MIT */
/* library/output/hash.h: against a plain list, with keys that lie close and far apart. And array.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <array.h>
#include <hash.h>

#define KEYS 3000

static uint64_t key_of(unsigned i)
{
	return i % 3 == 0   ? 0x7f0000000000u + 4096u * i
	       : i % 3 == 1 ? 1u + i
			    : 0x1100000000u + ((uint64_t)i << 21);
}

struct entry {
	uint64_t key, bytes;
};

static bool is_used(const void *entry)
{
	return ((const struct entry *)entry)->key;
}

static uint64_t hash_of(const void *entry)
{
	return hash_number(((const struct entry *)entry)->key);
}

static bool is_same(const void *entry, const void *key)
{
	return ((const struct entry *)entry)->key == *(const uint64_t *)key;
}

static const struct hash_kind kind = {sizeof(struct entry), 16, is_used, hash_of, is_same};

static struct entry *find(const struct hash *table, uint64_t key)
{
	return hash_find(table, &kind, hash_number(key), &key);
}

static void test_hash__random_changes__as_a_list(void **state)
{
	struct hash table = {0};
	uint64_t *bytes = calloc(KEYS, sizeof(*bytes));
	size_t count = 0;
	unsigned random = 7;

	for (int round = 0; round < 100000; round++) {
		const unsigned i = (unsigned)rand_r(&random) % KEYS;
		struct entry *found = find(&table, key_of(i));

		assert_int_equal(found != NULL, bytes[i] != 0);
		if (found)
			assert_int_equal(found->bytes, bytes[i]);
		if (found && rand_r(&random) % 2) {
			hash_take_out(&table, &kind, found);
			bytes[i] = 0;
			count--;
		} else {
			count += !bytes[i];
			bytes[i] = (uint64_t)round + 1;
			const uint64_t key = key_of(i);
			struct entry *place = hash_add(&table, &kind, hash_number(key), &key);

			assert_non_null(place);
			*place = (struct entry){key, bytes[i]};
		}
		assert_int_equal(table.count, count);
	}
	for (unsigned i = 0; i < KEYS; i++) {
		const struct entry *found = find(&table, key_of(i));

		assert_int_equal(found ? found->bytes : 0, bytes[i]);
	}
	hash_fini(&table);
	free(bytes);
}

static void test_array__grows_and_shrinks__keeps_what_is_in_it(void **unused)
{
	uint64_t *list = NULL;
	uint32_t count = 0;

	for (unsigned i = 0; i < KEYS; i++) {
		uint64_t *added = ARRAY_ADD(list, count);

		assert_non_null(added);
		*added = count;
		count -= i % 5 == 4 ? 3 : 0;
	}
	assert_int_equal(count, KEYS / 5 * 2);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(list[i], i + 1);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash__random_changes__as_a_list),
		cmocka_unit_test(test_array__grows_and_shrinks__keeps_what_is_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
