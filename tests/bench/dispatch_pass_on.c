/* SPDX-License-Identifier: MIT */
/* dispatch_pass_on: a tool library whose interceptor passes every packet on and does nothing
 * else: what an intercept queue costs by itself. The reference of tests/bench/dispatch.
 *
 * DISPATCH_SIGNALS=1: each kernel has a completion signal, of which nobody reads the times: what it costs, on
 * the software GPU above all, that a dispatch has times at all. HIP gives a signal to few of its own accord.
 * Threads: the runtime's and the application's; what they share is written by OnLoad and by the first queue. No
 * locks: the program makes its first queue before it has threads. */
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "../../streams/hsa/runtime/table.h"

typedef void (*packet_writer)(const void *packets, uint64_t count);
typedef void (*packet_interceptor)(const void *packets, uint64_t count, uint64_t index, void *data,
				   packet_writer write);
typedef void (*queue_error_callback)(hsa_status_t status, hsa_queue_t *queue, void *data);

static __typeof__(hsa_amd_profiling_set_profiler_enabled) *set_profiler_enabled;
static hsa_status_t (*intercept_create)(hsa_agent_t, uint32_t, hsa_queue_type32_t,
					queue_error_callback, void *, uint32_t, uint32_t,
					hsa_queue_t **);
static hsa_status_t (*intercept_register)(hsa_queue_t *, packet_interceptor, void *);

#define SIGNALS 16384u /* more than are under way */
#define BATCH   64u

static hsa_status_t (*signal_create)(hsa_signal_value_t, uint32_t, const hsa_agent_t *,
				     hsa_signal_t *);
static hsa_signal_t *signals;
static uint32_t next_signal;

static void give_signal(hsa_kernel_dispatch_packet_t *packet)
{
	const unsigned type = packet->header >> HSA_PACKET_HEADER_TYPE & 0xff;

	if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH && !packet->completion_signal.handle)
		/* relaxed: which one does not matter */
		packet->completion_signal =
			signals[__atomic_fetch_add(&next_signal, 1, __ATOMIC_RELAXED) % SIGNALS];
}

static void pass_on_with_signals(const void *packets, uint64_t count, uint64_t index, void *data,
				 packet_writer write)
{
	const hsa_kernel_dispatch_packet_t *from = packets;
	hsa_kernel_dispatch_packet_t to[BATCH];

	for (uint64_t n; count; count -= n, from += n) {
		n = count < BATCH ? count : BATCH;
		memcpy(to, from, n * sizeof(*to));
		for (uint64_t i = 0; i < n; i++)
			give_signal(&to[i]);
		write(to, n);
	}
}

static hsa_status_t make_signals(void)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (signals || !getenv("DISPATCH_SIGNALS"))
		return status;
	signals = calloc(SIGNALS, sizeof(*signals));
	if (!signals)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	for (uint32_t i = 0; !status && i < SIGNALS; i++)
		status = signal_create(INT64_MAX, 0, NULL, &signals[i]);
	return status;
}

static void pass_on(const void *packets, uint64_t count, uint64_t index, void *data,
		    packet_writer write)
{
	write(packets, count);
}

static hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 queue_error_callback callback, void *data, uint32_t private_bytes,
				 uint32_t group_bytes, hsa_queue_t **queue)
{
	hsa_status_t status;

	status = intercept_create(agent, size, type, callback, data,
				  private_bytes == UINT32_MAX ? 0 : private_bytes,
				  group_bytes == UINT32_MAX ? 0 : group_bytes, queue);
	if (status)
		return status;
	status = set_profiler_enabled(*queue, 1);
	if (!status)
		status = make_signals();
	return status ? status
		      : intercept_register(*queue, signals ? pass_on_with_signals : pass_on, NULL);
}

__attribute__((visibility("default"))) bool OnLoad(struct root_table *root, uint64_t version,
						   uint64_t failed, const char *const *names);

bool OnLoad(struct root_table *root, uint64_t version, uint64_t failed, const char *const *names)
{
	*(void **)&set_profiler_enabled =
		*table_entry(root, ENTRY_hsa_amd_profiling_set_profiler_enabled);
	*(void **)&intercept_create = *table_entry(root, ENTRY_hsa_amd_queue_intercept_create);
	*(void **)&intercept_register = *table_entry(root, ENTRY_hsa_amd_queue_intercept_register);
	*(void **)&signal_create = *table_entry(root, ENTRY_hsa_signal_create);
	*table_entry(root, ENTRY_hsa_queue_create) = (void *)queue_create;
	return true;
}
