/* SPDX-License-Identifier: MIT */
/* host_kernels.c: what the kernels of the programs here do, done by the processor, for a software GPU that cannot
 * execute their code (SOFTGPU_KERNELS names the library). One function for each kernel, under its symbol, told its
 * arguments and its packet.
 *
 * Called by the software GPU's threads, one kernel of a queue at a time. With
 * HOST_KERNELS_WRONG every result is off by one: tests use it to see that the programs
 * notice. */
#include <hsa/hsa.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

#ifdef HOST_KERNELS_WRONG
enum { off_by = 1 };
#else
enum { off_by = 0 };
#endif

/* KERNEL(symbol, struct of its parameters) { body, with args->parameter } */
#define KERNEL(symbol, parameters)                                                                 \
	static void run_##symbol(const struct parameters *args);                                   \
	void symbol(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);              \
	void symbol(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)               \
	{                                                                                          \
		(void)packet;                                                                      \
		run_##symbol(kernarg);                                                             \
	}                                                                                          \
	static void run_##symbol(const struct parameters *args)

/* Many kernels work on n numbers. */
struct numbers {
	unsigned *data;
	unsigned n;
};

static void increment_all(const struct numbers *args)
{
	for (unsigned i = 0; i < args->n; i++)
		args->data[i] += 1 + off_by;
}

/* hip/vector_add.hip */

struct vector_add_parameters {
	const float *a;
	const float *b;
	float *sum;
	int n;
};

KERNEL(vector_add, vector_add_parameters)
{
	for (int i = 0; i < args->n; i++)
		args->sum[i] = args->a[i] + args->b[i] + off_by;
}

/* hip/threads.hip */

KERNEL(threads_count, numbers)
{
	increment_all(args);
}

/* hsa/hsa_kernels.hip; atomic because queues may share the data */

KERNEL(hsa_add_one, numbers)
{
	for (unsigned i = 0; i < args->n; i++)
		__atomic_fetch_add(&args->data[i], 1 + off_by, __ATOMIC_RELAXED);
}

/* void hsa_test::add<2u>(unsigned int *, unsigned int) */
KERNEL(_ZN8hsa_test3addILj2EEEvPjj, numbers)
{
	for (unsigned i = 0; i < args->n; i++)
		__atomic_fetch_add(&args->data[i], 2 + off_by, __ATOMIC_RELAXED);
}

struct spin_wait_parameters {
	const long *value;
	unsigned *result;
};

KERNEL(spin_wait, spin_wait_parameters)
{
	const time_t deadline = time(NULL) + 120;

	while (__atomic_load_n(args->value, __ATOMIC_ACQUIRE) != 0 && time(NULL) < deadline)
		sched_yield();
	*args->result = (__atomic_load_n(args->value, __ATOMIC_ACQUIRE) ? 2 : 1) + off_by;
}

KERNEL(spin_set, numbers)
{
	++*args->data;
}

/* hip/streams_events.hip */

struct produce_parameters {
	int *data;
	int n, first;
};

/* pipeline::produce(int *, int, int) */
KERNEL(_ZN8pipeline7produceEPiii, produce_parameters)
{
	for (int i = 0; i < args->n; i++)
		args->data[i] = args->first + i + off_by;
}

struct scale_parameters {
	const int *in;
	int *out;
	int n, factor;
};

/* pipeline::scale(int const *, int *, int, int) */
KERNEL(_ZN8pipeline5scaleEPKiPiii, scale_parameters)
{
	for (int i = 0; i < args->n; i++)
		args->out[i] = args->in[i] * args->factor;
}

/* hip/copies.hip */

struct invert_parameters {
	unsigned char *data;
	size_t size;
};

KERNEL(copies_invert, invert_parameters)
{
	for (size_t i = 0; i < args->size; i++)
		args->data[i] = ~args->data[i] + off_by;
}

/* hip/module_launch.hip, hip/module_add.hip, hip/module_mul.hip */

struct module_parameters {
	unsigned *data;
	unsigned n, value;
};

KERNEL(module_start, module_parameters)
{
	for (unsigned i = 0; i < args->n; i++)
		args->data[i] = args->value;
}

/* module_add(unsigned int *, unsigned int, unsigned int) */
KERNEL(_Z10module_addPjjj, module_parameters)
{
	for (unsigned i = 0; i < args->n; i++)
		args->data[i] += args->value + off_by;
}

/* module_mul(unsigned int *, unsigned int, unsigned int) */
KERNEL(_Z10module_mulPjjj, module_parameters)
{
	for (unsigned i = 0; i < args->n; i++)
		args->data[i] *= args->value;
}

/* hip/graph_launch.hip */

struct graph_float_parameters {
	float *data;
	float value;
	int n;
};

/* void graph_multiply<float>(float *, float, int) */
KERNEL(_Z14graph_multiplyIfEvPT_S0_i, graph_float_parameters)
{
	for (int i = 0; i < args->n; i++)
		args->data[i] = args->data[i] * args->value + off_by;
}

struct graph_int_parameters {
	int *data;
	int value, n;
};

/* void graph_multiply<int>(int *, int, int) */
KERNEL(_Z14graph_multiplyIiEvPT_S0_i, graph_int_parameters)
{
	for (int i = 0; i < args->n; i++)
		args->data[i] *= args->value;
}

/* void graph_add<int>(int *, int, int) */
KERNEL(_Z9graph_addIiEvPT_S0_i, graph_int_parameters)
{
	for (int i = 0; i < args->n; i++)
		args->data[i] += args->value + off_by;
}

/* hip/two_gpus.hip */

struct increment_parameters {
	struct numbers numbers;
	unsigned by;
};

/* two_gpus::increment(two_gpus::span, unsigned int) */
KERNEL(_ZN8two_gpus9incrementENS_4spanEj, increment_parameters)
{
	for (unsigned i = 0; i < args->numbers.n; i++)
		args->numbers.data[i] += args->by + off_by;
}

struct gather_parameters {
	struct numbers to;
	const unsigned *from;
};

/* two_gpus::gather(two_gpus::span, unsigned int const *) */
KERNEL(_ZN8two_gpus6gatherENS_4spanEPKj, gather_parameters)
{
	for (unsigned i = 0; i < args->to.n; i++)
		args->to.data[i] = args->from[i];
}

/* hip/exit_ways.hip, hip/fork_exec.hip, hip/timing.hip */

KERNEL(exit_ways_count, numbers)
{
	increment_all(args);
}

KERNEL(fork_exec_count, numbers)
{
	increment_all(args);
}

KERNEL(timing_step, numbers)
{
	increment_all(args);
}

/* Of rtl selftest: cli/check/selftest_program/about.c */

struct selftest_parameters {
	unsigned *out;
	unsigned rounds;
};

static void selftest_spin(const struct selftest_parameters *args)
{
	for (unsigned at = 0; at < 64; at++) {
		unsigned x = at;

		for (unsigned i = 0; i < args->rounds; i++)
			x = (x ^ (x >> 3)) * 1664525u + 1013904223u;
		args->out[at] = x + off_by;
	}
}

KERNEL(rtl_selftest_around, selftest_parameters)
{
	selftest_spin(args);
}

KERNEL(rtl_selftest_within, selftest_parameters)
{
	selftest_spin(args);
}

KERNEL(rtl_selftest_spin, selftest_parameters)
{
	selftest_spin(args);
}
