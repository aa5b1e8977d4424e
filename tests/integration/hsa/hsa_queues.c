/* SPDX-License-Identifier: MIT */
/*
 * hsa_queues: queues made in every way, barrier packets of both kinds and extended dispatches, to
 * be traced: by descriptors if the tool HSA_NEWER is loaded, else by hsa_queue_create. Prints
 * "hsa_queues: ok". The kernels have no names (kernel object 0). A queue that cannot be intercepted
 * gets one packet.
 */
#define PROGRAM "hsa_queues"

#include "../../../streams/hsa/runtime/interceptor.h"

#include "hsa_program.h"

#define PACKETS 256

typedef hsa_status_t create_fn(hsa_agent_t agent, struct queue_descriptor *d, uint32_t count);

static hsa_agent_t gpu;

static void wait_and_destroy(hsa_signal_t signal)
{
	wait_done(signal);
	CHECK(!hsa_signal_destroy(signal));
}

/* 2 x 3 x 1 clusters of 2 x 1 x 2 workgroups of 32 x 2 x 1 work-items: 128 x 6 x 2. */
static void dispatch_extended(hsa_queue_t *queue, hsa_signal_t signal)
{
	const struct {
		uint32_t head;
		uint16_t workgroup[3], reserved;
		uint32_t clusters_x;
		uint16_t clusters_y, clusters_z;
		uint8_t cluster[3], hint;
		uint32_t private_bytes, group_bytes;
		uint64_t object, arguments, dependency;
		hsa_signal_t signal;
	} packet = {.head = HSA_PACKET_TYPE_VENDOR_SPECIFIC | 3u << 16,
		    .workgroup = {32, 2, 1},
		    .clusters_x = 2,
		    .clusters_y = 3,
		    .clusters_z = 1,
		    .cluster = {2, 1, 2},
		    .private_bytes = 16,
		    .group_bytes = 1024,
		    .signal = signal};

	_Static_assert(sizeof(packet) == 64, "hsa_amd_ext_kernel_dispatch_packet_t");
	submit(queue, &packet);
}

static void barrier(hsa_queue_t *queue, uint16_t type, hsa_signal_t signal, hsa_signal_t a,
		    hsa_signal_t b)
{
	const hsa_barrier_and_packet_t packet = {
		.header = type, .dep_signal = {a, {0}, b}, .completion_signal = signal};

	submit(queue, &packet);
}

static void use(hsa_queue_t *queue)
{
	const hsa_signal_t none = {0}, done = create_signal(1), first = create_signal(1);
	const hsa_signal_t dispatched = create_signal(1), extended = create_signal(1);

	CHECK(!hsa_amd_profiling_set_profiler_enabled(queue, 1));
	for (uint32_t i = 0; i < 300; i++) {
		dispatch(queue, 64 + i % 5, none);
		dispatch_extended(queue, none);
		barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, none, none, none);
	}
	dispatch(queue, 64, dispatched);
	dispatch_extended(queue, extended);
	barrier(queue, HSA_PACKET_TYPE_BARRIER_OR, first, dispatched, extended);
	barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, done, dispatched, extended);
	wait_and_destroy(done);
	wait_and_destroy(first);
	wait_and_destroy(extended);
	wait_and_destroy(dispatched);
	CHECK(!hsa_queue_destroy(queue));
}

/* Of each kind of descriptor one; those that are wrong have no queue. */
static void by_descriptors(create_fn *create)
{
	struct queue_descriptor all[6];

	for (int i = 0; i < 6; i++)
		all[i] = (struct queue_descriptor){.version = 1,
						   .queue_size_bytes = PACKETS * 64,
						   .priority = HSA_AMD_QUEUE_PRIORITY_NORMAL,
						   .compute = {.private_segment_size = UINT32_MAX}};
	all[1].version = 2;
	all[2].flags = 1;
	all[2].priority = HSA_AMD_QUEUE_PRIORITY_HIGH;
	all[3].engine_type = 1;
	all[4].traffic_class = 7; /* of a runtime newer still: not known to us */
	all[5].queue_size_bytes = 100;
	CHECK(create(gpu, all, 6) == HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK(all[0].queue && !all[1].queue && all[2].queue && !all[3].queue && all[4].queue &&
	      !all[5].queue);
	use(all[0].queue);
	use(all[2].queue);

	const hsa_signal_t signal = create_signal(1);

	dispatch(all[4].queue, 1, signal);
	wait_and_destroy(signal);
	CHECK(!hsa_queue_destroy(all[4].queue));
	CHECK(create(gpu, &all[0], 1) == HSA_STATUS_SUCCESS);
	use(all[0].queue);
}

static void by_type(hsa_queue_type32_t type)
{
	hsa_queue_t *queue = create_queue(gpu, PACKETS, type);

	use(queue);
}

int main(void)
{
	const char *newer = getenv("HSA_NEWER");
	bool cooperative = false;
	create_fn *create;

	CHECK(!hsa_init());
	gpu = first_gpu();
	by_type(HSA_QUEUE_TYPE_MULTI);
	by_type(HSA_QUEUE_TYPE_SINGLE);
	CHECK(!hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES,
				  &cooperative));
	/* The runtime has one, which it gives out again and again. */
	for (int i = 0; i < 3 && cooperative; i++)
		by_type(HSA_QUEUE_TYPE_COOPERATIVE);
	if (newer) {
		void *tool = dlopen(newer, RTLD_NOW | RTLD_NOLOAD);

		CHECK(tool);
		*(void **)&create = dlsym(tool, "hsa_newer_queue_create");
		CHECK(create);
		by_descriptors(create);
	}
	CHECK(!hsa_shut_down());
	printf("hsa_queues: ok cooperative=%d descriptors=%d\n", cooperative, newer != NULL);
	return 0;
}
