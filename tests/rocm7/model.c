/* SPDX-License-Identifier: MIT
 *
 * Model: the software GPU as ROCr 7 loads it from HSA_MODEL_LIB (interface 0.4). ROCr then
 * plays the kernel driver itself, with memory of its own in an aperture for each GPU, and
 * hands the queues to the model.
 *
 * The structures below are ROCr's ABI (hsakmtmodeliface.h), which no package installs.
 *
 * Threads: ROCr calls the functions one at a time. Event numbers are set on the engines'.
 */
#include <pthread.h>
#include <stdlib.h>

#include "../softgpu/aql.h"
#include "../softgpu/config.h"
#include "../softgpu/engine.h"
#include "../softgpu/port.h"
#include "../softgpu/region.h"
#include "../softgpu/sdma.h"

#define INTERFACE_MAJOR 0
#define INTERFACE_MINOR 4
#define QUEUE_TYPE_SDMA 1u

struct hsakmt_model { /* a GPU */
	uint32_t node;
	struct sg_engine compute, dma;
};

struct hsakmt_model_queue {
	struct sg_queue queue;
};

struct model_queue_info {
	uint64_t ring_base_address;
	uint64_t write_pointer_address;
	uint64_t read_pointer_address;
	uint64_t *doorbell;
	uint32_t ring_bytes;
	uint32_t queue_type;
};

typedef void set_event_fn(void *data, unsigned int event_id);

struct hsakmt_model_functions {
	uint32_t major, minor;
	struct hsakmt_model *(*create)(void);
	void (*destroy)(struct hsakmt_model *gpu);
	void (*set_global_aperture)(struct hsakmt_model *gpu, void *base, uint64_t bytes);
	void (*alloced_memory)(struct hsakmt_model *gpu, void *address, uint64_t bytes,
			       uint32_t flags);
	void (*freed_memory)(struct hsakmt_model *gpu, void *address, uint64_t bytes);
	void (*set_notify_event)(struct hsakmt_model *gpu, void (*callback)(void *), void *data);
	void (*set_wait_event)(struct hsakmt_model *gpu,
			       void (*callback)(void *, uint64_t, uint64_t), void *data);
	struct hsakmt_model_queue *(*register_queue)(struct hsakmt_model *gpu,
						     struct model_queue_info *info);
	void (*set_set_event)(struct hsakmt_model *gpu, set_event_fn *set, void *data);
	void (*destroy_queue)(struct hsakmt_model *gpu, struct hsakmt_model_queue *queue);
};

const struct hsakmt_model_functions *get_hsakmt_model_functions(void);

static set_event_fn *set_event;
static void *set_event_data;

static void port_set_event(uint32_t event_id)
{
	set_event(set_event_data, event_id);
}

struct sg_port sg_port = {.rocm_major = 7, .set_event = port_set_event};

static struct hsakmt_model *model_create(void)
{
	static uint32_t last_node;
	struct hsakmt_model *gpu = calloc(1, sizeof(*gpu));

	if (!gpu)
		return NULL;
	sg_config_load();
	gpu->node = ++last_node; /* ROCr makes them in the order of the nodes */
	sg_engine_init(&gpu->compute, sg_aql_step, gpu->node, "cp");
	sg_engine_init(&gpu->dma, sg_sdma_step, gpu->node, "dma");
	return gpu;
}

static void model_destroy(struct hsakmt_model *gpu)
{
	sg_engine_stop(&gpu->compute);
	sg_engine_stop(&gpu->dma);
	free(gpu);
}

static void model_set_global_aperture(struct hsakmt_model *gpu, void *base, uint64_t bytes)
{
	gpu->compute.space = gpu->dma.space = (struct sg_space){base, bytes};
}

static void model_alloced_memory(struct hsakmt_model *gpu __attribute__((unused)), void *address,
				 uint64_t bytes, uint32_t flags __attribute__((unused)))
{
	struct sg_region *region = calloc(1, sizeof(*region));

	if (!region)
		return;
	*region = (struct sg_region){(uintptr_t)address, bytes};
	sg_regions_lock();
	if (!sg_region_insert(region)) {
		free(region);
	}
	sg_regions_unlock();
}

static void model_freed_memory(struct hsakmt_model *gpu __attribute__((unused)), void *address,
			       uint64_t bytes __attribute__((unused)))
{
	struct sg_region *region;

	sg_regions_lock();
	region = sg_region_find((uintptr_t)address);
	if (region) {
		sg_region_remove(region);
		free(region);
	}
	sg_regions_unlock();
}

static void model_set_notify_event(struct hsakmt_model *gpu __attribute__((unused)),
				   void (*callback)(void *) __attribute__((unused)),
				   void *data __attribute__((unused)))
{
}

static void model_set_wait_event(struct hsakmt_model *gpu __attribute__((unused)),
				 void (*callback)(void *, uint64_t, uint64_t)
					 __attribute__((unused)),
				 void *data __attribute__((unused)))
{
}

static void model_set_set_event(struct hsakmt_model *gpu __attribute__((unused)), set_event_fn *set,
				void *data)
{
	set_event = set;
	set_event_data = data;
}

/* Write indices are taken from memory: ROCr does not tell where the doorbell will be. */
static struct hsakmt_model_queue *model_register_queue(struct hsakmt_model *gpu,
						       struct model_queue_info *info)
{
	struct sg_engine *engine = info->queue_type == QUEUE_TYPE_SDMA ? &gpu->dma : &gpu->compute;
	struct hsakmt_model_queue *q = calloc(1, sizeof(*q));

	if (!q || sg_engine_start(engine))
		abort(); /* ROCr takes NULL for a slot that is free */
	q->queue.gpu = gpu->node;
	q->queue.id = sg_queue_next_id();
	q->queue.ring = sg_space_host(&engine->space, info->ring_base_address);
	q->queue.ring_bytes = info->ring_bytes;
	q->queue.read_index = sg_space_host(&engine->space, info->read_pointer_address);
	if (engine == &gpu->dma)
		q->queue.write_index = sg_space_host(&engine->space, info->write_pointer_address);
	else
		q->queue.amd = (amd_queue_t *)((char *)q->queue.read_index -
					       offsetof(amd_queue_t, read_dispatch_id));
	sg_engine_add(engine, &q->queue);
	return q;
}

static void model_destroy_queue(struct hsakmt_model *gpu __attribute__((unused)),
				struct hsakmt_model_queue *q)
{
	sg_engine_remove(&q->queue);
	free(q);
}

__attribute__((visibility("default"))) const struct hsakmt_model_functions *
get_hsakmt_model_functions(void)
{
	static const struct hsakmt_model_functions functions = {
		.major = INTERFACE_MAJOR,
		.minor = INTERFACE_MINOR,
		.create = model_create,
		.destroy = model_destroy,
		.set_global_aperture = model_set_global_aperture,
		.alloced_memory = model_alloced_memory,
		.freed_memory = model_freed_memory,
		.set_notify_event = model_set_notify_event,
		.set_wait_event = model_set_wait_event,
		.register_queue = model_register_queue,
		.set_set_event = model_set_set_event,
		.destroy_queue = model_destroy_queue,
	};

	return &functions;
}
