/* SPDX-License-Identifier: MIT */
/* sync_end ROUNDS KERNELS SYNC END: ROUNDS children, one after the other, each of which launches KERNELS kernels, waits
 * for them in the way SYNC, and ends at once in the way END. The parent, which does not use HIP, checks how they have
 * ended.
 *
 * SYNC: stream, device, event (their synchronize functions), late (stream's, when all has ended by
 * itself), query, event_query (until it says so), copy (hipMemcpy to the host), free (hipFree).
 * END: see ../end_ways.h. */
#define PROGRAM "sync_end"
#include "../check.h"
#include "../end_ways.h"
#include <hip/hip_runtime.h>

extern "C" __global__ void sync_end_count(unsigned *counter)
{
	if (!threadIdx.x)
		++*counter;
}

static void synchronize(const char *how, hipStream_t stream, hipEvent_t event, unsigned *counter)
{
	unsigned value;
	hipError_t status = hipErrorNotReady;

	if (!strcmp(how, "late"))
		usleep(300);
	if (!strcmp(how, "stream") || !strcmp(how, "late"))
		CHECK_HIP(hipStreamSynchronize(stream));
	else if (!strcmp(how, "device"))
		CHECK_HIP(hipDeviceSynchronize());
	else if (!strcmp(how, "event"))
		CHECK_HIP(hipEventSynchronize(event));
	else if (!strcmp(how, "copy"))
		CHECK_HIP(hipMemcpy(&value, counter, sizeof(value), hipMemcpyDeviceToHost));
	else if (!strcmp(how, "free"))
		CHECK_HIP(hipFree(counter));
	else if (!strcmp(how, "query"))
		while (status == hipErrorNotReady)
			status = hipStreamQuery(stream);
	else if (!strcmp(how, "event_query"))
		while (status == hipErrorNotReady)
			status = hipEventQuery(event);
	else
		fail("unknown way to wait: %s", how);
}

static void work(long kernels, const char *sync, const char *way)
{
	hipStream_t stream;
	hipEvent_t event;
	unsigned *counter;

	CHECK_HIP(hipMalloc(&counter, sizeof(*counter)));
	CHECK_HIP(hipStreamCreate(&stream));
	CHECK_HIP(hipEventCreate(&event));
	for (long i = 0; i < kernels; i++)
		sync_end_count<<<1, 64, 0, stream>>>(counter);
	CHECK_HIP(hipGetLastError());
	CHECK_HIP(hipEventRecord(event, stream));
	synchronize(sync, stream, event, counter);
	end_process(way);
}

int main(int argc, char **argv)
{
	const long rounds = number_arg(argc, argv, 1, 1);
	const long kernels = number_arg(argc, argv, 2, 1);
	const char *sync = argc > 3 ? argv[3] : "stream";
	const char *way = argc > 4 ? argv[4] : "abort";

	for (long i = 0; i < rounds; i++) {
		const pid_t child = fork();

		if (!child)
			work(kernels, sync, way);
		check_end(child, way);
	}
	return finish("rounds=%ld kernels=%ld sync=%s end=%s", rounds, kernels, sync, way);
}
