/* SPDX-License-Identifier: MIT */
/*
 * hsa_copies [THREADS [COPIES [hang]]]: memory copied in every way that HSA has, to be traced; then
 * by so many threads at once, so many copies each. Checks the bytes. Prints "copytime BYTES SRC DST
 * BEGIN END" for each copy whose times it reads itself, "shared SIGNAL" for a signal of several, "count COPIES CALLS REFUSED" (asynchronous
 * ones, synchronous calls with a GPU, copies that the runtime refused), and "hsa_copies: ok". hang:
 * at the end two are left under way for ever.
 */
#define PROGRAM "hsa_copies"

#include "hsa_program.h"

#define GPUS    8
#define BYTES   65536
#define THREADS 64

static struct gpu {
	hsa_agent_t agent;
	hsa_amd_memory_pool_t pool;
	char *a, *b;
} gpus[GPUS];
static unsigned gpu_count;
static hsa_agent_t cpu;
static hsa_amd_memory_pool_t cpu_pool;
static char *host_a, *host_b;
static unsigned long copies, calls, refused; /* of the main thread; atomic for the others */
static unsigned thread_count = 4, thread_copies = 100;

typedef hsa_status_t on_engine_fn(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t,
				  const hsa_signal_t *, hsa_signal_t, uint32_t, bool);

static hsa_status_t find_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	CHECK(!hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_CPU && !cpu.handle)
		cpu = agent;
	else if (type == HSA_DEVICE_TYPE_GPU && gpu_count < GPUS)
		gpus[gpu_count++].agent = agent;
	return HSA_STATUS_SUCCESS;
}

static char *allocate(hsa_amd_memory_pool_t pool, size_t bytes)
{
	hsa_agent_t agents[GPUS];
	void *memory;

	for (unsigned i = 0; i < gpu_count; i++)
		agents[i] = gpus[i].agent;
	CHECK(!hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
	CHECK(!hsa_amd_agents_allow_access(gpu_count, agents, NULL, memory));
	return memory;
}

static void set_up(void)
{
	CHECK(!hsa_init());
	CHECK(!hsa_iterate_agents(find_agent, NULL));
	CHECK(gpu_count);
	CHECK(!hsa_amd_agent_iterate_memory_pools(cpu, find_pool, &cpu_pool));
	host_a = allocate(cpu_pool, BYTES);
	host_b = allocate(cpu_pool, BYTES);
	for (unsigned i = 0; i < gpu_count; i++) {
		CHECK(!hsa_amd_agent_iterate_memory_pools(gpus[i].agent, find_pool, &gpus[i].pool));
		gpus[i].a = allocate(gpus[i].pool, BYTES);
		gpus[i].b = allocate(gpus[i].pool, BYTES);
	}
}

static void wait_zero(hsa_signal_t signal)
{
	wait_done(signal);
	CHECK(!hsa_signal_load_scacquire(signal));
}

static void print_time(hsa_signal_t signal, const void *dst, const void *src, size_t bytes)
{
	hsa_amd_profiling_async_copy_time_t time;

	CHECK(!hsa_amd_profiling_get_async_copy_time(signal, &time));
	CHECK(time.start && time.end >= time.start);
	printf("copytime %zu %p %p %llu %llu\n", bytes, src, dst, (unsigned long long)time.start,
	       (unsigned long long)time.end);
}

static void fill_host(char *memory, unsigned seed)
{
	for (unsigned i = 0; i < BYTES; i++)
		memory[i] = (char)(i * 7 + (i >> 8) + seed);
}

static void copy(void *dst, hsa_agent_t to, const void *src, hsa_agent_t from, size_t bytes,
		 hsa_signal_t signal)
{
	CHECK(!hsa_amd_memory_async_copy(dst, to, src, from, bytes, 0, NULL, signal));
	__atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED);
}

/* One that is waited for, with its times. */
static void copy_alone(void *dst, hsa_agent_t to, const void *src, hsa_agent_t from, size_t bytes)
{
	hsa_signal_t signal = create_signal(1);

	copy(dst, to, src, from, bytes, signal);
	wait_zero(signal);
	if (from.handle != cpu.handle || to.handle != cpu.handle)
		print_time(signal, dst, src, bytes);
	CHECK(!hsa_signal_destroy(signal));
}

