/* SPDX-License-Identifier: MIT */
/* The program that `rtl selftest` runs, alone and traced: selftest WORKLOAD KERNELS [ROUNDS]. KERNELS is a file with
 * their code, which `about` makes. It knows nothing of rtl. What it did, and what its own events told it, goes to
 * standard output, a line each:
 *
 *     api FUNCTION CALLS      calls of the HIP API
 *     kernel NAME LAUNCHES    of its kernels
 *     time KIND INDEX NS      between two hipEvents; of `empty`: with nothing between them
 *     copy to|from BYTES NS   the same, of a copy
 *     rounds N                that a kernel must do to take about LONG_NS
 *     waves GROUPS LANES      of each launch that is to be counted
 *     loop NS LAUNCHES        a loop of launches, until all have ended
 *     results right|wrong|none   none: the kernels have left memory as it was
 *     end                     the last line of one that went well
 *     failed WHY              the last line else
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hip.h"

#define LONGEST_S     120u
#define LANES         64u
#define LONG_NS       1000000.0f
#define ROUNDS_MOST   (1u << 22)
#define TIMED         50u
#define COPIES        8u
#define COPY_BYTES    (1u << 20)
#define COPY_STEP     4096u
#define THREADS       4u
#define THREAD_ROUNDS 500u
#define GRAPH_NODES   10u
#define GRAPHS        10u
#define KILLED        200u
#define LOOP          20000u
#define LOOP_PART     500u
#define LOOP_NS       500000000u
#define WAVES_GROUPS  256u
#define WAVES_ROUNDS  20u

static hip_handle module, stream; /* the stream: of the first thread */

void selftest_fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	printf("failed ");
	vprintf(format, list);
	putchar('\n');
	fflush(stdout);
	va_end(list);
	_exit(1); /* other threads may be in HIP */
}

/* ---- what workloads share ---- */

static hip_handle find_kernel(const char *name)
{
	hip_handle kernel;

	HIP(hipModuleGetFunction, &kernel, module, name);
	return kernel;
}

static void launch(hip_handle kernel, hip_handle on, unsigned *out, unsigned rounds)
{
	void *arguments[] = {&out, &rounds};

	HIP(hipModuleLaunchKernel, kernel, 1, 1, 1, LANES, 1, 1, 0, on, arguments, NULL);
}

static unsigned *make_output(void)
{
	void *out;

	HIP(hipMalloc, &out, WAVES_GROUPS * LANES * sizeof(unsigned));
	HIP(hipMemset, out, 0, LANES * sizeof(unsigned));
	HIP(hipDeviceSynchronize);
	return out;
}

struct pair {
	hip_handle start, stop;
};

static struct pair make_pair(void)
{
	struct pair pair;

	HIP(hipEventCreate, &pair.start);
	HIP(hipEventCreate, &pair.stop);
	return pair;
}

