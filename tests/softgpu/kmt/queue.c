/* SPDX-License-Identifier: MIT
 *
 * Queues: user-mode queues and the doorbells of the GPUs, handed to the engines.
 *
 * Threads: any; the lock guards the doorbells and the engines' being started.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../aql.h"
#include "../engine.h"
#include "../sdma.h"
#include "kmt.h"

struct gpu {
	_Atomic uint64_t *doorbells;
	void *mmio;
	bool doorbell_used[KMT_DOORBELLS];
	struct sg_engine compute, dma;
};

struct kmt_queue {
	struct sg_queue queue;
	struct gpu *gpu;
	unsigned int doorbell;
	_Atomic uint64_t sdma_indices[2]; /* read, write; of an AQL queue ROCr provides them */
};

static struct gpu gpus[SG_MAX_GPUS]; /* of node 1, 2, ... */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void kmt_queues_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(gpus, 0, sizeof(gpus));
}

void *kmt_mmio_page(uint32_t node)
{
	return gpus[node - 1].mmio;
}

bool kmt_queues_init(void)
{
	for (uint32_t i = 0; i < sg_config.gpu_count; i++) {
		struct gpu *gpu = &gpus[i];

		if (gpu->doorbells)
			continue; /* opened before and closed */
		gpu->mmio = kmt_pages_map(KMT_PAGE_BYTES, KMT_PAGE_BYTES, -1);
		gpu->doorbells =
			kmt_pages_map(KMT_DOORBELLS * sizeof(*gpu->doorbells), KMT_PAGE_BYTES, -1);
		if (!gpu->mmio || !gpu->doorbells)
			return false;
		sg_engine_init(&gpu->compute, sg_aql_step, i + 1, "cp");
		sg_engine_init(&gpu->dma, sg_sdma_step, i + 1, "dma");
	}
	return true;
}

void kmt_queues_fini(void)
{
	for (uint32_t i = 0; i < sg_config.gpu_count; i++) {
		sg_engine_stop(&gpus[i].compute);
		sg_engine_stop(&gpus[i].dma);
	}
}

/* Takes a doorbell and has the engine run. false: there is none left. */
static bool take_doorbell(struct kmt_queue *q, struct sg_engine *engine)
{
	bool taken = false;

	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < KMT_DOORBELLS && !taken; i++)
		if (!q->gpu->doorbell_used[i] && sg_engine_start(engine) == 0) {
			q->gpu->doorbell_used[i] = true;
			q->doorbell = i;
			taken = true;
		}
	pthread_mutex_unlock(&lock);
	return taken;
}

/* The packets' headers tell how far an AQL queue may be read. Its doorbell does not: threads that
 * share the queue ring it in any order, and the last may be that with the earliest packet. */
static void init_aql(struct kmt_queue *q, _Atomic uint64_t *doorbell, HsaQueueResource *resource)
{
	atomic_store(doorbell, UINT64_MAX);
	q->queue.read_index = (_Atomic uint64_t *)resource->Queue_read_ptr_aql;
	q->queue.amd = (amd_queue_t *)((char *)resource->Queue_read_ptr_aql -
				       offsetof(amd_queue_t, read_dispatch_id));
}

/* ROCr writes the end in bytes of what is written to the doorbell. */
static void init_sdma(struct kmt_queue *q, _Atomic uint64_t *doorbell, HsaQueueResource *resource)
{
	atomic_store(doorbell, 0);
	q->queue.write_index = doorbell;
	q->queue.read_index = &q->sdma_indices[0];
	resource->Queue_read_ptr_aql = (HSAuint64 *)&q->sdma_indices[0];
	resource->Queue_write_ptr_aql = (HSAuint64 *)&q->sdma_indices[1];
}

KMT_EXPORT HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type,
					   HSAuint32 percentage __attribute__((unused)),
					   HSA_QUEUE_PRIORITY priority __attribute__((unused)),
					   void *ring, HSAuint64 ring_bytes,
					   HsaEvent *event __attribute__((unused)),
					   HsaQueueResource *resource)
{
	bool is_dma = type == HSA_QUEUE_SDMA || type == HSA_QUEUE_SDMA_XGMI;
	struct sg_engine *engine;
	_Atomic uint64_t *doorbell;
	struct kmt_queue *q;

	if (!kmt_is_open())
		return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	if (!kmt_is_gpu(node))
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	if (!is_dma && type != HSA_QUEUE_COMPUTE_AQL)
		return HSAKMT_STATUS_NOT_SUPPORTED;
	q = calloc(1, sizeof(*q));
	if (!q)
		return HSAKMT_STATUS_NO_MEMORY;
	q->gpu = &gpus[node - 1];
	engine = is_dma ? &q->gpu->dma : &q->gpu->compute;
	if (!take_doorbell(q, engine)) {
		free(q);
		return HSAKMT_STATUS_OUT_OF_RESOURCES;
	}
	doorbell = &q->gpu->doorbells[q->doorbell];
	q->queue.gpu = node;
	q->queue.id = sg_queue_next_id();
	q->queue.ring = ring;
	q->queue.ring_bytes = ring_bytes;
	if (is_dma)
		init_sdma(q, doorbell, resource);
	else
		init_aql(q, doorbell, resource);
	resource->QueueId = (uintptr_t)q;
	resource->Queue_DoorBell_aql = (HSAuint64 *)doorbell;
	sg_engine_add(engine, &q->queue);
	KMT_TRACE("queue %u: node %u type %u ring %p size %llu", q->queue.id, node, type, ring,
		  (unsigned long long)ring_bytes);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID id)
{
	struct kmt_queue *q = (struct kmt_queue *)(uintptr_t)id;

	if (!q)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (!kmt_is_open())
		return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	sg_engine_remove(&q->queue);
	pthread_mutex_lock(&lock);
	q->gpu->doorbell_used[q->doorbell] = false;
	pthread_mutex_unlock(&lock);
	KMT_TRACE("queue %u destroyed", q->queue.id);
	free(q);
	return HSAKMT_STATUS_SUCCESS;
}

/* A percentage of 0 takes the queue off the hardware. */
KMT_EXPORT HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID id, HSAuint32 percentage,
					   HSA_QUEUE_PRIORITY priority __attribute__((unused)),
					   void *ring __attribute__((unused)),
					   HSAuint64 ring_bytes __attribute__((unused)),
					   HsaEvent *event __attribute__((unused)))
{
	struct kmt_queue *q = (struct kmt_queue *)(uintptr_t)id;

	if (!q)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	atomic_store(&q->queue.paused, percentage == 0);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID id __attribute__((unused)),
					      HSAuint32 bits, HSAuint32 *mask)
{
	return bits && mask && bits % 32 == 0 ? HSAKMT_STATUS_SUCCESS
					      : HSAKMT_STATUS_INVALID_PARAMETER;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID id __attribute__((unused)),
					     HSAuint32 count __attribute__((unused)),
					     HSAuint32 *first)
{
	if (first)
		*first = 0;
	return HSAKMT_STATUS_SUCCESS;
}
