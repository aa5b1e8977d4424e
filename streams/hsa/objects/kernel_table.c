/* SPDX-License-Identifier: MIT */
#include "kernel_table.h"

#include <errno.h>
#include <rtl/rtl.h>
#include <stdlib.h>

#include "../../common/threads.h"

struct entry {
	/* Written before kernel; an emptied entry may get another. Relaxed: see find. */
	uint64_t object;
	/* NULL: emptied; with NOT_RUN: the symbol of one that has not run. Release when filled, acquire in find. */
	const struct kernel *kernel;
	uint64_t executable; /* the lock's */
};

#define NOT_RUN 1u

struct table {
	uint64_t size;       /* a power of two */
	uint64_t used;       /* entries that are not new, emptied ones included; the lock's */
	struct table *older; /* that this replaced; somebody may still read it */
	struct entry entries[];
};

STATIC_LOCK(lock);
/* Replaced by a larger one; the old one stays readable for ever (all of them together are
 * smaller than the newest). Release when replaced, acquire in find. */
static struct table *current;
static const struct kernel *unknown;  /* set once, before current */
static void (*runs)(uint64_t object); /* likewise */

#define KERNEL_BUCKETS  4096
#define KERNELS_AT_ONCE 1024
/* By name. Release when one is added, acquire in kernel_table_named. */
static struct kernel *named[KERNEL_BUCKETS];

static uint64_t first_place(const struct table *table, uint64_t object)
{
	return (object * 0x9e3779b97f4a7c15u >> 20) & (table->size - 1);
}

static __attribute__((cold, noinline)) const struct kernel *run_first(uint64_t object)
{
	const int saved = errno;

	runs(object);
	errno = saved;
	return kernel_table_find(object);
}

const struct kernel *kernel_table_find(uint64_t object)
{
	/* Pairs with the release in publish_table. */
	const struct table *table = __atomic_load_n(&current, __ATOMIC_ACQUIRE);

	for (uint64_t i = first_place(table, object);; i = (i + 1) & (table->size - 1)) {
		const struct entry *entry = &table->entries[i];
		const uint64_t at = __atomic_load_n(&entry->object, __ATOMIC_RELAXED);

		if (at == object) {
			/* Pairs with the release in fill. */
			const struct kernel *kernel =
				__atomic_load_n(&entry->kernel, __ATOMIC_ACQUIRE);

			if (__builtin_expect((uintptr_t)kernel & NOT_RUN, 0))
				return run_first(object);
			if (kernel)
				return kernel;
		}
		if (!at)
			return __atomic_load_n(&unknown, __ATOMIC_RELAXED);
	}
}

static void fill(struct table *table, struct entry *entry, uint64_t object, uint64_t executable,
		 const struct kernel *kernel)
{
	if (!__atomic_load_n(&entry->object, __ATOMIC_RELAXED))
		table->used++;
	entry->executable = executable;
	__atomic_store_n(&entry->object, object, __ATOMIC_RELAXED);
	/* Pairs with the acquire in find. */
	__atomic_store_n(&entry->kernel, kernel, __ATOMIC_RELEASE);
}

/* The place of that address, or the first that is empty or emptied on the way to it. */
static struct entry *place(struct table *table, uint64_t object)
{
	struct entry *emptied = NULL;

	for (uint64_t i = first_place(table, object);; i = (i + 1) & (table->size - 1)) {
		struct entry *entry = &table->entries[i];
		const uint64_t at = __atomic_load_n(&entry->object, __ATOMIC_RELAXED);

		if (at == object)
			return entry;
		if (!at)
			return emptied ? emptied : entry;
		if (!emptied && !__atomic_load_n(&entry->kernel, __ATOMIC_RELAXED))
			emptied = entry;
	}
}

bool kernel_table_waits(uint64_t object, uint64_t *executable, uint64_t *symbol)
{
	HOLD_LOCK(&lock);
	const struct entry *entry = place(__atomic_load_n(&current, __ATOMIC_RELAXED), object);
	const uintptr_t kernel = (uintptr_t)__atomic_load_n(&entry->kernel, __ATOMIC_RELAXED);

	if (!(kernel & NOT_RUN) || __atomic_load_n(&entry->object, __ATOMIC_RELAXED) != object)
		return false;
	*executable = entry->executable;
	*symbol = kernel & ~(uintptr_t)NOT_RUN;
	return true;
}

static struct table *table_create(uint64_t size)
{
	struct table *table = calloc(1, sizeof(*table) + size * sizeof(struct entry));

	if (table)
		table->size = size;
	return table;
}

/* Makes room for one more. Entries are emptied and filled in place, so that the table grows only
 * with the number of kernels that exist at once. */
static int make_room(void)
{
	struct table *old = __atomic_load_n(&current, __ATOMIC_RELAXED), *table;

	if ((old->used + 1) * 2 <= old->size)
		return 0;
	table = table_create(old->size * 2);
	if (!table)
		return (old->used + 1) * 8 <= old->size * 7 ? 0 : RTL_ENOMEM;
	for (uint64_t i = 0; i < old->size; i++) {
		struct entry *entry = &old->entries[i];
		const struct kernel *kernel = __atomic_load_n(&entry->kernel, __ATOMIC_RELAXED);
		const uint64_t object = __atomic_load_n(&entry->object, __ATOMIC_RELAXED);

		if (kernel)
			fill(table, place(table, object), object, entry->executable, kernel);
	}
	table->older = old;
	/* Pairs with the acquire in find. */
	__atomic_store_n(&current, table, __ATOMIC_RELEASE);
	return 0;
}

