/* SPDX-License-Identifier: MIT */
/* dispatch_hsa DISPATCHES LOOPS [signals|sync]: writes DISPATCHES dispatches of an empty kernel object into one HSA
 * queue, one ring of the doorbell each, and waits for them; LOOPS times. For each loop one line:
 *	launch NS total NS cpu NS each NS
 * for each dispatch. launch is the time on the launching thread, total that until all have finished. cpu is the
 * launching thread's processor time, which other programs disturb less. each is the median of single submissions (the
 * signal's value, the packet and the doorbell, without any wait). It waits after every half a ring of dispatches (not
 * counted as launch): the interception of ROCm 5.2 ends the program when the GPU's ring overflows, whatever the tool.
 * "signals": each dispatch carries a completion signal of the program (64 of them in turn).
 * "sync": each is waited for before the next, and launch is the median of one such round trip,
 * total its 99th percentile. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dispatch_each.h"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		if (call) {                                                                        \
			fprintf(stderr, "%s failed\n", #call);                                     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define SIGNALS 64
#define PACKETS 16384

static hsa_agent_t gpu;
static hsa_queue_t *queue;
static hsa_signal_t signals[SIGNALS], last;

static double now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static hsa_status_t find_gpu(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	if (!hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) &&
	    type == HSA_DEVICE_TYPE_GPU && !gpu.handle)
		gpu = agent;
	return HSA_STATUS_SUCCESS;
}

static void submit(hsa_signal_t signal)
{
	const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	hsa_kernel_dispatch_packet_t *packet;
	const uint32_t header =
		HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER | 1 << 16;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		;
	packet = (hsa_kernel_dispatch_packet_t *)queue->base_address + (index & (queue->size - 1));
	memset((char *)packet + 4, 0, sizeof(*packet) - 4);
	packet->workgroup_size_x = packet->grid_size_x = 64;
	packet->workgroup_size_y = packet->workgroup_size_z = 1;
	packet->grid_size_y = packet->grid_size_z = 1;
	packet->completion_signal = signal;
	__atomic_store_n((uint32_t *)packet, header, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void wait_for(hsa_signal_t signal)
{
	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED) >= 1)
		;
}

static void wait_for_all(void)
{
	hsa_signal_store_relaxed(last, 1);
	submit(last);
	wait_for(last);
}

static void loop_launch(long dispatches, bool with_signals)
{
	const hsa_signal_t none = {0};
	const double begin = now_ns(CLOCK_MONOTONIC);
	double wall = 0, cpu = 0;
	struct each each;

	each_init(&each, dispatches);
	for (long i = 0; i < dispatches;) {
		const double wall_begin = now_ns(CLOCK_MONOTONIC);
		const double cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
		const long end = i + PACKETS / 2 < dispatches ? i + PACKETS / 2 : dispatches;

		for (; i < end; i++) {
			const hsa_signal_t signal = signals[i % SIGNALS];

			if (with_signals && i >= SIGNALS)
				wait_for(signal);
			const uint64_t tick = each_begin();

			if (with_signals)
				hsa_signal_store_relaxed(signal, 1);
			submit(with_signals ? signal : none);
			each_end(&each, tick);
		}
		cpu += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
		wall += now_ns(CLOCK_MONOTONIC) - wall_begin;
		wait_for_all();
	}
	const double total = now_ns(CLOCK_MONOTONIC) - begin;

	printf("launch %.1f total %.1f cpu %.1f each %.1f\n", wall / (double)dispatches,
	       total / (double)dispatches, cpu / (double)dispatches, each_median_ns(&each));
}

static int by_value(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static void loop_sync(long dispatches)
{
	double *times = calloc((size_t)dispatches, sizeof(*times));
	const double cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct each each;

	each_init(&each, dispatches);
	for (long i = 0; i < dispatches; i++) {
		const double begin = now_ns(CLOCK_MONOTONIC);

		const uint64_t tick = each_begin();

		hsa_signal_store_relaxed(last, 1);
		submit(last);
		each_end(&each, tick);
		wait_for(last);
		times[i] = now_ns(CLOCK_MONOTONIC) - begin;
	}
	qsort(times, (size_t)dispatches, sizeof(*times), by_value);
	printf("launch %.1f total %.1f cpu %.1f each %.1f\n", times[dispatches / 2],
	       times[dispatches * 99 / 100],
	       (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin) / (double)dispatches,
	       each_median_ns(&each));
	free(times);
}

int main(int argc, char **argv)
{
	const long dispatches = argc > 1 ? atol(argv[1]) : 100000;
	const int loops = argc > 2 ? atoi(argv[2]) : 5;
	const char *kind = argc > 3 ? argv[3] : "";

	CHECK(hsa_init());
	CHECK(hsa_iterate_agents(find_gpu, NULL));
	CHECK(hsa_queue_create(gpu, PACKETS, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
			       UINT32_MAX, &queue));
	for (int i = 0; i < SIGNALS; i++)
		CHECK(hsa_signal_create(0, 0, NULL, &signals[i]));
	CHECK(hsa_signal_create(1, 0, NULL, &last));
	submit(last);
	wait_for(last);
	for (int i = 0; i < loops; i++) {
		if (!strcmp(kind, "sync"))
			loop_sync(dispatches);
		else
			loop_launch(dispatches, !strcmp(kind, "signals"));
	}
	return 0;
}
