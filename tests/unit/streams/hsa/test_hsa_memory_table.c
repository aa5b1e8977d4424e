/* SPDX-License-Identifier: MIT */
/* streams/hsa/objects/memory_table.c: against a plain list, with keys that lie close and far apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../streams/hsa/objects/memory.h"

#define KEYS 3000

static uint64_t key_of(unsigned i)
{
	return i % 3 == 0   ? 0x7f0000000000u + 4096u * i
	       : i % 3 == 1 ? 1u + i
			    : 0x1100000000u + ((uint64_t)i << 21);
}

static void test_memory_table__random_changes__as_a_list(void **state)
{
	struct memory_table table = {0};
	uint64_t *bytes = calloc(KEYS, sizeof(*bytes));
	size_t count = 0;
	unsigned random = 7;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		const unsigned i = (unsigned)rand_r(&random) % KEYS;
		struct memory_entry *found = memory_table_find(&table, key_of(i));

		assert_int_equal(found != NULL, bytes[i] != 0);
		if (found)
			assert_int_equal(found->bytes, bytes[i]);
		if (found && rand_r(&random) % 2) {
			memory_table_remove(&table, found);
			bytes[i] = 0;
			count--;
		} else {
			count += !bytes[i];
			bytes[i] = (uint64_t)round + 1;
			assert_true(memory_table_add(
				&table,
				&(struct memory_entry){.key = key_of(i), .bytes = bytes[i]}));
		}
		assert_int_equal(table.count, count);
	}
	for (unsigned i = 0; i < KEYS; i++) {
		const struct memory_entry *found = memory_table_find(&table, key_of(i));

		assert_int_equal(found ? found->bytes : 0, bytes[i]);
	}
	free(table.entries);
	free(bytes);
}

static void test_memory_table__full__refuses_and_keeps(void **state)
{
	struct memory_table table = {0};
	uint64_t key = 0;

	(void)state;
	assert_null(memory_table_find(&table, 5));
	while (memory_table_add(&table, &(struct memory_entry){.key = key + 1, .bytes = key}))
		key++;
	assert_int_equal(key, MEMORY_TABLE_MOST);
	assert_null(memory_table_find(&table, key + 1));
	assert_non_null(memory_table_find(&table, key));
	memory_table_remove(&table, memory_table_find(&table, 77));
	assert_true(memory_table_add(&table, &(struct memory_entry){.key = key + 1}));
	free(table.entries);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_table__random_changes__as_a_list),
		cmocka_unit_test(test_memory_table__full__refuses_and_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
