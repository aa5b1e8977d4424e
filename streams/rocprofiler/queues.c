/* SPDX-License-Identifier: MIT */
/* Queues: how they are intercepted, or, for samples, how their work comes to count. See context.h. */
#include <stdlib.h>

#include "../hsa/harvest/harvest.h"
#include "context.h"

#define DESTROY_MS 1000

static struct {
	pthread_mutex_t lock; /* of all below */
	struct queue *first;
	uint32_t count;
} queues = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __typeof__(hsa_queue_create) *next_create;
static __typeof__(hsa_queue_destroy) *next_destroy;
static __typeof__(hsa_shut_down) *next_shut_down;
static __typeof__(((struct hsa_functions *)0)->intercept_create) intercept_create;
static __typeof__(((struct hsa_functions *)0)->intercept_register) intercept_register;

/* Set in OnLoad. */
static bool intercepts, enables;

static hsa_status_t add_queue(struct gpu *gpu, hsa_queue_t *queue, bool times)
{
	struct queue *added = calloc(1, sizeof(*added));
	const struct dispatch_callbacks callbacks = dispatch_callbacks();

	if (!added)
		return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
	added->queue = queue;
	added->gpu = gpu;
	added->times = times && !dispatch_terse;
	if (times)
		(void)hsa->set_profiler_enabled(queue, 1);
	pthread_mutex_lock(&queues.lock);
	added->id = queues.count++;
	added->next = queues.first;
	queues.first = added;
	pthread_mutex_unlock(&queues.lock);
	if (intercept_register(queue, dispatch_on_packets, added))
		complain("a queue cannot be intercepted; its dispatches are not counted");
	return callbacks.functions.create ? callbacks.functions.create(queue, callbacks.data)
					  : HSA_STATUS_SUCCESS;
}

static hsa_status_t create_intercepted(struct gpu *gpu, uint32_t size, hsa_queue_type32_t type,
				       queue_error_callback callback, void *data,
				       uint32_t private_bytes, uint32_t group_bytes,
				       hsa_queue_t **queue, bool times)
{
	hsa_status_t status;

	runtime_own_call = true;
	status = intercept_create(gpu->agent, size, type, callback, data, private_bytes,
				  group_bytes, queue);
	runtime_own_call = false;
	return status ? status : add_queue(gpu, *queue, times);
}

/* ---- samples: what lets a queue's work count ---- */

static void enable(struct gpu *gpu, hsa_queue_t *queue)
{
	static bool said; /* relaxed: one line is enough for all queues */
	struct library_packet packet;
	hsa_signal_t done = {0};
	char why[512];

	if (!vendor_enable(gpu, &packet, why, sizeof(why))) {
		if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
			complain("%s; queues' work is not counted", why);
		return;
	}
	if (hsa->signal_create(1, 0, NULL, &done)) {
		complain("a queue's work cannot be counted");
		return;
	}
	packet.signal = done.handle;
	library_submit(queue, &packet, 1);
	if (runtime_wait(done, "what lets a queue's work count", UINT64_MAX))
		(void)hsa->signal_destroy(done);
}

/* ---- creation and end ---- */

static hsa_status_t on_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			      queue_error_callback callback, void *data, uint32_t private_bytes,
			      uint32_t group_bytes, hsa_queue_t **queue)
{
	struct gpu *gpu = runtime_own_call ? NULL : gpu_if_any(agent);
	hsa_status_t status =
		gpu && intercepts
			? create_intercepted(gpu, size, type, callback, data, private_bytes,
					     group_bytes, queue, dispatch_times)
			: next_create(agent, size, type, callback, data, private_bytes, group_bytes,
				      queue);

	if (!status && gpu && enables)
		enable(gpu, *queue);
	return status;
}

static struct queue *take_queue(const hsa_queue_t *queue)
{
	struct queue **at, *taken;

	HOLD_LOCK(&queues.lock);
	for (at = &queues.first; *at && (*at)->queue != queue; at = &(*at)->next)
		;
	taken = *at;
	if (taken)
		*at = taken->next;
	return taken;
}

static hsa_status_t on_destroy(hsa_queue_t *queue)
{
	const struct dispatch_callbacks callbacks = dispatch_callbacks();
	struct queue *taken = take_queue(queue);
	hsa_status_t status;

	if (taken && callbacks.functions.destroy)
		(void)callbacks.functions.destroy(queue, callbacks.data);
	/* The program has seen its kernels end; the counters' ends are right behind them. */
	if (taken)
		queue_wait(taken, queue->size, DESTROY_MS);
	status = next_destroy(queue);
	if (!status)
		context_queue_is_gone(queue);
	if (taken) {
		free(taken->packets);
		taken->packets = NULL;
		__atomic_store_n(&taken->destroyed, true, __ATOMIC_RELEASE);
	}
	return status;
}

/* Handlers read counts, for which the vendor's library asks the runtime: it answers nothing from here on. */
static hsa_status_t on_shut_down(void)
{
	(void)service_wait();
	return next_shut_down();
}

hsa_status_t rocprofiler_queue_create_profiled(
	hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue)
{
	struct gpu *gpu = gpu_of(agent);

	if (!gpu)
		return HSA_STATUS_ERROR;
	if (!intercept_create)
		return fail(HSA_STATUS_ERROR, "queues can be profiled only where the HSA runtime "
					      "has loaded this library (HSA_TOOLS_LIB)");
	return create_intercepted(gpu, size, type, callback, data, private_bytes, group_bytes,
				  queue, true);
}

/* ---- hooks ---- */

void dispatch_hook(struct root_table *table, bool intercept, bool samples)
{
	void **create = table_entry(table, ENTRY_hsa_amd_queue_intercept_create);
	void **registers = table_entry(table, ENTRY_hsa_amd_queue_intercept_register);

	if (create && registers) {
		*(void **)&intercept_create = *create;
		*(void **)&intercept_register = *registers;
	} else if (intercept) {
		complain("this HSA runtime cannot intercept queues; nothing is counted");
		return;
	}
	intercepts = intercept;
	enables = samples;
	(void)table_hook(table, ENTRY_hsa_queue_create, (void *)on_create, &next_create);
	(void)table_hook(table, ENTRY_hsa_queue_destroy, (void *)on_destroy, &next_destroy);
	(void)table_hook(table, ENTRY_hsa_shut_down, (void *)on_shut_down, &next_shut_down);
	if (intercept)
		waits_hook(table);
}
