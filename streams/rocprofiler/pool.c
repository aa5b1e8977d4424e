/* SPDX-License-Identifier: MIT */
/* Pools of contexts, whose entries are handled in the order in which they were fetched, one at a time.
 *
 * Threads: any fetch and flush; the service (service.c) completes. A pool has a lock. */
#include <stdlib.h>

#include "context.h"

enum entry_state { ENTRY_FREE, ENTRY_OUT, ENTRY_COMPLETE };

struct pool_entry {
	struct pool *pool;
	rocprofiler_pool_entry_t public;
	enum entry_state state;
};

struct pool {
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t handled;
	struct gpu *gpu;
	rocprofiler_feature_t *features;
	uint32_t feature_count;
	rocprofiler_pool_properties_t properties;
	struct pool_entry *entries; /* a ring: fetched and handled in this order */
	char *payloads;
	uint32_t count;
	uint64_t fetched, done;
	bool handling; /* some thread calls the handler */
	bool closed;
};

static void free_pool(struct pool *pool)
{
	if (pool) {
		free(pool->entries);
		free(pool->payloads);
	}
	free(pool);
}

hsa_status_t rocprofiler_pool_open(hsa_agent_t agent, rocprofiler_feature_t *features,
				   uint32_t feature_count, rocprofiler_pool_t **handle,
				   uint32_t mode, rocprofiler_pool_properties_t *properties)
{
	struct gpu *gpu = gpu_of(agent);
	struct pool *pool;

	if (!gpu)
		return HSA_STATUS_ERROR;
	if (!handle || !properties || !properties->num_entries)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_open: no pool, or no entries");
	if (mode)
		return fail(HSA_STATUS_ERROR, "pool_open: invalid mode (%u)", mode);
	pool = calloc(1, sizeof(*pool));
	if (pool) {
		pool->entries = calloc(properties->num_entries, sizeof(*pool->entries));
		pool->payloads = calloc(properties->num_entries, properties->payload_bytes + 1u);
	}
	if (!pool || !pool->entries || !pool->payloads) {
		free_pool(pool);
		return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
	}
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->handled, NULL);
	pool->gpu = gpu;
	pool->features = features;
	pool->feature_count = feature_count;
	pool->properties = *properties;
	pool->count = properties->num_entries;
	*handle = pool;
	return HSA_STATUS_SUCCESS;
}

/* Of the next entry: made when first needed, as tools open pools before there is memory, and anew where it was given
 * up, as the GPU may still write there. */
static hsa_status_t renew_context(struct pool *pool, struct pool_entry *entry)
{
	struct context *context = entry->public.context;
	hsa_status_t status;

	if (context && !context_is_abandoned(context))
		return HSA_STATUS_SUCCESS;
	context_destroy(context);
	entry->public.context = NULL;
	status = context_create(pool->gpu, pool->features, pool->feature_count, &context);
	if (status)
		return status;
	context->entry = entry;
	entry->pool = pool;
	entry->public.context = context;
	entry->public.payload =
		pool->payloads + (size_t)(entry - pool->entries) * pool->properties.payload_bytes;
	return status;
}

hsa_status_t rocprofiler_pool_fetch(rocprofiler_pool_t *handle, rocprofiler_pool_entry_t *out)
{
	struct pool *pool = handle;
	struct pool_entry *entry;
	hsa_status_t status;

	if (!pool || !out)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_fetch: NULL");
	HOLD_LOCK(&pool->lock);
	while (pool->fetched - pool->done >= pool->count)
		pthread_cond_wait(&pool->handled, &pool->lock);
	entry = &pool->entries[pool->fetched % pool->count];
	status = renew_context(pool, entry);
	if (!status) {
		pool->fetched++;
		entry->state = ENTRY_OUT;
		*out = entry->public;
	}
	return status;
}