static float elapsed_ns(struct pair pair)
{
	float ms = 0;

	/* HIP 5.2.3 may not know that they are over when their stream has been waited for. */
	HIP(hipEventSynchronize, pair.start);
	HIP(hipEventSynchronize, pair.stop);
	HIP(hipEventElapsedTime, &ms, pair.start, pair.stop);
	return ms * 1e6f;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What the kernels compute. */
static unsigned computed(unsigned x, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		x = (x ^ (x >> 3)) * 1664525u + 1013904223u;
	return x;
}

static void print_results(const unsigned *out, unsigned rounds)
{
	unsigned *found, nonzero = 0;
	bool right;
	void *memory;

	HIP(hipHostMalloc, &memory, LANES * sizeof(*found), 0);
	found = memory;
	HIP(hipMemcpyAsync, found, out, LANES * sizeof(*found), HIP_FROM_GPU, stream);
	HIP(hipStreamSynchronize, stream);
	for (unsigned i = 0; i < LANES; i++)
		nonzero += found[i] != 0;
	right = found[0] == computed(0, rounds) && found[LANES - 1] == computed(LANES - 1, rounds);
	printf("results %s\n", right ? "right" : nonzero ? "wrong" : "none");
	HIP(hipHostFree, memory);
}

/* ---- workloads ---- */

/* The rounds with which a kernel takes long enough for its events not to matter. */
static void calibrate(unsigned rounds)
{
	hip_handle kernel = find_kernel("rtl_selftest_spin");
	unsigned *out = make_output();
	struct pair pair = make_pair();

	for (rounds = 64; rounds <= ROUNDS_MOST; rounds *= 2) {
		HIP(hipEventRecord, pair.start, stream);
		launch(kernel, stream, out, rounds);
		HIP(hipEventRecord, pair.stop, stream);
		HIP(hipStreamSynchronize, stream);
		if (elapsed_ns(pair) >= LONG_NS)
			break;
	}
	/* A GPU for which nothing takes long executes nothing. */
	printf("rounds %u\n", rounds > ROUNDS_MOST ? 1 : rounds);
}

static void kernels(unsigned rounds)
{
	hip_handle around = find_kernel("rtl_selftest_around");
	hip_handle within = find_kernel("rtl_selftest_within");
	struct pair empty[TIMED], outer[TIMED], inner[TIMED];
	unsigned *out = make_output();
	void *arguments[] = {&out, &rounds};

	for (unsigned i = 0; i < TIMED; i++) {
		empty[i] = make_pair();
		outer[i] = make_pair();
		inner[i] = make_pair();
	}
	for (unsigned i = 0; i < TIMED; i++) {
		HIP(hipEventRecord, empty[i].start, stream);
		HIP(hipEventRecord, empty[i].stop, stream);
		HIP(hipEventRecord, outer[i].start, stream);
		launch(around, stream, out, rounds);
		HIP(hipEventRecord, outer[i].stop, stream);
		if (hip.hipExtModuleLaunchKernel)
			HIP(hipExtModuleLaunchKernel, within, LANES, 1, 1, LANES, 1, 1, 0, stream,
			    arguments, NULL, inner[i].start, inner[i].stop, 0);
	}
	HIP(hipStreamSynchronize, stream);
	for (unsigned i = 0; i < TIMED; i++) {
		printf("time empty %u %.0f\n", i, elapsed_ns(empty[i]));
		printf("time around %u %.0f\n", i, elapsed_ns(outer[i]));
		if (hip.hipExtModuleLaunchKernel)
			printf("time within %u %.0f\n", i, elapsed_ns(inner[i]));
	}
	print_results(out, rounds);
	printf("kernel rtl_selftest_around %u\n", TIMED);
	if (hip.hipExtModuleLaunchKernel)
		printf("kernel rtl_selftest_within %u\n", TIMED);
}

static void copies(unsigned rounds)
{
	const size_t size = COPY_BYTES + COPIES * COPY_STEP;
	struct pair pairs[COPIES];
	void *from, *to, *gpu;

	HIP(hipHostMalloc, &from, size, 0);
	HIP(hipHostMalloc, &to, size, 0);
	HIP(hipMalloc, &gpu, size);
	for (size_t i = 0; i < size; i++)
		((unsigned char *)from)[i] = (unsigned char)(i * 7 + (i >> 8));
	for (unsigned i = 0; i < COPIES; i++) {
		pairs[i] = make_pair();
		HIP(hipEventRecord, pairs[i].start, stream);
		HIP(hipMemcpyAsync, i % 2 ? to : gpu, i % 2 ? gpu : from,
		    COPY_BYTES + i * COPY_STEP, i % 2 ? HIP_FROM_GPU : HIP_TO_GPU, stream);
		HIP(hipEventRecord, pairs[i].stop, stream);
	}
	HIP(hipStreamSynchronize, stream);
	for (unsigned i = 0; i < COPIES; i++)
		printf("copy %s %u %.0f\n", i % 2 ? "from" : "to", COPY_BYTES + i * COPY_STEP,
		       elapsed_ns(pairs[i]));
	/* The last one back has a page more than the last one there. */
	printf("results %s\n",
	       memcmp(from, to, COPY_BYTES + (COPIES - 2) * COPY_STEP) ? "wrong" : "right");
	HIP(hipHostFree, from);
	HIP(hipHostFree, to);
	HIP(hipFree, gpu);
}

static void *be_thread(void *kernel)
{
	hip_handle own;
	unsigned *out = make_output();

	HIP(hipStreamCreate, &own);
	for (unsigned i = 0; i < THREAD_ROUNDS; i++)
		launch(kernel, own, out, 1);
	HIP(hipStreamSynchronize, own);
	return NULL;
}

static void threads(unsigned rounds)
{
	hip_handle kernel = find_kernel("rtl_selftest_thread");
	pthread_t ids[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&ids[i], NULL, be_thread, kernel))
			selftest_fail("no thread can be made");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	printf("kernel rtl_selftest_thread %u\n", THREADS * THREAD_ROUNDS);
}

