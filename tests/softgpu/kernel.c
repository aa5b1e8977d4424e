/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "blit.h"
#include "code_object.h"
#include "config.h"

static _Atomic uint64_t generation = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sg_kernel *known[1024]; /* chains; grow only; under the lock */

void sg_kernels_invalidate(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}

static uint64_t hash(uint64_t object)
{
	return (object >> 6) * 0x9e3779b97f4a7c15u >> 32;
}

/* Name and function as they are now; the caller frees the name. */
static char *resolve(uint64_t object, softgpu_host_kernel **run)
{
	char *name = sg_code_object_kernel_name(object);
	const struct sg_blit *blit;

	*run = NULL;
	if (name) {
		if (sg_config.kernels)
			*run = (softgpu_host_kernel *)dlsym(sg_config.kernels, name);
		if (!*run)
			*run = sg_blit_by_name(name);
		return name;
	}
	blit = sg_blit_by_code(object);
	if (!blit)
		return NULL;
	*run = blit->run;
	return strdup(blit->name);
}

/* An entry once made stays as it is, since flights and logs point to it. */
static const struct sg_kernel *intern(uint64_t object, char *name, softgpu_host_kernel *run)
{
	struct sg_kernel **chain = &known[hash(object) % (sizeof(known) / sizeof(*known))], *k;
	const char *text = name ? name : "?";

	for (k = *chain; k; k = k->next)
		if (k->object == object && k->run == run && strcmp(k->name, text) == 0) {
			free(name);
			return k;
		}
	k = calloc(1, sizeof(*k));
	if (!k)
		abort();
	*k = (struct sg_kernel){object, text, run, *chain};
	*chain = k;
	return k;
}

static const struct sg_kernel *lookup(uint64_t object)
{
	static const struct sg_kernel none = {.name = "?"};
	softgpu_host_kernel *run;
	const struct sg_kernel *k;
	char *name;

	if (!object) /* a dispatch without a kernel is fine here */
		return &none;
	name = resolve(object, &run);
	pthread_mutex_lock(&lock);
	k = intern(object, name, run);
	pthread_mutex_unlock(&lock);
	return k;
}

const struct sg_kernel *sg_kernel_find(struct sg_kernel_cache *cache, uint64_t object)
{
	uint64_t current = atomic_load_explicit(&generation, memory_order_acquire);
	const struct sg_kernel **slot = &cache->slots[hash(object) % SG_KERNEL_SLOTS];

	if (cache->generation != current) {
		memset(cache->slots, 0, sizeof(cache->slots));
		cache->generation = current;
	}
	if (!*slot || (*slot)->object != object)
		*slot = lookup(object);
	return *slot;
}