static void test_directions(struct gpu *gpu)
{
	for (size_t bytes = 1; bytes <= BYTES; bytes *= 16) {
		fill_host(host_a, (unsigned)bytes);
		memset(host_b, 0, BYTES);
		copy_alone(gpu->a, gpu->agent, host_a, cpu, bytes);
		copy_alone(gpu->b, gpu->agent, gpu->a, gpu->agent, bytes);
		copy_alone(host_b, cpu, gpu->b, gpu->agent, bytes);
		CHECK(!memcmp(host_a, host_b, bytes) && (bytes == BYTES || !host_b[bytes]));
	}
	memset(host_b, 0, BYTES);
	copy_alone(host_b, cpu, host_a, cpu, BYTES);
	CHECK(!memcmp(host_a, host_b, BYTES));
}

static void test_peer(struct gpu *from, struct gpu *to)
{
	fill_host(host_a, 99);
	memset(host_b, 0, BYTES);
	copy_alone(from->a, from->agent, host_a, cpu, BYTES);
	copy_alone(to->a, to->agent, from->a, from->agent, BYTES);
	copy_alone(host_b, cpu, to->a, to->agent, BYTES);
	CHECK(!memcmp(host_a, host_b, BYTES));
}

/* Each waits for the one before; the first for us. */
static void test_dependencies(struct gpu *gpu)
{
	hsa_signal_t gate = create_signal(1), up = create_signal(1), down = create_signal(1);

	fill_host(host_a, 5);
	memset(host_b, 0, BYTES);
	CHECK(!hsa_amd_memory_async_copy(gpu->a, gpu->agent, host_a, cpu, BYTES, 1, &gate, up));
	CHECK(!hsa_amd_memory_async_copy(host_b, cpu, gpu->a, gpu->agent, BYTES, 1, &up, down));
	copies += 2;
	CHECK(hsa_signal_load_relaxed(up) == 1 && hsa_signal_load_relaxed(down) == 1);
	hsa_signal_store_screlease(gate, 0);
	wait_zero(down);
	CHECK(!memcmp(host_a, host_b, BYTES));
	print_time(up, gpu->a, host_a, BYTES);
	print_time(down, host_b, gpu->a, BYTES);
	CHECK(!hsa_signal_destroy(gate) && !hsa_signal_destroy(up) && !hsa_signal_destroy(down));
}

/* Several at once count one signal down, more than once. */
static void test_shared(struct gpu *gpu)
{
	hsa_signal_t signal = create_signal(0);

	printf("shared %#lx\n", signal.handle);
	for (unsigned round = 0; round < 5; round++) {
		fill_host(host_a, round);
		memset(host_b, 0, BYTES);
		hsa_signal_store_relaxed(signal, 16);
		for (size_t i = 0; i < 16; i++)
			copy(gpu->a + i * 4096, gpu->agent, host_a + i * 4096, cpu, 4096, signal);
		wait_zero(signal);
		copy_alone(host_b, cpu, gpu->a, gpu->agent, BYTES);
		CHECK(!memcmp(host_a, host_b, BYTES));
	}
	CHECK(!hsa_signal_destroy(signal));
}

/* One waits for the host, and the other one on its signal for nobody. */
static void test_independent(struct gpu *gpu)
{
	hsa_signal_t gate = create_signal(1), signal = create_signal(2);

	printf("shared %#lx\n", signal.handle);
	CHECK(!hsa_amd_memory_async_copy(gpu->a, gpu->agent, host_a, cpu, BYTES, 1, &gate, signal));
	/* Another engine's: it does not stand in line behind the first. */
	CHECK(!hsa_amd_memory_async_copy(host_b, cpu, gpu->b, gpu->agent, BYTES, 0, NULL, signal));
	copies += 2;
	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 2, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED) >= 2)
		;
	hsa_signal_store_screlease(gate, 0);
	wait_zero(signal);
	CHECK(!hsa_signal_destroy(gate) && !hsa_signal_destroy(signal));
}