/* Calls the handler for complete entries, in order; the lock is held, and released around each call. */
static void handle_complete(struct pool *pool)
{
	if (pool->handling)
		return;
	pool->handling = true;
	while (pool->done < pool->fetched) {
		struct pool_entry *entry = &pool->entries[pool->done % pool->count];
		if (entry->state == ENTRY_OUT)
			break;
		if (entry->state == ENTRY_COMPLETE && pool->properties.handler) {
			pthread_mutex_unlock(&pool->lock);
			(void)pool->properties.handler(&entry->public,
						       pool->properties.handler_arg);
			pthread_mutex_lock(&pool->lock);
		}
		entry->state = ENTRY_FREE;
		pool->done++;
		pthread_cond_broadcast(&pool->handled);
	}
	pool->handling = false;
	pthread_cond_broadcast(&pool->handled);
}

void pool_complete(struct pool_entry *entry)
{
	struct pool *pool = entry->pool;
	struct context *context = entry->public.context;

	HOLD_LOCK(&pool->lock);
	/* Without the runtime nothing can be read. */
	entry->state = runtime_lasts(context->life) ? ENTRY_COMPLETE : ENTRY_FREE;
	__atomic_store_n(&context->busy, false, __ATOMIC_RELEASE);
	if (!pool->closed)
		handle_complete(pool);
}

hsa_status_t pool_give_back(struct pool_entry *entry)
{
	struct pool *pool = entry->pool;
	struct context *context = entry->public.context;

	HOLD_LOCK(&pool->lock);
	if (entry->state != ENTRY_OUT)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
			    "pool_release: no entry that was fetched");
	if (__atomic_load_n(&context->busy, __ATOMIC_ACQUIRE))
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
			    "pool_release: the entry's dispatch is under way");
	entry->state = ENTRY_FREE;
	handle_complete(pool);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_pool_release(rocprofiler_pool_entry_t *entry)
{
	struct context *context = entry ? entry->context : NULL;

	if (!context || !context->entry)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_release: no entry of a pool");
	return pool_give_back(context->entry);
}

hsa_status_t rocprofiler_pool_iterate(rocprofiler_pool_t *handle,
				      hsa_status_t (*callback)(rocprofiler_pool_entry_t *entry,
							       void *data),
				      void *data)
{
	struct pool *pool = handle;
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (!pool || !callback)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_iterate: NULL");
	for (uint32_t i = 0; i < pool->count && !status; i++) {
		if (pool->entries[i].public.context)
			status = callback(&pool->entries[i].public, data);
	}
	return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : status;
}

/* Whether an entry's dispatch is under way; or was given up, and the service still has it. */
static bool under_way(const struct pool *pool, bool or_given_up)
{
	for (uint32_t i = 0; i < pool->count; i++) {
		const struct context *context = pool->entries[i].public.context;
		if (context && __atomic_load_n(&context->busy, __ATOMIC_ACQUIRE) &&
		    (or_given_up || !context_is_abandoned(context)))
			return true;
	}
	return false;
}

/* Until what was submitted has been handled, not what was only fetched; the lock is held. */
static void wait_for_handlers(struct pool *pool)
{
	while (pool->handling || under_way(pool, false)) {
		/* Nobody signals what is given up. */
		const struct timespec soon = time_from_now(10000000);
		(void)pthread_cond_timedwait(&pool->handled, &pool->lock, &soon);
	}
}

hsa_status_t rocprofiler_pool_flush(rocprofiler_pool_t *handle)
{
	struct pool *pool = handle;

	if (!pool)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_flush: NULL");
	HOLD_LOCK(&pool->lock);
	wait_for_handlers(pool);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_pool_close(rocprofiler_pool_t *handle)
{
	struct pool *pool = handle;
	bool stays;

	if (!pool)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "pool_close: NULL");
	pthread_mutex_lock(&pool->lock);
	wait_for_handlers(pool);
	pool->closed = true;
	stays = under_way(pool, true);
	pthread_mutex_unlock(&pool->lock);
	for (uint32_t i = 0; i < pool->count; i++)
		context_destroy(pool->entries[i].public.context);
	if (stays)
		return HSA_STATUS_SUCCESS;
	pthread_cond_destroy(&pool->handled);
	pthread_mutex_destroy(&pool->lock);
	free_pool(pool);
	return HSA_STATUS_SUCCESS;
}
