/* SPDX-License-Identifier: MIT */
/* Scenarios of numbers: unique ids, ids of threads, ids that several processes agree in. */
#include "test_bus_child.h"

#define NUMBERS 200000u

static uint64_t *numbers[4];

static void *take_numbers(void *user)
{
	uint64_t *mine = user;

	for (uint32_t i = 0; i < NUMBERS; i++)
		mine[i] = rtl_unique_id();
	return NULL;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

SCENARIO(unique_ids)
{
	uint64_t *all = malloc(sizeof(*all) * 4 * NUMBERS);
	pthread_t threads[4];

	CHECK(all);
	for (uint32_t i = 0; i < 4; i++) {
		numbers[i] = all + (size_t)i * NUMBERS;
		threads[i] = start_thread(take_numbers, numbers[i]);
	}
	for (uint32_t i = 0; i < 4; i++)
		join_thread(threads[i]);
	qsort(all, (size_t)4 * NUMBERS, sizeof(*all), compare);
	CHECK(all[0]);
	for (uint32_t i = 1; i < 4 * NUMBERS; i++)
		CHECK(all[i] != all[i - 1]);
	free(all);
}

/* A thread's block of numbers ends: 2^24 of them. */
SCENARIO(unique_ids_many)
{
	uint64_t last = rtl_unique_id(), n, gaps = 0;

	for (n = 0; n < (1u << 25) + 10; n++) {
		uint64_t id = rtl_unique_id();

		CHECK(id > last); /* one thread alone: rising, so no two are equal */
		gaps += id != last + 1;
		last = id;
	}
	CHECK(gaps >= 1 && gaps < 8);
}

static void *own_tid(void *user)
{
	CHECK(rtl_thread_id() == (uint32_t)gettid());
	CHECK(rtl_thread_id() == (uint32_t)gettid());
	return NULL;
}

SCENARIO(thread_ids)
{
	own_tid(NULL);
	register_stream("t.main");
	own_tid(NULL);
	join_thread(start_thread(own_tid, NULL));
}

/* ---- ids in several processes */

SCENARIO(print_ids)
{
	static const char site;
	const struct rtl_tracepoint_desc descs[] = {
		{.struct_size = sizeof(*descs), .name = "f", .code = &site},
		{.struct_size = sizeof(*descs),
		 .name = "f",
		 .code = (const void *)(uintptr_t)&printf},
		{.struct_size = sizeof(*descs), .name = "f"},
	};
	FILE *out = fopen(getenv("BUS_OUT"), "ae");
	uint64_t uid, id;

	CHECK(out);
	for (size_t i = 0; i < 3; i++) {
		CHECK(!rtl_tracepoint_register(&descs[i], &uid));
		fprintf(out, "%016llx\n", (unsigned long long)uid);
	}
	CHECK(!rtl_string_intern("a text", &id));
	fprintf(out, "%016llx at %p\n", (unsigned long long)id, getenv("BUS_WHERE") ? &site : NULL);
	fclose(out);
}
