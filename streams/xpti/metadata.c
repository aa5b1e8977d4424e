/* SPDX-License-Identifier: MIT */
/* An event's metadata: a std::unordered_map to C++ collectors, which walk it and may add to it. So its memory comes
 * from the program's operator new, if it has one. One bucket does for its few items, until C++ makes it more.
 * Writers hold the framework's lock; readers of C++ do not, as with upstream. */
#include <dlfcn.h>
#include <stdlib.h>

#include "events.h"

typedef void *take_fn(size_t size, const void *nothrow);
typedef void give_fn(void *memory);

/* The program's operators, NULL: it has none. Relaxed: several threads may look, and find the same. */
static struct {
	take_fn *take;
	give_fn *give;
} cpp;

/* dlsym finds the functions of a program that replaces them, and of sanitizers. */
void metadata_prepare(void)
{
	static int looked; /* release, acquire */
	void *library, *take, *give;

	if (__atomic_load_n(&looked, __ATOMIC_ACQUIRE))
		return;
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	take = dlsym(RTLD_DEFAULT, "_ZnwmRKSt9nothrow_t");
	give = dlsym(RTLD_DEFAULT, "_ZdlPv");
	if ((!take || !give) && library) {
		take = dlsym(library, "_ZnwmRKSt9nothrow_t");
		give = dlsym(library, "_ZdlPv");
	}
	if (take && give) {
		__atomic_store_n(&cpp.take, (take_fn *)take, __ATOMIC_RELAXED);
		__atomic_store_n(&cpp.give, (give_fn *)give, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
}

static void *take_memory(size_t size)
{
	static const char nothrow;
	take_fn *take = __atomic_load_n(&cpp.take, __ATOMIC_RELAXED);

	return take ? take(size, &nothrow) : malloc(size);
}

static void give_memory(void *memory)
{
	give_fn *give = __atomic_load_n(&cpp.give, __ATOMIC_RELAXED);

	if (give)
		give(memory);
	else
		free(memory);
}

void metadata_init(struct xpti_map *map)
{
	*map = (struct xpti_map){.buckets = &map->single, .bucket_count = 1, .max_load = 1.0f};
}

void metadata_clear(struct xpti_map *map)
{
	struct xpti_map_node *node = map->first, *next;

	for (; node; node = next) {
		next = node->next;
		give_memory(node);
	}
	if (map->buckets != &map->single)
		give_memory(map->buckets);
	metadata_init(map);
}

static void enter(struct xpti_map *map, struct xpti_map_node *node)
{
	struct xpti_map_node **bucket = &map->buckets[node->key % map->bucket_count];

	if (*bucket) {
		node->next = (*bucket)->next;
		(*bucket)->next = node;
		return;
	}
	node->next = map->first;
	map->first = node;
	if (node->next)
		map->buckets[node->next->key % map->bucket_count] = node;
	/* the node before the bucket's first: that is how libstdc++ keeps the map's own head as well */
	*bucket = (struct xpti_map_node *)(void *)&map->first;
}

static struct xpti_map_node *find(struct xpti_map *map, uint32_t key)
{
	struct xpti_map_node *before = map->buckets[key % map->bucket_count], *node;

	for (node = before ? before->next : NULL; node; node = node->next) {
		if (node->key == key)
			return node;
		if (node->key % map->bucket_count != key % map->bucket_count)
			break;
	}
	return NULL;
}

int32_t metadata_set(struct xpti_map *map, uint32_t key, int32_t value)
{
	struct xpti_map_node *node = find(map, key);

	if (node) {
		node->value = value;
		return XPTI_DUPLICATE;
	}
	node = take_memory(sizeof *node);
	if (!node)
		return XPTI_FAIL;
	*node = (struct xpti_map_node){.key = key, .value = value};
	enter(map, node);
	map->count++;
	return XPTI_SUCCESS;
}
