/* SPDX-License-Identifier: MIT */
/* hsa_dispatch: submits AQL packets to its own HSA queues and reads its own profiling times, as a program does that
 * knows nothing of a tracer.
 *
 *	-n PACKETS	kernel dispatches for each thread and round (1000)
 *	-b BATCH	dispatches for each ring of the doorbell (1)
 *	-t THREADS	each with its own queue, dealt out over the GPUs (1)
 *	-B EVERY	a barrier packet after each EVERY dispatches (0: none)
 *	-r ROUNDS	with a new queue each (1)
 *	-s SIZE		of the queues, in packets; a power of two (1024)
 *	-S		dispatches have no completion signal, only the last barrier has
 *	-P		profiling is not enabled on the queue, and no times are read
 *	-u		unordered: dispatches do not wait for those before them
 *	-m		all threads submit to one queue
 *	-w EVERY	the first thread sleeps for 20 ms in each EVERY-th dispatch, when it has taken
 *			the packet's place and not written it (0: never)
 *	-D		queues are destroyed with dispatches under way; results are not checked
 *	-v		print each dispatch's times: time THREAD DISPATCH START END */
#include "hsa_setup.h"

#include <string.h>

#define PROGRAM "hsa_dispatch"
#include "../check.h"

#define DATA_COUNT 64
#define WINDOW     1024 /* dispatches under way before their completion is waited for */

static struct options {
	long packets, batch, threads, barrier_every, rounds, queue_size, sleep_every;
	bool signals, profile, ordered, one_queue, print_times, abandon;
} options = {
	.packets = 1000,
	.batch = 1,
	.threads = 1,
	.rounds = 1,
	.queue_size = 1024,
	.signals = true,
	.profile = true,
	.ordered = true,
};

struct worker {
	pthread_t thread;
	long number;
	const struct gpu *gpu;
	hsa_queue_t *queue;
	struct kernel kernels[2]; /* used in turn; the first adds 1, the second 2 */
	void *kernargs[2];
	unsigned *data;
	hsa_signal_t signals[WINDOW];
	hsa_signal_t barriers; /* counts the window's barriers down */
	uint64_t busy_ticks, last_end;
};

static uint64_t tick_frequency;

static uint64_t system_ticks(void)
{
	uint64_t ticks;

	CHECK_HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks));
	return ticks;
}

static hsa_queue_t *queue_create(const struct gpu *gpu)
{
	const bool many = options.one_queue;
	hsa_queue_t *queue;

	CHECK_HSA(hsa_queue_create(gpu->agent, (uint32_t)options.queue_size,
				   many ? HSA_QUEUE_TYPE_MULTI : HSA_QUEUE_TYPE_SINGLE, NULL, NULL,
				   UINT32_MAX, UINT32_MAX, &queue));
	if (options.profile)
		CHECK_HSA(hsa_amd_profiling_set_profiler_enabled(queue, 1));
	return queue;
}

static bool barrier_follows(long dispatch)
{
	return options.barrier_every && (dispatch + 1) % options.barrier_every == 0;
}

static long barriers_in(long first, long count)
{
	const long every = options.barrier_every;

	return every ? (first + count) / every - first / every : 0;
}

/* The dispatches first ... first + count - 1, then one ring of the doorbell */
static void submit_batch(struct worker *worker, long first, long count)
{
	const hsa_signal_t none = {0};
	uint64_t packets = (uint64_t)(count + barriers_in(first, count));
	uint64_t index = packets_reserve(worker->queue, packets);

	if (options.sleep_every && !worker->number && !((first + 1) % options.sleep_every))
		usleep(20000);

	for (long i = first; i < first + count; i++) {
		hsa_signal_t signal = options.signals ? worker->signals[i % WINDOW] : none;

		packet_dispatch(worker->queue, index++, &worker->kernels[i % 2],
				worker->kernargs[i % 2], (uint32_t)(DATA_COUNT * (1 + i % 4)),
				options.ordered, signal);
		if (barrier_follows(i))
			packet_barrier(worker->queue, index++, signal, worker->barriers);
	}
	hsa_signal_store_screlease(worker->queue->doorbell_signal, (hsa_signal_value_t)(index - 1));
}

