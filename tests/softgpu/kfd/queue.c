/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../aql.h"
#include "../engine.h"
#include "../sdma.h"
#include "kfd.h"

#define QUEUES_MAX (SG_MAX_GPUS * KFD_DOORBELLS)

struct gpu {
	struct sg_engine compute, dma;
	_Atomic uint64_t *doorbells;
	bool doorbell_used[KFD_DOORBELLS];
};

struct kfd_queue {
	struct sg_queue queue;
	struct gpu *gpu;
	uint32_t doorbell;
};

static struct gpu gpus[SG_MAX_GPUS]; /* of node 1, 2, ... */
static struct kfd_queue *queues[QUEUES_MAX];

void kfd_queues_reset(void)
{
	memset(gpus, 0, sizeof(gpus));
	memset(queues, 0, sizeof(queues));
}

void kfd_queues_init(uint32_t gpu, void *doorbells)
{
	gpus[gpu].doorbells = doorbells;
	sg_engine_init(&gpus[gpu].compute, sg_aql_step, gpu + 1, "cp");
	sg_engine_init(&gpus[gpu].dma, sg_sdma_step, gpu + 1, "dma");
}

/* The first one that is free, or KFD_DOORBELLS. */
static uint32_t find_doorbell(const struct gpu *gpu)
{
	uint32_t i = 0;

	while (i < KFD_DOORBELLS && gpu->doorbell_used[i])
		i++;
	return i;
}

/* The packets' headers tell how far an AQL queue may be read. Its doorbell does not: threads that
 * share the queue ring it in any order, and the last may be that with the earliest packet. */
static void init_aql(struct sg_queue *queue, _Atomic uint64_t *doorbell)
{
	atomic_store(doorbell, UINT64_MAX);
	queue->amd = (amd_queue_t *)((char *)queue->read_index -
				     offsetof(amd_queue_t, read_dispatch_id));
}

/* ROCr writes the end in bytes of what is written to the doorbell. */
static void init_sdma(struct sg_queue *queue, _Atomic uint64_t *doorbell)
{
	atomic_store(doorbell, 0);
	queue->write_index = doorbell;
}

int kfd_queue_create(struct kfd_ioctl_create_queue_args *args)
{
	const bool is_dma = args->queue_type != KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
	const uint32_t node = kfd_gpu(args->gpu_id) + 1;
	struct sg_engine *engine;
	struct kfd_queue *q;
	struct gpu *gpu;
	uint32_t index;

	if (node > sg_config.gpu_count || args->queue_type == KFD_IOC_QUEUE_TYPE_COMPUTE)
		return EINVAL;
	gpu = &gpus[node - 1];
	index = find_doorbell(gpu);
	engine = is_dma ? &gpu->dma : &gpu->compute;
	q = index < KFD_DOORBELLS ? calloc(1, sizeof(*q)) : NULL;
	if (!q || sg_engine_start(engine)) {
		free(q);
		return ENOMEM;
	}
	gpu->doorbell_used[index] = true;
	q->gpu = gpu;
	q->doorbell = index;
	q->queue.gpu = node;
	q->queue.id = sg_queue_next_id();
	q->queue.ring = (char *)(uintptr_t)args->ring_base_address;
	q->queue.ring_bytes = args->ring_size;
	q->queue.read_index = (_Atomic uint64_t *)(uintptr_t)args->read_pointer_address;
	if (is_dma)
		init_sdma(&q->queue, &gpu->doorbells[index]);
	else
		init_aql(&q->queue, &gpu->doorbells[index]);
	args->doorbell_offset = kfd_doorbell_offset(node - 1) + index * sizeof(*gpu->doorbells);
	args->queue_id = (node - 1) * KFD_DOORBELLS + index;
	queues[args->queue_id] = q;
	sg_engine_add(engine, &q->queue);
	KFD_TRACE("queue %u: node %u type %u ring %#llx size %u", q->queue.id, node,
		  args->queue_type, args->ring_base_address, args->ring_size);
	return 0;
}

static struct kfd_queue *find_queue(uint32_t id)
{
	return id < QUEUES_MAX ? queues[id] : NULL;
}

int kfd_queue_destroy(uint32_t id)
{
	struct kfd_queue *q = find_queue(id);

	if (!q)
		return EINVAL;
	sg_engine_remove(&q->queue);
	q->gpu->doorbell_used[q->doorbell] = false;
	queues[id] = NULL;
	KFD_TRACE("queue %u destroyed", q->queue.id);
	free(q);
	return 0;
}

/* No ring, or a percentage of 0, takes the queue off the hardware. */
int kfd_queue_update(const struct kfd_ioctl_update_queue_args *args)
{
	struct kfd_queue *q = find_queue(args->queue_id);

	if (!q)
		return EINVAL;
	atomic_store(&q->queue.paused, !args->ring_base_address || !args->queue_percentage);
	return 0;
}