/* Where a reader of the spool finds it, to which slots point. */
static struct kernel *kernel_new(void)
{
	static struct kernel *left, *end;

	if (left == end) {
		left = rtl_slots_create(KERNELS_AT_ONCE * sizeof(*left));
		end = left ? left + KERNELS_AT_ONCE : left;
		if (left)
			rtl_slots_ready(left, KERNELS_AT_ONCE * sizeof(*left));
	}
	return left ? left++ : NULL;
}

static const struct kernel *kernel_get(uint64_t uid, uint64_t name, bool *first)
{
	struct kernel **bucket = &named[name % KERNEL_BUCKETS], *kernel;

	*first = false;
	for (kernel = __atomic_load_n(bucket, __ATOMIC_RELAXED); kernel; kernel = kernel->next)
		if (kernel->uid == uid && kernel->name == name)
			return kernel;
	*first = true;
	kernel = kernel_new();
	if (!kernel)
		return NULL;
	*kernel = (struct kernel){
		.uid = uid, .name = name, .next = __atomic_load_n(bucket, __ATOMIC_RELAXED)};
	/* Pairs with the acquire in kernel_table_named. */
	__atomic_store_n(bucket, kernel, __ATOMIC_RELEASE);
	return kernel;
}

/* The only one of that name; else the one that stands for all of them; else NULL. *count: without that one. */
static const struct kernel *find_named(uint64_t name, unsigned *count)
{
	const struct kernel *only = NULL, *all = NULL;

	*count = 0;
	/* Pairs with the release in kernel_get. */
	for (const struct kernel *kernel =
		     __atomic_load_n(&named[name % KERNEL_BUCKETS], __ATOMIC_ACQUIRE);
	     kernel; kernel = kernel->next) {
		if (kernel->name != name)
			continue;
		if (__atomic_load_n(&kernel->by_name, __ATOMIC_RELAXED)) {
			all = kernel;
		} else {
			only = kernel;
			++*count;
		}
	}
	return *count == 1 ? only : all;
}

bool kernel_table_has_name(uint64_t name)
{
	unsigned count;

	(void)find_named(name, &count);
	return count != 0;
}

const struct kernel *kernel_table_named(uint64_t name, uint64_t (*uid)(uint64_t name))
{
	unsigned count;
	const struct kernel *found = find_named(name, &count);
	uint64_t made;
	bool first;

	if (found)
		return found;
	made = uid(name);
	HOLD_LOCK(&lock);
	found = kernel_get(made, name, &first);
	if (found && first)
		kernel_set(&found->by_name, true);
	return found;
}

int kernel_table_init(void (*runs_first)(uint64_t object))
{
	const struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "kernel", .name = KERNEL_UNKNOWN};
	uint64_t uid = 0, name = 0;
	struct table *table;
	const struct kernel *kernel;
	bool first;

	(void)rtl_tracepoint_register(&desc, &uid);
	(void)rtl_string_intern(desc.name, &name);
	HOLD_LOCK(&lock);
	if (__atomic_load_n(&current, __ATOMIC_RELAXED))
		return 0;
	kernel = kernel_get(uid, name, &first);
	table = table_create(1024);
	if (!kernel || !table) {
		free(table);
		return RTL_ENOMEM;
	}
	__atomic_store_n(&unknown, kernel, __ATOMIC_RELAXED);
	runs = runs_first;
	__atomic_store_n(&current, table, __ATOMIC_RELEASE);
	return 0;
}

/* Under the lock. */
static int put(uint64_t object, uint64_t executable, const struct kernel *kernel)
{
	struct table *table;

	if (!kernel || make_room())
		return RTL_ENOMEM;
	table = __atomic_load_n(&current, __ATOMIC_RELAXED);
	fill(table, place(table, object), object, executable, kernel);
	return 0;
}

int kernel_table_add(uint64_t object, uint64_t executable, const struct kernel *like, bool *first)
{
	const struct kernel *kernel;

	*first = true;
	if (!object)
		return RTL_EINVAL;
	HOLD_LOCK(&lock);
	kernel = kernel_get(like->uid, like->name, first);
	if (kernel) {
		kernel_set(&kernel->left_out, like->left_out);
		kernel_set(&kernel->argument_bytes, like->argument_bytes);
		kernel_set(&kernel->copies, like->copies);
	}
	return put(object, executable, kernel);
}

int kernel_table_wait(uint64_t object, uint64_t executable, uint64_t symbol)
{
	HOLD_LOCK(&lock);
	return put(object, executable,
		   symbol ? (const struct kernel *)(uintptr_t)(symbol | NOT_RUN) : unknown);
}

void kernel_table_remove(uint64_t executable)
{
	HOLD_LOCK(&lock);
	struct table *table = __atomic_load_n(&current, __ATOMIC_RELAXED);

	for (uint64_t i = 0; table && i < table->size; i++) {
		struct entry *entry = &table->entries[i];

		if (entry->executable == executable &&
		    __atomic_load_n(&entry->kernel, __ATOMIC_RELAXED)) {
			/* Relaxed: nobody looks for it any more. */
			__atomic_store_n(&entry->kernel, NULL, __ATOMIC_RELAXED);
		}
	}
}
