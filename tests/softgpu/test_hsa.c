/* SPDX-License-Identifier: MIT
 *
 * test_hsa [NAME]: the software GPU seen by a program that uses HSA. CTest runs each test in
 * a process of its own, since the GPU's configuration is read once.
 */
#include <signal.h>
#include <sys/wait.h>

#include "../unit/kit/unit.h"
#include "hsa_fixture.h"

#define WAIT_S     300u
#define DISPATCHES 200u
#define COPY_BYTES (8u << 20)

static char log_path[] = "/tmp/softgpu-test-XXXXXX";

static int setup(void **state)
{
	int fd = mkstemp(log_path);

	if (fd < 0)
		return -1;
	close(fd);
	return setenv("SOFTGPU_LOG", log_path, 1);
}

static int teardown(void **state)
{
	unlink(log_path);
	return 0;
}

static void assert_near(uint64_t a, uint64_t b, uint64_t tolerance)
{
	assert_in_range(a - b + tolerance, 0, 2 * tolerance);
}

static uint64_t now_ns(void)
{
	uint64_t now;

	HSA_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now));
	return now;
}

TEST(agents__one_gpu__is_enumerated)
{
	struct fixture f;

	fixture_open(&f);
	assert_int_equal(f.gpu_count, 1);
	fixture_close();
}