static void graph(unsigned rounds)
{
	hip_handle kernel = find_kernel("rtl_selftest_graph"), captured, exec;
	unsigned *out = make_output();

	for (unsigned i = 0; i < GRAPHS; i++) {
		/* Anew: HIP 5.2.3 does kernels of modules in the first launch of a graph only. */
		HIP(hipStreamBeginCapture, stream, 0);
		for (unsigned j = 0; j < GRAPH_NODES; j++)
			launch(kernel, stream, out, 1);
		HIP(hipStreamEndCapture, stream, &captured);
		HIP(hipGraphInstantiate, &exec, captured, NULL, NULL, 0);
		HIP(hipGraphLaunch, exec, stream);
		HIP(hipStreamSynchronize, stream);
	}
	printf("kernel rtl_selftest_graph %u\n", GRAPH_NODES * GRAPHS);
}

/* Ends by SIGKILL when its work has. */
static void killed(unsigned rounds)
{
	hip_handle kernel = find_kernel("rtl_selftest_spin");
	unsigned *out = make_output();

	for (unsigned i = 0; i < KILLED; i++)
		launch(kernel, stream, out, 1);
	HIP(hipStreamSynchronize, stream);
	printf("kernel rtl_selftest_spin %u\n", KILLED);
	hip_print_calls();
	printf("end\n");
	fflush(stdout);
	raise(SIGKILL);
}

/* With as many waves as the machine's wavefronts make of it. */
static void waves(unsigned rounds)
{
	hip_handle kernel = find_kernel("rtl_selftest_spin");
	unsigned *out = make_output();
	void *arguments[] = {&out, &rounds};

	rounds = 1;
	for (unsigned i = 0; i < WAVES_ROUNDS; i++)
		HIP(hipModuleLaunchKernel, kernel, WAVES_GROUPS, 1, 1, LANES, 1, 1, 0, stream,
		    arguments, NULL);
	HIP(hipStreamSynchronize, stream);
	printf("waves %u %u\n", WAVES_GROUPS, LANES);
	printf("kernel rtl_selftest_spin %u\n", WAVES_ROUNDS);
}

/* In parts, so that a slow GPU does not make it long. */
static void loop(unsigned rounds)
{
	hip_handle kernel = find_kernel("rtl_selftest_spin");
	unsigned *out = make_output(), launches = 0;
	uint64_t start, ns;

	launch(kernel, stream, out, 1);
	HIP(hipStreamSynchronize, stream);
	start = now_ns();
	do {
		for (unsigned i = 0; i < LOOP_PART; i++)
			launch(kernel, stream, out, 1);
		HIP(hipStreamSynchronize, stream);
		launches += LOOP_PART;
		ns = now_ns() - start;
	} while (launches < LOOP && ns < LOOP_NS);
	printf("loop %" PRIu64 " %u\n", ns, launches);
	printf("kernel rtl_selftest_spin %u\n", launches + 1);
}

static const struct {
	const char *name;
	void (*run)(unsigned rounds);
} workloads[] = {
	{"calibrate", calibrate}, {"kernels", kernels}, {"copies", copies}, {"threads", threads},
	{"graph", graph},         {"waves", waves},     {"killed", killed}, {"loop", loop},
};

int main(int argc, char **argv)
{
	const unsigned rounds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
	size_t i = 0, count = sizeof(workloads) / sizeof(*workloads);

	if (argc < 3) {
		fprintf(stderr, "this is a part of `rtl selftest`\n");
		return 2;
	}
	alarm(LONGEST_S);
	hip_open();
	if (!strcmp(argv[1], "about")) {
		selftest_about(argv[2]);
		printf("end\n");
		return 0;
	}
	while (i < count && strcmp(workloads[i].name, argv[1]) != 0)
		i++;
	if (i == count)
		selftest_fail("there is no workload %s", argv[1]);
	HIP(hipModuleLoad, &module, argv[2]);
	HIP(hipStreamCreate, &stream);
	workloads[i].run(rounds);
	hip_print_calls();
	printf("end\n");
	fflush(stdout);
	usleep(100000); /* HIP 7 may crash at an exit while a thread of its own is at the last completions */
	return 0;
}
