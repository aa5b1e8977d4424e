/* SPDX-License-Identifier: MIT */
/*
 * hsa_signals [DISPATCHES [off]]: completion signals used in every way that a program may, to be
 * traced; with "off" without profiling. Prints "time 0 N START END" for each dispatch whose times
 * it can read itself, and at the end "hsa_signals: ok". The kernels have no names (kernel object
 * 0).
 */
#define PROGRAM "hsa_signals"

#include "hsa_program.h"

#define PACKETS 1024

static hsa_agent_t gpu, cpu;
static hsa_amd_memory_pool_t gpu_pool, cpu_pool;
static hsa_queue_t *queue;
static long printed;
static bool profiling;

static hsa_status_t find_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	CHECK(!hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_CPU)
		cpu = agent;
	else if (!gpu.handle)
		gpu = agent;
	return HSA_STATUS_SUCCESS;
}

static void print_time(hsa_signal_t signal)
{
	hsa_amd_profiling_dispatch_time_t time;

	if (!profiling)
		return;
	CHECK(!hsa_amd_profiling_get_dispatch_time(gpu, signal, &time));
	CHECK(time.start && time.end >= time.start);
	printf("time 0 %ld %lu %lu\n", printed++, time.start, time.end);
}

/* One signal, set again for each. */
static void use_in_turn(long count)
{
	hsa_signal_t signal = create_signal(0);

	for (long i = 0; i < count; i++) {
		hsa_signal_store_relaxed(signal, 1);
		dispatch(queue, 64, signal);
		wait_done(signal);
		print_time(signal);
	}
	CHECK(!hsa_signal_destroy(signal));
}

/* A signal for each, destroyed as soon as it can be; the next may get its place. */
static void use_once(long count)
{
	for (long i = 0; i < count; i++) {
		hsa_signal_t signal = create_signal(1);

		dispatch(queue, 128, signal);
		wait_done(signal);
		print_time(signal);
		CHECK(!hsa_signal_destroy(signal));
	}
}

/* One signal counts many dispatches down, and has the times of the last of them. */
static void count_down(long count)
{
	hsa_signal_t signal = create_signal(count);

	for (long i = 0; i < count; i++)
		dispatch(queue, i == count - 1 ? 448 : 192, signal);
	wait_done(signal);
	CHECK(hsa_signal_load_relaxed(signal) == 0);
	printf("grid=448 ");
	print_time(signal);
	CHECK(!hsa_signal_destroy(signal));
}

/* A barrier packet takes the dispatch's signal. */
static void reuse_in_barrier(long count)
{
	hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND};
	hsa_signal_t signal = create_signal(1);

	for (long i = 0; i < count; i++) {
		dispatch(queue, 256, signal);
		wait_done(signal);
		print_time(signal);
		hsa_signal_store_relaxed(signal, 1);
		barrier.completion_signal = signal;
		submit(queue, &barrier);
		wait_done(signal);
		hsa_signal_store_relaxed(signal, 1);
	}
	CHECK(!hsa_signal_destroy(signal));
}

/* A copy takes the dispatch's signal. */
static void reuse_in_copy(long count)
{
	hsa_signal_t signal = create_signal(1);
	void *on_gpu, *on_cpu;

	CHECK(!hsa_amd_memory_pool_allocate(gpu_pool, 65536, 0, &on_gpu));
	CHECK(!hsa_amd_memory_pool_allocate(cpu_pool, 65536, 0, &on_cpu));
	CHECK(!hsa_amd_agents_allow_access(1, &gpu, NULL, on_cpu));
	for (long i = 0; i < count; i++) {
		dispatch(queue, 320, signal);
		wait_done(signal);
		print_time(signal);
		hsa_signal_store_relaxed(signal, 1);
		CHECK(!hsa_amd_memory_async_copy(on_gpu, gpu, on_cpu, cpu, 65536, 0, NULL, signal));
		wait_done(signal);
		hsa_signal_store_relaxed(signal, 1);
	}
	CHECK(!hsa_signal_destroy(signal));
}

/* Dispatches follow each other with few signals, which wait for the GPU by turns. */
static void use_few(long count)
{
	hsa_signal_t signals[3] = {create_signal(0), create_signal(0), create_signal(0)};

	for (long i = 0; i < count; i++) {
		wait_done(signals[i % 3]);
		hsa_signal_store_relaxed(signals[i % 3], 1);
		dispatch(queue, 384, signals[i % 3]);
	}
	for (int i = 0; i < 3; i++) {
		wait_done(signals[i]);
		CHECK(!hsa_signal_destroy(signals[i]));
	}
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 300;

	CHECK(!hsa_init());
	CHECK(!hsa_iterate_agents(find_agent, NULL));
	CHECK(!hsa_amd_agent_iterate_memory_pools(gpu, find_pool, &gpu_pool));
	CHECK(!hsa_amd_agent_iterate_memory_pools(cpu, find_pool, &cpu_pool));
	queue = create_queue(gpu, PACKETS, HSA_QUEUE_TYPE_SINGLE);
	profiling = argc <= 2;
	CHECK(!hsa_amd_profiling_set_profiler_enabled(queue, 1));
	CHECK(!hsa_amd_profiling_set_profiler_enabled(queue, profiling));
	for (int round = 0; round < 3; round++) {
		use_in_turn(count);
		use_once(count);
		count_down(count);
		reuse_in_barrier(count);
		reuse_in_copy(count / 10);
		use_few(count);
	}
	CHECK(!hsa_queue_destroy(queue));
	CHECK(!hsa_shut_down());
	printf("hsa_signals: ok\n");
	return 0;
}
