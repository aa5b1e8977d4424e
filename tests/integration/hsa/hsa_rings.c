/* SPDX-License-Identifier: MIT */
/*
 * hsa_rings none|own|shared [leave]: four threads keep a small queue full, with one ring of the doorbell for six
 * dispatches. A tracer's intercepted queue says that there is room as soon as it has passed packets on, while the GPU's
 * ring is still full. Dispatches have no completion signal, one each, or one that all count down. Without `leave` it
 * ends after 192 dispatches, each of which it waits for, and prints "hsa_rings: ok"; with it main leaves while the
 * threads go on. The kernel has no name.
 */
#define _GNU_SOURCE
#define PROGRAM "hsa_rings"
#include "hsa_program.h"

#include <stdatomic.h>

#include "../../programs/hang_guard.h"

#define THREADS  4
#define RINGS    32
#define RING_OF  6
#define PACKETS  64
#define WINDOW   48
#define TYPE     (HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE)
#define IN_ORDER (1 << HSA_PACKET_HEADER_BARRIER)

static enum signals { NONE, OWN, SHARED } signals;
static hsa_agent_t gpu;
static hsa_queue_t *queue;
static hsa_signal_t shared;
static atomic_long left, rung;

/* A signal for the next dispatch of a thread, which has no more than WINDOW under way. */
static hsa_signal_t next_signal(hsa_signal_t *window, long number)
{
	hsa_signal_t *signal = &window[number % WINDOW];

	if (signals == NONE)
		return (hsa_signal_t){0};
	if (signals == SHARED)
		return shared;
	if (!signal->handle)
		*signal = create_signal(1);
	else
		wait_done(*signal);
	hsa_signal_store_relaxed(*signal, 1);
	return *signal;
}

static void put(uint64_t index, hsa_signal_t signal)
{
	hsa_kernel_dispatch_packet_t *packet =
		(hsa_kernel_dispatch_packet_t *)queue->base_address + index % PACKETS;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= PACKETS)
		usleep(50);
	memset((char *)packet + 4, 0, sizeof(*packet) - 4);
	packet->grid_size_x = packet->workgroup_size_x = 64;
	packet->grid_size_y = packet->workgroup_size_y = 1;
	packet->grid_size_z = packet->workgroup_size_z = 1;
	packet->completion_signal = signal;
	__atomic_store_n((uint32_t *)packet, TYPE | IN_ORDER | 1u << 16, __ATOMIC_RELEASE);
}

static void *keep_ringing(void *data)
{
	hsa_signal_t window[WINDOW] = {{0}}, ring[RING_OF];
	long number = 0;

	while (left-- > 0) {
		uint64_t index;

		for (int i = 0; i < RING_OF; i++)
			ring[i] = next_signal(window, number++);
		index = hsa_queue_add_write_index_relaxed(queue, RING_OF);
		for (uint64_t i = 0; i < RING_OF; i++)
			put(index + i, ring[i]);
		hsa_signal_store_screlease(queue->doorbell_signal,
					   (hsa_signal_value_t)(index + RING_OF - 1));
		rung++;
	}
	for (int i = 0; i < WINDOW; i++) {
		if (window[i].handle) {
			wait_done(window[i]);
			CHECK(!hsa_signal_destroy(window[i]));
		}
	}
	return NULL;
}

static void end(pthread_t *threads)
{
	hsa_signal_t last;

	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	last = create_signal(1);
	dispatch(queue, 64, last);
	wait_done(last);
	CHECK(hsa_signal_load_scacquire(shared) == (signals == SHARED ? 1 : RINGS * RING_OF + 1));
	CHECK(!hsa_queue_destroy(queue));
	CHECK(!hsa_signal_destroy(last));
	CHECK(!hsa_signal_destroy(shared));
	CHECK(!hsa_shut_down());
	printf("hsa_rings: ok\n");
}

int main(int argc, char **argv)
{
	const bool leave = argc == 3 && !strcmp(argv[2], "leave");
	pthread_t threads[THREADS];

	CHECK(argc > 1);
	signals = !strcmp(argv[1], "own") ? OWN : !strcmp(argv[1], "shared") ? SHARED : NONE;
	left = leave ? 1000000 : RINGS;
	CHECK(!hsa_init());
	gpu = first_gpu();
	queue = create_queue(gpu, PACKETS, HSA_QUEUE_TYPE_MULTI);
	shared = create_signal(RINGS * RING_OF + 1);
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, keep_ringing, NULL));
	if (leave) {
		while (rung < RINGS)
			usleep(1000);
		printf("hsa_rings: ok\n");
		return 0;
	}
	end(threads);
	return 0;
}
