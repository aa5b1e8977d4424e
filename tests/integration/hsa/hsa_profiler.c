/* SPDX-License-Identifier: MIT */
/*
 * hsa_profiler: a tool library, as others have them: makes intercept queues, puts a signal of its own into each
 * dispatch, of value 1 or, as rocprofiler-sdk, 0, and completes the application's when the GPU has completed it, with
 * its times; sends packets on one by one, now and then with a barrier packet before. Ends the program where it does not
 * get times. Turns profiling off on its queues after it turned it on if HSA_PROFILER_OFF is set. With HSA_PROFILER_LATE
 * it takes the functions that make queues when it is loaded, and the place of hsa_queue_create only when the program
 * looks for agents. Preloaded, it stands where rocprofiler-sdk and its tool would: librocprofiler-register knows both
 * by two functions. Writes to the file HSA_PROFILER_MARK how many dispatches it saw. Threads: the runtime's and the
 * application's; what hook() writes is written before there is a queue. No locks.
 */
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../streams/hsa/runtime/table.h"

#define MOST_UNDER_WAY 500 /* the driver has 4094 events */
#define BARRIER_EACH   16

typedef void (*packet_writer)(const void *packets, uint64_t count);
typedef void (*packet_interceptor)(const void *packets, uint64_t count, uint64_t index, void *data,
				   packet_writer write);
typedef void (*queue_error_callback)(hsa_status_t status, hsa_queue_t *queue, void *data);

static __typeof__(hsa_amd_profiling_set_profiler_enabled) *set_profiler_enabled;
static __typeof__(hsa_amd_signal_async_handler) *signal_async_handler;
static __typeof__(hsa_signal_create) *signal_create;
static __typeof__(hsa_signal_destroy) *signal_destroy;
static __typeof__(hsa_signal_subtract_screlease) *signal_subtract;
static hsa_status_t (*intercept_create)(hsa_agent_t, uint32_t, hsa_queue_type32_t,
					queue_error_callback, void *, uint32_t, uint32_t,
					hsa_queue_t **);
static hsa_status_t (*intercept_register)(hsa_queue_t *, packet_interceptor, void *);

struct dispatch {
	hsa_signal_t ours, theirs;
	hsa_signal_value_t value;
};

static _Atomic int under_way, seen;

static bool completed(hsa_signal_value_t value, void *data)
{
	struct dispatch *dispatch = data;
	const amd_signal_t *ours = (const amd_signal_t *)dispatch->ours.handle;
	amd_signal_t *theirs = (amd_signal_t *)dispatch->theirs.handle;

	if (value >= dispatch->value)
		return true;
	if (!ours->start_ts || ours->end_ts < ours->start_ts) {
		printf("hsa_profiler: FAILED: a signal without times\n");
		fflush(stdout);
		abort();
	}
	if (theirs) {
		/* Several dispatches may share it: the times of the last remain. */
		if (ours->end_ts > theirs->end_ts) {
			theirs->start_ts = ours->start_ts;
			theirs->end_ts = ours->end_ts;
		}
		signal_subtract(dispatch->theirs, 1);
	}
	signal_destroy(dispatch->ours);
	free(dispatch);
	under_way--;
	return false;
}

static void replace_signal(hsa_kernel_dispatch_packet_t *packet)
{
	struct dispatch *dispatch;

	if ((packet->header & 0xff) != HSA_PACKET_TYPE_KERNEL_DISPATCH)
		return;
	seen++;
	if (under_way >= MOST_UNDER_WAY)
		return;
	dispatch = malloc(sizeof(*dispatch));
	if (!dispatch || signal_create(dispatch->value = seen % 2, 0, NULL, &dispatch->ours))
		abort();
	dispatch->theirs = packet->completion_signal;
	under_way++;
	if (signal_async_handler(dispatch->ours, HSA_SIGNAL_CONDITION_LT, dispatch->value,
				 completed, dispatch))
		abort();
	packet->completion_signal = dispatch->ours;
}

/* One write for each packet: runtimes of 5.x, which give one at a time, bear no second. */
static void intercept(const void *packets, uint64_t count, uint64_t index, void *data,
		      packet_writer write)
{
	const hsa_kernel_dispatch_packet_t *given = packets;

	for (uint64_t i = 0; i < count; i++) {
		hsa_kernel_dispatch_packet_t out[2] = {{.header = HSA_PACKET_TYPE_BARRIER_AND},
						       given[i]};
		const bool one_more = (index + i) % BARRIER_EACH == 0;

		replace_signal(&out[1]);
		write(one_more ? &out[0] : &out[1], one_more ? 2 : 1);
	}
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
	if (!status && getenv("HSA_PROFILER_OFF"))
		status = set_profiler_enabled(*queue, 0);
	return status ? status : intercept_register(*queue, intercept, NULL);
}

#define EXPORT __attribute__((visibility("default")))

EXPORT void *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority, void *id);
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **given, uint64_t count);

static struct root_table *tables;
static __typeof__(hsa_iterate_agents) *iterate_agents;

static void hook(void)
{
	*(void **)&set_profiler_enabled =
		*table_entry(tables, ENTRY_hsa_amd_profiling_set_profiler_enabled);
	*(void **)&intercept_register =
		*table_entry(tables, ENTRY_hsa_amd_queue_intercept_register);
	*table_entry(tables, ENTRY_hsa_queue_create) = (void *)queue_create;
}

static hsa_status_t hook_and_iterate(hsa_status_t (*callback)(hsa_agent_t agent, void *data),
				     void *data)
{
	hook();
	return iterate_agents(callback, data);
}

static bool load(struct root_table *root, uint64_t version, uint64_t failed,
		 const char *const *names)
{
	tables = root;
	*(void **)&signal_create = *table_entry(tables, ENTRY_hsa_signal_create);
	*(void **)&signal_destroy = *table_entry(tables, ENTRY_hsa_signal_destroy);
	*(void **)&signal_subtract = *table_entry(tables, ENTRY_hsa_signal_subtract_screlease);
	*(void **)&signal_async_handler = *table_entry(tables, ENTRY_hsa_amd_signal_async_handler);
	*(void **)&intercept_create = *table_entry(tables, ENTRY_hsa_amd_queue_intercept_create);
	if (!getenv("HSA_PROFILER_LATE")) {
		hook();
		return true;
	}
	*(void **)&iterate_agents = *table_entry(tables, ENTRY_hsa_iterate_agents);
	*table_entry(tables, ENTRY_hsa_iterate_agents) = (void *)hook_and_iterate;
	return true;
}

/* By its own name it may be another tool's. */
EXPORT __attribute__((alias("load"))) __typeof__(load) OnLoad;

void *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority, void *id)
{
	return NULL;
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **given,
			      uint64_t count)
{
	return strcmp(name, "hsa") != 0 || !load(given[0], version, 0, NULL);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("HSA_PROFILER_MARK");
	FILE *file = path && tables ? fopen(path, "w") : NULL;

	if (file && fprintf(file, "%d", seen))
		fclose(file);
}
