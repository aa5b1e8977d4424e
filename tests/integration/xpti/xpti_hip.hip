/* SPDX-License-Identifier: MIT */
/*
 * xpti_hip RECORD: command groups as SYCL's runtime makes them, over HIP: kernels and copies within a
 * task, some in ranges of roctx there, and others outside of any. Writes down which node launched what, by the number of blocks.
 */
#include <cstdint>
#include <cstdio>
#include <thread>

#include <hip/hip_runtime.h>

extern "C" {
#include "proxy.h"
}

extern "C" {
#pragma weak roctxRangePushA
#pragma weak roctxRangePop
int roctxRangePushA(const char *message);
int roctxRangePop(void);
}

static proxy xpti;
static uint8_t sycl;

extern "C" __global__ void grouped(unsigned *data)
{
	if (data)
		data[0] = 1;
}

extern "C" __global__ void alone(unsigned *data)
{
	if (data)
		data[0] = 2;
}

static void work(int thread, FILE *record)
{
	hipStream_t stream;
	void *device, *host;
	xpti_event *before = nullptr;

	(void)hipStreamCreate(&stream);
	(void)hipMalloc(&device, 1 << 20);
	(void)hipHostMalloc(&host, 1 << 20, 0);
	for (int i = 0; i < 6; i++) {
		xpti_payload p{};
		uint64_t instance;

		p.name = "grouped";
		p.file = "app.cpp";
		p.line = 100 + (uint32_t)i;
		p.flags = XPTI_PAYLOAD_NAME | XPTI_PAYLOAD_FILE | XPTI_PAYLOAD_LINE;
		xpti_event *node =
			xpti.MakeEvent("grouped", &p, 2, XPTI_ACTIVITY_ACTIVE, &instance);
		xpti.NotifySubscribers(sycl, RTL_NODE_CREATE, nullptr, node, instance,
				       "command_group_node");
		if (before) {
			xpti_payload e = p;
			e.name = "event";
			xpti_event *edge =
				xpti.MakeEvent("event", &e, 1, XPTI_ACTIVITY_ACTIVE, &instance);
			edge->source_id = before->unique_id;
			edge->target_id = node->unique_id;
			xpti.NotifySubscribers(sycl, RTL_EDGE_CREATE, nullptr, edge, instance,
					       nullptr);
		}
		unsigned blocks = (unsigned)(thread * 16 + i + 1);
		int ranges = roctxRangePushA ? i % 3 : 0; /* around the work, within the task */

		xpti.NotifySubscribers(sycl, RTL_TASK_BEGIN, nullptr, node, 7, nullptr);
		for (int k = 0; k < ranges; k++)
			roctxRangePushA("within");
		hipLaunchKernelGGL(grouped, dim3(blocks), dim3(64), 0, stream, (unsigned *)nullptr);
		if (i % 2 == 0)
			(void)hipMemcpyAsync(device, host, 1 << 20, hipMemcpyHostToDevice, stream);
		for (int k = 0; k < ranges; k++)
			roctxRangePop();
		xpti.NotifySubscribers(sycl, RTL_TASK_END, nullptr, node, 7, nullptr);
		hipLaunchKernelGGL(alone, dim3(1), dim3(64), 0, stream, (unsigned *)nullptr);
		fprintf(record, "%llu %u %u %d\n", (unsigned long long)node->unique_id, blocks * 64,
			p.line, i % 2 == 0);
		before = node;
	}
	(void)hipStreamSynchronize(stream);
	(void)hipFree(device);
	(void)hipHostFree(host);
}

int main(int argc, char **argv)
{
	FILE *record = argc > 1 ? fopen(argv[1], "w") : nullptr;

	if (!record || !proxy_open(&xpti) || !xpti.TraceEnabled())
		return 1;
	xpti.FrameworkInitialize();
	sycl = xpti.RegisterStream("sycl");
	xpti.Initialize("sycl", 8, 0, "test");
	std::thread other(work, 1, record);
	work(0, record);
	other.join();
	xpti.Finalize("sycl");
	fclose(record);
	return 0;
}