/* The same signal over and over, as soon as it is free. */
static void test_reused(struct gpu *gpu)
{
	hsa_signal_t signal = create_signal(0);

	for (unsigned i = 1; i <= 300; i++) {
		hsa_signal_store_relaxed(signal, 1);
		copy(i % 2 ? gpu->a : host_b, i % 2 ? gpu->agent : cpu, i % 2 ? host_a : gpu->a,
		     i % 2 ? cpu : gpu->agent, i, signal);
		wait_zero(signal);
	}
	CHECK(!hsa_signal_destroy(signal));
}

/* A window of 3 dimensions, where an engine for it is there. */
static void test_rect(struct gpu *gpu)
{
	const hsa_pitched_ptr_t from = {host_a, 256, 256 * 16}, to = {gpu->a, 512, 512 * 8};
	const hsa_dim3_t from_at = {16, 2, 1}, to_at = {32, 1, 2}, range = {64, 5, 3};
	hsa_signal_t signal = create_signal(1);
	hsa_status_t status;

	fill_host(host_a, 7);
	status = hsa_amd_memory_async_copy_rect(&to, &to_at, &from, &from_at, &range, gpu->agent,
						hsaHostToDevice, 0, NULL, signal);
	if (status) {
		refused++;
		CHECK(!hsa_signal_destroy(signal));
		return;
	}
	copies++;
	wait_zero(signal);
	print_time(signal, gpu->a + 32 + 512 + 2 * 4096, host_a + 16 + 2 * 256 + 4096, 64 * 5 * 3);
	copy_alone(host_b, cpu, gpu->a, gpu->agent, BYTES);
	for (unsigned z = 0; z < 3; z++) {
		for (unsigned y = 0; y < 5; y++)
			CHECK(!memcmp(host_a + 16 + (y + 2) * 256 + (z + 1) * 4096,
				      host_b + 32 + (y + 1) * 512 + (z + 2) * 4096, 64));
	}
	CHECK(!hsa_signal_destroy(signal));
}

static void test_engine(struct gpu *gpu)
{
	on_engine_fn *on_engine =
		(on_engine_fn *)dlsym(RTLD_DEFAULT, "hsa_amd_memory_async_copy_on_engine");
	hsa_signal_t signal = create_signal(1);

	if (on_engine) {
		CHECK(!on_engine(gpu->a, gpu->agent, host_a, cpu, BYTES, 0, NULL, signal, 1,
				 false));
		copies++;
		wait_zero(signal);
		print_time(signal, gpu->a, host_a, BYTES);
		/* Two engines at once are none. */
		CHECK(on_engine(gpu->a, gpu->agent, host_a, cpu, BYTES, 0, NULL, signal, 3, false));
		refused++;
	}
	CHECK(!hsa_signal_destroy(signal));
}

/* What the runtime refuses, or takes for nothing, leaves the signal as it was. */
static void test_refused(struct gpu *gpu)
{
	const hsa_signal_t none = {0};
	const hsa_pitched_ptr_t area = {host_a, 256, 4096};
	const hsa_dim3_t at = {0, 0, 0}, range = {64, 1, 1};
	hsa_signal_t signal = create_signal(1), other = create_signal(1);

	CHECK(hsa_amd_memory_async_copy(NULL, gpu->agent, host_a, cpu, 64, 0, NULL, signal));
	CHECK(hsa_amd_memory_async_copy(gpu->a, gpu->agent, host_a, cpu, 64, 1, NULL, signal));
	CHECK(hsa_amd_memory_async_copy_rect(&area, &at, &area, &at, &range, gpu->agent,
					     hsaHostToHost, 0, NULL, signal));
	refused += 3;
	CHECK(hsa_amd_memory_async_copy(gpu->a, gpu->agent, host_a, cpu, 64, 0, NULL, none));
	CHECK(!hsa_amd_memory_async_copy(gpu->a, gpu->agent, host_a, cpu, 0, 0, NULL, signal));
	CHECK(hsa_signal_load_relaxed(signal) == 1);
	/* While another one is under way on it. */
	CHECK(!hsa_amd_memory_async_copy(gpu->a, gpu->agent, host_a, cpu, 64, 1, &other, signal));
	copies++;
	CHECK(hsa_amd_memory_async_copy(NULL, gpu->agent, host_a, cpu, 64, 0, NULL, signal));
	refused++;
	hsa_signal_store_screlease(other, 0);
	wait_zero(signal);
	printf("shared %#lx\n", signal.handle);
	CHECK(!hsa_signal_destroy(signal) && !hsa_signal_destroy(other));
}

