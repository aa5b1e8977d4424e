/* SPDX-License-Identifier: MIT */
/* Unit tests of core/base/machine.c: control groups as files of the test's own. */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine.h"

#define GIB ((uint64_t)1 << 30)

static char folder[64];

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/test_machine-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A file below the folder, with the folders that it needs. */
static void make(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static uint64_t memory(void)
{
	char groups[128], root[128];

	snprintf(groups, sizeof(groups), "%s/groups", folder);
	snprintf(root, sizeof(root), "%s/root", folder);
	return machine_memory_of(groups, root);
}

static uint64_t all_of_it(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void test_machine__no_groups__all_memory(void **state)
{
	(void)state;
	assert_int_equal(memory(), all_of_it());
	assert_in_range(machine_memory(), 1, all_of_it());
}

static void test_machine__version_2__least_of_group_and_parents(void **state)
{
	(void)state;
	make("groups", "0::/slice/job/step\n");
	make("root/memory.max", "max\n");
	make("root/slice/memory.max", "536870912\n");
	make("root/slice/job/memory.max", "268435456\n");
	make("root/slice/job/step/memory.max", "max\n");
	assert_int_equal(memory(), GIB / 4);
}

/* As a container sees itself. */
static void test_machine__version_2_at_the_root__its_limit(void **state)
{
	(void)state;
	make("groups", "0::/\n");
	make("root/memory.max", "536870912\n");
	assert_int_equal(memory(), GIB / 2);
}

static void test_machine__version_1__limit_of_memory(void **state)
{
	(void)state;
	make("groups", "8:pids:/\n4:memory:/docker/abc\n2:cpuacct:/docker/abc\n0::/\n");
	make("root/memory/memory.limit_in_bytes", "9223372036854771712\n");
	make("root/memory/docker/abc/memory.limit_in_bytes", "1048576\n");
	assert_int_equal(memory(), 1048576);
}

static void test_machine__nonsense__all_memory(void **state)
{
	static const char *const groups[] = {
		"", "\n\n", "0:", "0::", "0::/no/such", "::::\n4:memory", "x"};

	(void)state;
	make("root/memory.max", "none of your business");
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		make("groups", groups[i]);
		assert_int_equal(memory(), all_of_it());
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_machine__no_groups__all_memory),
		TEST(test_machine__version_2__least_of_group_and_parents),
		TEST(test_machine__version_2_at_the_root__its_limit),
		TEST(test_machine__version_1__limit_of_memory),
		TEST(test_machine__nonsense__all_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