/* The times of a dispatch are plausible: in order, and while we waited for it. */
static void check_times(struct worker *worker, long dispatch, uint64_t submitted, uint64_t done)
{
	const uint64_t slack = tick_frequency / 1000;
	hsa_amd_profiling_dispatch_time_t time = {0};

	CHECK_HSA(hsa_amd_profiling_get_dispatch_time(worker->gpu->agent,
						      worker->signals[dispatch % WINDOW], &time));
	if (options.print_times)
		printf("time %ld %ld %lu %lu\n", worker->number, dispatch, time.start, time.end);
	if (time.end <= time.start || time.start + slack < submitted || time.end > done + slack)
		fail("dispatch %ld ran from %lu to %lu, but was under way from %lu to %lu",
		     dispatch, time.start, time.end, submitted, done);
	if (options.ordered && time.start + slack / 100 < worker->last_end)
		fail("dispatch %ld began at %lu, before the end of the one before it, %lu",
		     dispatch, time.start, worker->last_end);
	worker->last_end = time.end;
	worker->busy_ticks += time.end - time.start;
}

static void run_window(struct worker *worker, long first, long count)
{
	const long end = first + count;
	uint64_t submitted = system_ticks(), done;

	for (long i = first; options.signals && i < end; i++)
		hsa_signal_store_relaxed(worker->signals[i % WINDOW], 1);
	hsa_signal_store_relaxed(worker->barriers, barriers_in(first, count) + !options.signals);
	for (long i = first; i < end; i += options.batch)
		submit_batch(worker, i, options.batch < end - i ? options.batch : end - i);
	if (!options.signals) {
		uint64_t index = packets_reserve(worker->queue, 1);

		packet_barrier(worker->queue, index, (hsa_signal_t){0}, worker->barriers);
		hsa_signal_store_screlease(worker->queue->doorbell_signal,
					   (hsa_signal_value_t)index);
	}
	if (options.abandon) {
		signal_wait_zero(worker->signals[first % WINDOW], "the first dispatch");
		return;
	}
	signal_wait_zero(worker->barriers, "a barrier");
	for (long i = first; options.signals && i < end; i++)
		signal_wait_zero(worker->signals[i % WINDOW], "a dispatch");
	done = system_ticks();
	for (long i = first; options.signals && options.profile && i < end; i++)
		check_times(worker, i, submitted, done);
}

static void *worker_run(void *argument)
{
	struct worker *worker = argument;

	for (long round = 0; round < options.rounds; round++) {
		if (!options.one_queue)
			worker->queue = queue_create(worker->gpu);
		for (long i = 0; i < options.packets; i += WINDOW)
			run_window(worker, i,
				   options.packets - i < WINDOW ? options.packets - i : WINDOW);
		if (!options.one_queue)
			CHECK_HSA(hsa_queue_destroy(worker->queue));
	}
	return NULL;
}

static void worker_create(struct worker *worker, const struct gpu *gpu, long number)
{
	struct {
		unsigned *data;
		unsigned n;
	} arguments;

	*worker = (struct worker){.number = number, .gpu = gpu};
	worker->data = shared_alloc(DATA_COUNT * sizeof(*worker->data));
	arguments.data = worker->data;
	arguments.n = DATA_COUNT;
	worker->kernels[0] = gpu_kernel(gpu, "hsa_add_one");
	worker->kernels[1] = gpu_kernel(gpu, "_ZN8hsa_test3addILj2EEEvPjj");
	for (int i = 0; i < 2; i++)
		worker->kernargs[i] =
			kernarg_create(&worker->kernels[i], &arguments, sizeof(arguments));
	CHECK_HSA(hsa_signal_create(0, 0, NULL, &worker->barriers));
	for (int i = 0; i < WINDOW && options.signals; i++)
		CHECK_HSA(hsa_signal_create(1, 0, NULL, &worker->signals[i]));
}