static void test_calls(struct gpu *gpu)
{
	fill_host(host_a, 3);
	memset(host_b, 0, BYTES);
	CHECK(!hsa_memory_copy(gpu->a, host_a, BYTES));
	CHECK(!hsa_memory_copy(gpu->b, gpu->a, BYTES));
	CHECK(!hsa_memory_copy(host_b, gpu->b, BYTES));
	CHECK(!memcmp(host_a, host_b, BYTES));
	CHECK(!hsa_memory_copy(host_b, host_a, BYTES)); /* no GPU's work */
	CHECK(!hsa_amd_memory_fill(gpu->a, 0x01020304, BYTES / 4));
	calls += 4;
}

static void test_profiling_off(struct gpu *gpu)
{
	hsa_signal_t signal = create_signal(1);

	CHECK(!hsa_amd_profiling_async_copy_enable(false));
	copy(gpu->a, gpu->agent, host_a, cpu, 1000, signal);
	wait_zero(signal);
	CHECK(!hsa_amd_profiling_async_copy_enable(true));
	CHECK(!hsa_signal_destroy(signal));
}

/* Copies that never end. */
static void leave_some_hanging(struct gpu *gpu)
{
	hsa_signal_t never = create_signal(1);

	for (int i = 0; i < 2; i++)
		CHECK(!hsa_amd_memory_async_copy(i ? gpu->a : gpu->b, gpu->agent, host_a, cpu, 64,
						 1, &never, create_signal(1)));
}

static void *run_thread(void *data)
{
	const unsigned number = (unsigned)(uintptr_t)data;
	struct gpu *gpu = &gpus[number % gpu_count];
	char *up = allocate(cpu_pool, 8192), *down = allocate(cpu_pool, 8192);
	char *there = allocate(gpu->pool, 8192);
	hsa_signal_t signals[4];

	for (unsigned i = 0; i < 4; i++)
		signals[i] = create_signal(0);
	for (unsigned i = 0; i < thread_copies; i++) {
		hsa_signal_t signal = signals[i / 2 % 4];

		if (i % 2 == 0) {
			memset(up, (int)(i + number), 8192);
			hsa_signal_store_relaxed(signal, 1);
			copy(there, gpu->agent, up, cpu, 64 + i % 8000, signal);
		} else {
			wait_zero(signal);
			hsa_signal_store_relaxed(signal, 1);
			copy(down, cpu, there, gpu->agent, 64 + (i - 1) % 8000, signal);
			wait_zero(signal);
			CHECK(!memcmp(up, down, 64 + (i - 1) % 8000));
		}
	}
	for (unsigned i = 0; i < 4; i++) {
		wait_zero(signals[i]);
		CHECK(!hsa_signal_destroy(signals[i]));
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < thread_count; i++)
		CHECK(!pthread_create(&threads[i], NULL, run_thread, (void *)(uintptr_t)i));
	for (unsigned i = 0; i < thread_count; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

int main(int argc, char **argv)
{
	if (argc > 1)
		thread_count = (unsigned)atoi(argv[1]);
	if (argc > 2)
		thread_copies = (unsigned)atoi(argv[2]);
	CHECK(thread_count <= THREADS);
	set_up();
	CHECK(!hsa_amd_profiling_async_copy_enable(true));
	for (unsigned i = 0; i < gpu_count; i++) {
		test_directions(&gpus[i]);
		test_dependencies(&gpus[i]);
		test_shared(&gpus[i]);
		test_independent(&gpus[i]);
		test_reused(&gpus[i]);
		test_rect(&gpus[i]);
		test_engine(&gpus[i]);
		test_refused(&gpus[i]);
		test_calls(&gpus[i]);
		test_profiling_off(&gpus[i]);
		if (i)
			test_peer(&gpus[0], &gpus[i]);
	}
	test_threads();
	if (argc > 3)
		leave_some_hanging(&gpus[0]);
	/* those with a gate, or behind another */
	printf("count %lu %lu %lu %u\n", copies, calls, refused, 4 * gpu_count);
	printf("hsa_copies: ok\n");
	return 0;
}
