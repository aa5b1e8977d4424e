/* SPDX-License-Identifier: MIT */
/* spin_pair [ROUNDS] [one]: a kernel on one queue spins until the completion signal of a kernel on another queue,
 * submitted after it, is 0. So the completion of the second must not wait for the first, whoever stands between. The
 * queues are on two GPUs in turn; with
 * `one`, or on a machine with one GPU, on the same GPU. On the software GPU that cannot be:
 * with one GPU there it says so and exits with 77. */
#include "hsa_setup.h"

#include <hsa/amd_hsa_signal.h>
#include <string.h>

#define PROGRAM "spin_pair"
#include "../check.h"

/* One end of the pair, with what both kinds of kernels need on its GPU */
struct end {
	hsa_queue_t *queue;
	struct kernel wait, set;
	hsa_signal_t done;
	unsigned *result;  /* of its waiter: 0 not run, 1 saw the completion, 2 gave up */
	unsigned *touched; /* by its setter */
};

static void end_create(struct end *end, const struct gpu *gpu)
{
	CHECK_HSA(hsa_queue_create(gpu->agent, 256, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
				   UINT32_MAX, &end->queue));
	end->wait = gpu_kernel(gpu, "spin_wait");
	end->set = gpu_kernel(gpu, "spin_set");
	CHECK_HSA(hsa_signal_create(1, 0, NULL, &end->done));
	end->result = shared_alloc(sizeof(*end->result));
	end->touched = shared_alloc(sizeof(*end->touched));
}

static void end_destroy(struct end *end)
{
	CHECK_HSA(hsa_queue_destroy(end->queue));
	CHECK_HSA(hsa_signal_destroy(end->done));
}

static void submit(struct end *end, const struct kernel *kernel, void *kernarg)
{
	uint64_t index = packets_reserve(end->queue, 1);

	packet_dispatch(end->queue, index, kernel, kernarg, 64, true, end->done);
	hsa_signal_store_screlease(end->queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* Where the signal counts down: known of all signals on AMD's GPUs */
static const volatile int64_t *value_of(hsa_signal_t signal)
{
	return &((const amd_signal_t *)signal.handle)->value;
}

static void run_round(struct end *waiter, struct end *setter)
{
	const struct {
		const volatile int64_t *value;
		unsigned *result;
	} wait_arguments = {value_of(setter->done), waiter->result};
	const struct {
		unsigned *touched;
	} set_arguments = {setter->touched};
	void *wait_kernarg = kernarg_create(&waiter->wait, &wait_arguments, sizeof(wait_arguments));
	void *set_kernarg = kernarg_create(&setter->set, &set_arguments, sizeof(set_arguments));
	unsigned touched = *setter->touched;

	*waiter->result = 0;
	hsa_signal_store_relaxed(waiter->done, 1);
	hsa_signal_store_relaxed(setter->done, 1);
	submit(waiter, &waiter->wait, wait_kernarg);
	usleep(1000); /* so that it spins when the other arrives */
	submit(setter, &setter->set, set_kernarg);
	signal_wait_zero(setter->done, "the kernel that is waited for");
	signal_wait_zero(waiter->done, "the kernel that waits");
	if (kernels_run() && *waiter->result != 1)
		fail("the waiting kernel %s",
		     *waiter->result ? "did not see the other's completion" : "did not run");
	if (kernels_run() && *setter->touched != touched + 1)
		fail("the other kernel differs: %u instead of %u", *setter->touched, touched + 1);
	CHECK_HSA(hsa_amd_memory_pool_free(wait_kernarg));
	CHECK_HSA(hsa_amd_memory_pool_free(set_kernarg));
}

int main(int argc, char **argv)
{
	const long rounds = number_arg(argc, argv, 1, 10);
	bool one = argc > 2 && !strcmp(argv[2], "one");
	struct gpu gpus[MAX_GPUS];
	struct end ends[2];

	if (gpu_find_all(gpus, argv[0]) < 2 && !one) {
		if (access("/dev/kfd", F_OK)) {
			printf("%s: SKIPPED: there is one GPU, and its queues take turns\n",
			       PROGRAM);
			return EXIT_SKIPPED;
		}
		one = true;
	}
	end_create(&ends[0], &gpus[0]);
	end_create(&ends[1], &gpus[one ? 0 : 1]);
	for (long round = 0; round < rounds; round++)
		run_round(&ends[round % 2], &ends[(round + 1) % 2]);
	end_destroy(&ends[0]);
	end_destroy(&ends[1]);
	CHECK_HSA(hsa_shut_down());
	return finish("rounds=%ld gpus=%d", rounds, one ? 1 : 2);
}