static void worker_destroy(struct worker *worker)
{
	CHECK_HSA(hsa_signal_destroy(worker->barriers));
	for (int i = 0; i < WINDOW && options.signals; i++)
		CHECK_HSA(hsa_signal_destroy(worker->signals[i]));
}

static void worker_check(const struct worker *worker)
{
	const long pairs = options.packets / 2, odd = options.packets % 2;
	const unsigned expected = (unsigned)(options.rounds * (3 * pairs + odd));

	for (int i = 0; kernels_run() && !options.abandon && i < DATA_COUNT; i++)
		if (worker->data[i] != expected)
			fail("thread %ld: element %d differs: %u instead of %u", worker->number, i,
			     worker->data[i], expected);
}

static void parse_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "n:b:t:B:r:s:w:SPumDv")) != -1) {
		long value = optarg ? atol(optarg) : 0;

		switch (option) {
		case 'n':
			options.packets = value;
			break;
		case 'b':
			options.batch = value;
			break;
		case 't':
			options.threads = value;
			break;
		case 'B':
			options.barrier_every = value;
			break;
		case 'r':
			options.rounds = value;
			break;
		case 's':
			options.queue_size = value;
			break;
		case 'w':
			options.sleep_every = value;
			break;
		case 'S':
			options.signals = false;
			break;
		case 'P':
			options.profile = false;
			break;
		case 'u':
			options.ordered = false;
			break;
		case 'm':
			options.one_queue = true;
			break;
		case 'D':
			options.abandon = true;
			break;
		case 'v':
			options.print_times = true;
			break;
		default:
			fail("unknown option");
		}
	}
	if (options.batch < 1 || options.threads < 1 || 2 * options.batch > options.queue_size)
		fail("at least one thread, and batches of at most half a queue");
	if (options.abandon && (!options.signals || options.packets > WINDOW || options.one_queue))
		fail("-D is for queues of %d dispatches at most, each with a signal", WINDOW);
}

int main(int argc, char **argv)
{
	struct gpu gpus[MAX_GPUS];
	struct worker *workers;
	hsa_queue_t *queue = NULL;
	uint64_t start_ns, elapsed_ns, busy_ticks = 0;
	long dispatches;
	int gpu_count;

	parse_options(argc, argv);
	gpu_count = gpu_find_all(gpus, argv[0]);
	CHECK_HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &tick_frequency));
	workers = calloc((size_t)options.threads, sizeof(*workers));
	CHECK(workers);
	if (options.one_queue)
		queue = queue_create(&gpus[0]);
	for (long i = 0; i < options.threads; i++) {
		worker_create(&workers[i], &gpus[options.one_queue ? 0 : i % gpu_count], i);
		workers[i].queue = queue;
	}

	start_ns = monotonic_ns();
	for (long i = 0; i < options.threads; i++)
		CHECK(!pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]));
	for (long i = 0; i < options.threads; i++)
		CHECK(!pthread_join(workers[i].thread, NULL));
	elapsed_ns = monotonic_ns() - start_ns;
	if (queue)
		CHECK_HSA(hsa_queue_destroy(queue));

	for (long i = 0; i < options.threads; i++) {
		worker_check(&workers[i]);
		busy_ticks += workers[i].busy_ticks;
		worker_destroy(&workers[i]);
	}
	free(workers);
	CHECK_HSA(hsa_shut_down());
	dispatches = options.threads * options.rounds * options.packets;
	return finish("dispatches=%ld ms=%.3f kernel_ms=%.3f", dispatches,
		      (double)elapsed_ns * 1e-6, (double)busy_ticks * 1e3 / (double)tick_frequency);
}