TEST(agents__eight_gpus__are_enumerated)
{
	struct fixture f;
	uint32_t node, seen = 0;

	setenv("SOFTGPU_COUNT", "8", 1);
	fixture_open(&f);
	assert_int_equal(f.gpu_count, 8);
	for (uint32_t i = 0; i < f.gpu_count; i++) {
		HSA_OK(hsa_agent_get_info(
			f.gpus[i], (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node));
		seen |= 1u << node;
	}
	assert_int_equal(seen, 0x1fe); /* nodes 1 to 8 */
	fixture_close();
}

/* Dispatches one after the other; what HSA says of each is what the log says. */
static void check_times(uint64_t kernel_ns, uint64_t tick_ns)
{
	hsa_amd_profiling_dispatch_time_t t;
	hsa_signal_t signals[DISPATCHES];
	uint64_t last_end_ns;
	struct log_row *rows;
	struct fixture f;
	hsa_queue_t *queue;
	size_t count;

	fixture_open(&f);
	queue = fixture_queue(&f, 64, NULL, NULL);
	for (uint32_t i = 0; i < DISPATCHES; i++)
		signals[i] = fixture_signal(1);
	last_end_ns = now_ns();
	for (uint32_t i = 0; i < DISPATCHES; i++) {
		hsa_kernel_dispatch_packet_t packet = fixture_dispatch(64 * (i + 1), signals[i]);

		assert_int_equal(fixture_submit(queue, &packet), i);
	}
	for (uint32_t i = 0; i < DISPATCHES; i++) {
		assert_true(fixture_wait(signals[i], WAIT_S));
		assert_int_equal(hsa_signal_load_relaxed(signals[i]), 0);
	}
	count = fixture_log_read(log_path, &rows);
	for (uint32_t i = 0; i < DISPATCHES; i++) {
		const struct log_row *row =
			fixture_log_find(rows, count, "dispatch", signals[i].handle);

		HSA_OK(hsa_amd_profiling_get_dispatch_time(f.gpus[0], signals[i], &t));
		assert_in_range(t.start, last_end_ns - tick_ns, now_ns());
		assert_in_range(t.end, t.start + kernel_ns - tick_ns, now_ns());
		assert_non_null(row);
		assert_int_equal(row->index, i);
		assert_int_equal(row->grid_x, 64 * (i + 1));
		assert_near(row->start_ns, t.start, tick_ns);
		assert_near(row->end_ns, t.end, tick_ns);
		last_end_ns = t.end;
	}
	free(rows);
	HSA_OK(hsa_queue_destroy(queue));
	fixture_close();
}

TEST(dispatch__default_clock__times_agree_with_log)
{
	setenv("SOFTGPU_KERNEL_NS", "5000", 1);
	check_times(5000, 10);
}

TEST(dispatch__odd_clock__times_agree_with_log)
{
	setenv("SOFTGPU_KERNEL_NS", "5000", 1);
	setenv("SOFTGPU_CLOCK_HZ", "27000001", 1);
	setenv("SOFTGPU_CLOCK_OFF", "987654321987", 1);
	check_times(5000, 38);
}

TEST(dispatch__zero_time__takes_one_tick)
{
	setenv("SOFTGPU_KERNEL_NS", "0", 1);
	check_times(10, 10);
}

TEST(barrier_and__dependency_runs__waits_for_it)
{
	const struct log_row *barrier, *dispatch;
	hsa_kernel_dispatch_packet_t first;
	hsa_barrier_and_packet_t second;
	hsa_queue_t *queues[2];
	hsa_signal_t ran, passed;
	struct log_row *rows;
	struct fixture f;
	size_t count;

	setenv("SOFTGPU_KERNEL_NS", "20000000", 1);
	fixture_open(&f);
	ran = fixture_signal(1);
	passed = fixture_signal(1);
	for (int i = 0; i < 2; i++)
		queues[i] = fixture_queue(&f, 64, NULL, NULL);
	second = fixture_barrier_and(ran, passed);
	fixture_submit(queues[1], &second);
	first = fixture_dispatch(64, ran);
	fixture_submit(queues[0], &first);
	assert_true(fixture_wait(passed, WAIT_S));
	assert_int_equal(hsa_signal_load_relaxed(ran), 0);
	count = fixture_log_read(log_path, &rows);
	dispatch = fixture_log_find(rows, count, "dispatch", ran.handle);
	barrier = fixture_log_find(rows, count, "barrier_and", passed.handle);
	assert_non_null(dispatch);
	assert_non_null(barrier);
	assert_true(barrier->start_ns >= dispatch->end_ns);
	assert_int_not_equal(barrier->queue, dispatch->queue);
	free(rows);
	fixture_close();
}

static void check_copy_times(hsa_signal_t signal)
{
	hsa_amd_profiling_async_copy_time_t t;
	const struct log_row *row;
	struct log_row *rows;
	size_t count;

	HSA_OK(hsa_amd_profiling_get_async_copy_time(signal, &t));
	assert_true(t.end > t.start);
	count = fixture_log_read(log_path, &rows);
	row = fixture_log_find(rows, count, "transfer", signal.handle);
	if (row) { /* else a kernel did it */
		assert_int_equal(row->bytes, COPY_BYTES);
		assert_near(row->start_ns, t.start, 10);
		assert_near(row->end_ns, t.end, 10);
	} else {
		row = fixture_log_find(rows, count, "dispatch", signal.handle);
		assert_non_null(row);
	}
	free(rows);
}

TEST(copies__to_device_and_back__move_the_bytes)
{
	char *host[2], *device[2];
	hsa_signal_t done[3];
	struct fixture f;

	fixture_open(&f);
	HSA_OK(hsa_amd_profiling_async_copy_enable(true));
	for (int i = 0; i < 2; i++) {
		HSA_OK(hsa_amd_memory_pool_allocate(f.cpu_pool, COPY_BYTES, 0, (void **)&host[i]));
		HSA_OK(hsa_amd_agents_allow_access(1, f.gpus, NULL, host[i]));
		HSA_OK(hsa_amd_memory_pool_allocate(f.gpu_pool, COPY_BYTES, 0,
						    (void **)&device[i]));
	}
	for (uint32_t i = 0; i < COPY_BYTES; i++)
		host[0][i] = (char)(i * 7 + (i >> 9));
	memset(host[1], 0, COPY_BYTES);
	for (int i = 0; i < 3; i++)
		done[i] = fixture_signal(1);
	HSA_OK(hsa_amd_memory_async_copy(device[0], f.gpus[0], host[0], f.cpu, COPY_BYTES, 0, NULL,
					 done[0]));
	HSA_OK(hsa_amd_memory_async_copy(device[1], f.gpus[0], device[0], f.gpus[0], COPY_BYTES, 1,
					 &done[0], done[1]));
	HSA_OK(hsa_amd_memory_async_copy(host[1], f.cpu, device[1], f.gpus[0], COPY_BYTES, 1,
					 &done[1], done[2]));
	assert_true(fixture_wait(done[2], WAIT_S));
	assert_memory_equal(host[0], host[1], COPY_BYTES);
	for (int i = 0; i < 3; i++)
		check_copy_times(done[i]);
	fixture_close();
}

TEST(fill__device_memory__is_set)
{
	uint32_t *device, *host;
	hsa_signal_t done;
	struct fixture f;

	fixture_open(&f);
	HSA_OK(hsa_amd_memory_pool_allocate(f.gpu_pool, COPY_BYTES, 0, (void **)&device));
	HSA_OK(hsa_amd_memory_pool_allocate(f.cpu_pool, COPY_BYTES, 0, (void **)&host));
	HSA_OK(hsa_amd_agents_allow_access(1, f.gpus, NULL, host));
	HSA_OK(hsa_amd_memory_fill(device, 0, COPY_BYTES / 4));
	HSA_OK(hsa_amd_memory_fill(device + 3, 0xdeadbeef, 1000));
	done = fixture_signal(1);
	HSA_OK(hsa_amd_memory_async_copy(host, f.cpu, device, f.gpus[0], COPY_BYTES, 0, NULL,
					 done));
	assert_true(fixture_wait(done, WAIT_S));
	for (uint32_t i = 0; i < COPY_BYTES / 4; i++)
		assert_int_equal(host[i], i >= 3 && i < 1003 ? 0xdeadbeef : 0);
	fixture_close();
}

struct queue_error {
	volatile hsa_status_t status;
};

static void on_queue_error(hsa_status_t status, hsa_queue_t *queue __attribute__((unused)),
			   void *data)
{
	struct queue_error *error = data;

	error->status = status;
}

TEST(fault__illegal_instruction__calls_queue_callback)
{
	struct queue_error error = {HSA_STATUS_SUCCESS};
	hsa_kernel_dispatch_packet_t packet;
	hsa_signal_t signal;
	struct fixture f;

	setenv("SOFTGPU_FAULT", "ill:?", 1);
	fixture_open(&f);
	signal = fixture_signal(1);
	packet = fixture_dispatch(64, signal);
	fixture_submit(fixture_queue(&f, 64, on_queue_error, &error), &packet);
	for (int i = 0; i < 30000 && error.status == HSA_STATUS_SUCCESS; i++)
		usleep(10000);
	assert_int_equal(error.status, HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
	assert_int_equal(hsa_signal_load_relaxed(signal), 1);
}

static volatile uint64_t fault_address;

static hsa_status_t on_system_event(const hsa_amd_event_t *event,
				    void *data __attribute__((unused)))
{
	if (event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT)
		fault_address = event->memory_fault.virtual_address;
	return HSA_STATUS_SUCCESS;
}

TEST(fault__memory_access__raises_system_event)
{
	hsa_kernel_dispatch_packet_t packet;
	struct fixture f;

	setenv("SOFTGPU_FAULT", "vm:?@1=0xabc000", 1);
	fixture_open(&f);
	HSA_OK(hsa_amd_register_system_event_handler(on_system_event, NULL));
	packet = fixture_dispatch(64, fixture_signal(1));
	fixture_submit(fixture_queue(&f, 64, NULL, NULL), &packet);
	for (int i = 0; i < 30000 && !fault_address; i++)
		usleep(10000);
	assert_int_equal(fault_address, 0xabc000);
}

TEST(fault__hang__never_completes)
{
	hsa_kernel_dispatch_packet_t packet;
	hsa_signal_t signal;
	struct log_row *rows;
	struct fixture f;

	setenv("SOFTGPU_FAULT", "hang:?", 1);
	fixture_open(&f);
	signal = fixture_signal(1);
	packet = fixture_dispatch(64, signal);
	fixture_submit(fixture_queue(&f, 64, NULL, NULL), &packet);
	while (!fixture_log_read(log_path, &rows)) {
		free(rows);
		usleep(1000);
	}
	assert_false(fixture_wait(signal, 1));
	assert_string_equal(rows[0].kind, "fault");
	free(rows);
}

/* Dispatches that many with one signal; whether it completed. */
static bool use_gpu(uint32_t dispatches)
{
	hsa_signal_t signal;
	hsa_queue_t *queue;
	struct fixture f;

	fixture_open(&f);
	signal = fixture_signal(dispatches);
	queue = fixture_queue(&f, 1024, NULL, NULL);
	for (uint32_t i = 0; i < dispatches; i++) {
		hsa_kernel_dispatch_packet_t packet = fixture_dispatch(64, signal);

		fixture_submit(queue, &packet);
	}
	return fixture_wait(signal, WAIT_S);
}

static int child_status(int (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(run());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int child_dispatches(void)
{
	return use_gpu(100) ? 0 : 1;
}

TEST(fork__child_is_first_to_use_gpu__both_work)
{
	struct log_row *rows;

	assert_int_equal(child_status(child_dispatches), 0);
	assert_true(use_gpu(100));
	assert_int_equal(fixture_log_read(log_path, &rows), 200);
	free(rows);
}

static int child_killed(void)
{
	if (use_gpu(20000))
		raise(SIGKILL);
	return 1;
}

/* ---- memory that another process is handed */

#define SHARED_BYTES (4u << 20)

static int pipe_fds[2];

/* Attaches what it is told through the pipe, and changes it. */
static bool child_attaches(void)
{
	hsa_amd_ipc_memory_t handle;
	struct fixture f;
	uint32_t *p;
	bool same;

	if (read(pipe_fds[0], &handle, sizeof(handle)) != sizeof(handle))
		return false;
	fixture_open(&f);
	HSA_OK(hsa_amd_ipc_memory_attach(&handle, SHARED_BYTES, 1, f.gpus, (void **)&p));
	same = p[1] == 1 && p[SHARED_BYTES / sizeof(*p) - 1] == SHARED_BYTES / sizeof(*p) - 1;
	p[1] = 2;
	HSA_OK(hsa_amd_ipc_memory_detach(p));
	fixture_close();
	return same;
}

TEST(ipc__other_process__reads_and_writes)
{
	hsa_amd_ipc_memory_t handle;
	struct fixture f;
	uint32_t *p;
	int status;
	pid_t pid;

	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	if (pid == 0)
		_exit(!child_attaches());
	fixture_open(&f);
	HSA_OK(hsa_amd_memory_pool_allocate(f.gpu_pool, SHARED_BYTES, 0, (void **)&p));
	for (uint32_t i = 0; i < SHARED_BYTES / sizeof(*p); i++)
		p[i] = i;
	HSA_OK(hsa_amd_ipc_memory_create(p, SHARED_BYTES, &handle));
	assert_int_equal(write(pipe_fds[1], &handle, sizeof(handle)), sizeof(handle));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(p[1], 2);
	fixture_close();
}

TEST(log__process_is_killed__has_every_packet)
{
	struct log_row *rows;
	size_t count;
	int status;

	setenv("SOFTGPU_KERNEL_NS", "0", 1);
	status = child_status(child_killed);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	count = fixture_log_read(log_path, &rows);
	assert_int_equal(count, 20000);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(rows[i].index, i);
		assert_string_equal(rows[i].kind, "dispatch");
		assert_string_equal(rows[i].name, "?");
		assert_true(rows[i].end_ns > rows[i].start_ns);
	}
	free(rows);
}

/* As when two threads share the queue and the one with the earlier packet rings last. */
TEST(doorbell__goes_back__later_packets_are_processed)
{
	struct fixture f;
	hsa_signal_t signal;
	hsa_queue_t *queue;

	fixture_open(&f);
	queue = fixture_queue(&f, 64, NULL, NULL);
	signal = fixture_signal(0);
	for (uint32_t i = 0; i < 200; i++) {
		hsa_kernel_dispatch_packet_t packet = fixture_dispatch(64, signal);
		uint64_t first;

		hsa_signal_store_relaxed(signal, 2);
		first = fixture_submit(queue, &packet);
		fixture_submit(queue, &packet);
		hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)first);
		assert_true(fixture_wait(signal, WAIT_S));
	}
	HSA_OK(hsa_signal_destroy(signal));
	HSA_OK(hsa_queue_destroy(queue));
	fixture_close();
}

RUN_TESTS(setup, teardown, NULL, NULL)
