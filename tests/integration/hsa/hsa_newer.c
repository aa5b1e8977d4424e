/* SPDX-License-Identifier: MIT */
/*
 * hsa_newer: a tool library that makes the runtime's table of AMD's extensions as long as that of ROCm 7.15 is (92
 * entries), with hsa_amd_queue_create at its place, before it gives it to the interceptor HSA_NEWER_TOOL; what that
 * hooks goes into the runtime's own table. The new function makes its queues by the runtime's hsa_queue_create, and
 * refuses what the real one refuses. hsa_newer_queue_create is what a program of ROCm 7.15 would call. Threads: OnLoad
 * in hsa_init; the rest reads only. No locks.
 */
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../streams/hsa/runtime/interceptor.h"

#define ENTRIES 92
#define PLACE   86
#define EXPORT  __attribute__((visibility("default")))

typedef bool onload_fn(struct root_table *root, uint64_t version, uint64_t failed,
		       const char *const *names);

EXPORT bool OnLoad(struct root_table *root, uint64_t version, uint64_t failed,
		   const char *const *names);
EXPORT hsa_status_t hsa_newer_queue_create(hsa_agent_t agent, struct queue_descriptor *descriptors,
					   uint32_t count);

static union {
	struct function_table table;
	char bytes[sizeof(struct function_table) + ENTRIES * sizeof(void *)];
} newer;
static __typeof__(hsa_queue_create) *queue_create;

/* The runtime's own. */
static hsa_status_t create_one(hsa_agent_t agent, struct queue_descriptor *d)
{
	d->queue = NULL;
	if (d->version != 1 || !d->queue_size_bytes || d->queue_size_bytes % 64)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (d->engine_type)
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
	return queue_create(agent, d->queue_size_bytes / 64, d->compute.type, d->callback,
			    d->callback_data, d->compute.private_segment_size, UINT32_MAX,
			    &d->queue);
}

static hsa_status_t create(hsa_agent_t agent, struct queue_descriptor *descriptors, uint32_t count)
{
	hsa_status_t first = HSA_STATUS_SUCCESS;

	for (uint32_t i = 0; i < count; i++) {
		const hsa_status_t status = create_one(agent, &descriptors[i]);

		first = first ? first : status;
	}
	return first;
}

hsa_status_t hsa_newer_queue_create(hsa_agent_t agent, struct queue_descriptor *descriptors,
				    uint32_t count)
{
	hsa_status_t (*function)(hsa_agent_t, struct queue_descriptor *, uint32_t);

	*(void **)&function = newer.table.entries[PLACE];
	return function(agent, descriptors, count);
}

/* Entries of the last release with the old layout, and the first that was put further. */
enum { AMD_ENTRIES_5_5 = 51, AMD_FIRST_MOVED = 16 };

/* Where an entry of the old table is in the new one. */
static size_t place_of(const struct function_table *amd, size_t entry)
{
	const size_t entries = (amd->version.size - sizeof(amd->version)) / sizeof(void *);

	return entries <= AMD_ENTRIES_5_5 && entry >= AMD_FIRST_MOVED ? entry + 2 : entry;
}

bool OnLoad(struct root_table *root, uint64_t version, uint64_t failed, const char *const *names)
{
	const char *path = getenv("HSA_NEWER_TOOL");
	void *tool = path ? dlopen(path, RTLD_NOW) : NULL;
	struct function_table *amd = root->amd;
	const size_t entries = (amd->version.size - sizeof(amd->version)) / sizeof(void *);
	struct root_table copy = *root;
	onload_fn *load;

	if (!tool) {
		printf("hsa_newer: FAILED: %s\n", dlerror());
		fflush(stdout);
		abort();
	}
	*(void **)&load = dlsym(tool, "OnLoad");
	*(void **)&queue_create = *table_entry(root, ENTRY_hsa_queue_create);
	newer.table.version = amd->version;
	newer.table.version.size = sizeof(newer.bytes);
	for (size_t i = 0; i < entries; i++)
		newer.table.entries[place_of(amd, i)] = amd->entries[i];
	newer.table.entries[PLACE] = (void *)create;
	copy.amd = &newer.table;
	load(&copy, version, failed, names);
	for (size_t i = 0; i < entries; i++)
		amd->entries[i] = newer.table.entries[place_of(amd, i)];
	return true;
}
