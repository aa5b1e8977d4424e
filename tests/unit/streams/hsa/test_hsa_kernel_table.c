/* SPDX-License-Identifier: MIT */
/* Which kernel lies at which address, with librtl's part played here. */
#include <pthread.h>
#include <stdatomic.h>

#include <rtl/rtl.h>

#include "../../streams/hsa/objects/kernel_table.h"
#include "unit.h"

#define UNKNOWN 1

int rtl_tracepoint_register(const struct rtl_tracepoint_desc *desc, uint64_t *uid)
{
	assert_string_equal(desc->kind, "kernel");
	*uid = UNKNOWN;
	return 0;
}

int rtl_string_intern(const char *text, uint64_t *id)
{
	*id = UNKNOWN;
	return 0;
}

static bool first;
static unsigned asked;

static int add(uint64_t object, uint64_t executable, uint64_t uid, uint64_t name)
{
	const struct kernel like = {.uid = uid, .name = name, .left_out = uid % 2};

	return kernel_table_add(object, executable, &like, &first);
}

/* It is named with its first dispatch; one of symbol 4 cannot be. */
static void runs_first(uint64_t object)
{
	uint64_t executable, symbol;

	asked++;
	if (kernel_table_waits(object, &executable, &symbol))
		assert_int_equal(symbol == 4 ? kernel_table_wait(object, executable, 0)
					     : add(object, executable, symbol, symbol),
				 0);
}

static int setup(void **state)
{
	return kernel_table_init(runs_first);
}

TEST(test_find__nothing_there__is_unknown)
{
	assert_int_equal(kernel_table_find(0x1234)->uid, UNKNOWN);
	assert_int_equal(kernel_table_find(0)->uid, UNKNOWN);
}

TEST(test_find__address_used_again__is_the_new_one)
{
	assert_int_equal(add(0x1000, 7, 70, 71), 0);
	assert_int_equal(kernel_table_find(0x1000)->uid, 70);
	assert_int_equal(kernel_table_find(0x1000)->name, 71);
	assert_false(kernel_is_left_out(kernel_table_find(0x1000)));
	kernel_table_remove(7);
	assert_int_equal(kernel_table_find(0x1000)->uid, UNKNOWN);
	assert_int_equal(add(0x1000, 8, 80, 81), 0);
	assert_int_equal(kernel_table_find(0x1000)->uid, 80);
	kernel_table_remove(8);
}

TEST(test_add__kernel_loaded_again__is_not_the_first)
{
	assert_int_equal(add(0x3000, 30, 300, 31), 0);
	assert_true(first);
	kernel_table_remove(30);
	assert_int_equal(add(0x4000, 31, 300, 31), 0);
	assert_false(first);
	/* One of the same name from another code object. */
	assert_int_equal(add(0x5000, 31, 301, 31), 0);
	assert_true(first);
	assert_int_equal(kernel_table_find(0x4000)->uid, 300);
	assert_int_equal(kernel_table_find(0x5000)->uid, 301);
	kernel_table_remove(31);
}

/* A kernel's name is asked for once, with its first dispatch; never of one that is unloaded before. */
TEST(test_wait__first_find__asks_once)
{
	uint64_t executable, symbol;

	asked = 0;
	assert_int_equal(kernel_table_wait(0x7000, 60, 600), 0);
	assert_int_equal(kernel_table_wait(0x7040, 60, 4), 0);
	assert_int_equal(kernel_table_wait(0x7080, 61, 602), 0);
	assert_true(kernel_table_waits(0x7000, &executable, &symbol));
	assert_int_equal(executable, 60);
	assert_int_equal(symbol, 600);
	assert_int_equal(asked, 0);
	assert_int_equal(kernel_table_find(0x7000)->uid, 600);
	assert_int_equal(kernel_table_find(0x7000)->uid, 600);
	assert_int_equal(asked, 1);
	assert_false(kernel_table_waits(0x7000, &executable, &symbol));
	assert_int_equal(kernel_table_find(0x7040)->uid, UNKNOWN);
	assert_int_equal(kernel_table_find(0x7040)->uid, UNKNOWN);
	assert_int_equal(asked, 2);
	kernel_table_remove(61);
	assert_int_equal(kernel_table_find(0x7080)->uid, UNKNOWN);
	assert_int_equal(asked, 2);
	kernel_table_remove(60);
}

TEST(test_add__object_0__is_refused)
{
	assert_int_equal(add(0, 7, 70, 71), RTL_EINVAL);
}

TEST(test_add__many__all_are_found)
{
	for (uint64_t i = 1; i <= 20000; i++)
		assert_int_equal(add(i << 6, 1 + i % 10, 100 + i, i), 0);
	for (uint64_t i = 1; i <= 20000; i++)
		assert_int_equal(kernel_table_find(i << 6)->uid, 100 + i);
	kernel_table_remove(3);
	for (uint64_t i = 1; i <= 20000; i++)
		assert_int_equal(kernel_table_find(i << 6)->uid,
				 1 + i % 10 == 3 ? UNKNOWN : 100 + i);
	for (uint64_t e = 1; e <= 10; e++)
		kernel_table_remove(e);
}

static _Atomic int stop;

static void *reader(void *data)
{
	while (!stop)
		assert_int_equal(kernel_table_find(0x77c0)->uid, 7700);
	return NULL;
}

/* Modules come and go at ever new addresses; a kernel that stays is always found. */
TEST(test_find__while_others_come_and_go__finds_its_own)
{
	pthread_t thread;

	assert_int_equal(add(0x77c0, 1, 7700, 7), 0);
	assert_int_equal(pthread_create(&thread, NULL, reader, NULL), 0);
	for (uint64_t i = 0; i < 3000; i++) {
		for (uint64_t k = 0; k < 10; k++)
			assert_int_equal(add(0x100000 + (i * 10 + k) * 64, 1000 + i, 8000 + k, k),
					 0);
		assert_int_equal(kernel_table_find(0x100000 + i * 640)->uid, 8000);
		kernel_table_remove(1000 + i);
	}
	stop = 1;
	pthread_join(thread, NULL);
	kernel_table_remove(1);
}

static uint64_t uid_of_name(uint64_t name)
{
	return 100000 + name;
}

/* By name alone: the only one, or the one that stands for all of that name. */
TEST(test_named__one_or_several)
{
	assert_false(kernel_table_has_name(900001));
	assert_int_equal(kernel_table_named(900001, uid_of_name)->uid, 1000001);
	assert_false(kernel_table_has_name(900001));
	assert_int_equal(add(0x50100, 50, 5010, 900001), 0);
	assert_true(kernel_table_has_name(900001));
	assert_int_equal(kernel_table_named(900001, uid_of_name)->uid, 5010);
	assert_int_equal(add(0x50140, 50, 5011, 900001), 0);
	assert_true(kernel_is_left_out(kernel_table_find(0x50140)));
	assert_int_equal(kernel_table_named(900001, uid_of_name)->uid, 1000001);
	assert_int_equal(kernel_table_named(900001, uid_of_name)->uid, 1000001);
}

RUN_TESTS(NULL, NULL, setup, NULL)
