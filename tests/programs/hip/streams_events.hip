/* SPDX-License-Identifier: MIT */
/* streams_events [STREAMS] [ROUNDS]: in each round one stream produces numbers; the other STREAMS wait for its event,
 * scale them, copy them to the host and check them in a callback; then the first stream waits for them all. The time
 * between the events of the first and the last round must be plausible. */
#define PROGRAM "streams_events"
#include "../check.h"
#include <atomic>
#include <hip/hip_runtime.h>
#include <vector>

namespace pipeline
{

__global__ void produce(int *data, int n, int first)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] = first + i;
}

__global__ void scale(const int *in, int *out, int n, int factor)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i] * factor;
}

} // namespace pipeline

static constexpr int n = 4096;
static constexpr int blocks = n / 256;

/* A stream that scales, and what its callback needs to know */
struct consumer {
	hipStream_t stream;
	hipEvent_t done;
	int *gpu_data, *host_data;
	int factor;
	std::atomic<int> round;
};

static void check_round(void *argument)
{
	struct consumer *consumer = static_cast<struct consumer *>(argument);
	int round = consumer->round++;

	for (int i = 0; kernels_run() && i < n; i++)
		if (consumer->host_data[i] != (round + i) * consumer->factor)
			fail("round %d, factor %d: element %d differs: %d instead of %d", round,
			     consumer->factor, i, consumer->host_data[i],
			     (round + i) * consumer->factor);
}

static void check_round_callback(hipStream_t, hipError_t status, void *argument)
{
	CHECK_HIP(status);
	check_round(argument);
}

static void consumer_create(struct consumer *consumer, int factor)
{
	CHECK_HIP(hipStreamCreateWithFlags(&consumer->stream, hipStreamNonBlocking));
	CHECK_HIP(hipEventCreateWithFlags(&consumer->done, hipEventDisableTiming));
	CHECK_HIP(hipMalloc(&consumer->gpu_data, n * sizeof(int)));
	CHECK_HIP(hipHostMalloc(&consumer->host_data, n * sizeof(int), 0));
	consumer->factor = factor;
	consumer->round = 0;
}

static void consumer_destroy(struct consumer *consumer)
{
	CHECK_HIP(hipStreamDestroy(consumer->stream));
	CHECK_HIP(hipEventDestroy(consumer->done));
	CHECK_HIP(hipFree(consumer->gpu_data));
	CHECK_HIP(hipHostFree(consumer->host_data));
}

static void consume(struct consumer *consumer, const int *source, hipEvent_t produced)
{
	hipStream_t stream = consumer->stream;

	CHECK_HIP(hipStreamWaitEvent(stream, produced, 0));
	pipeline::scale<<<blocks, 256, 0, stream>>>(source, consumer->gpu_data, n,
						    consumer->factor);
	CHECK_HIP(hipEventRecord(consumer->done, stream));
	CHECK_HIP(hipMemcpyAsync(consumer->host_data, consumer->gpu_data, n * sizeof(int),
				 hipMemcpyDeviceToHost, stream));
#if HIP_VERSION >= 60000000 /* older ones declare it only */
	if (consumer->factor % 2)
		CHECK_HIP(hipLaunchHostFunc(stream, check_round, consumer));
	else
#endif
		CHECK_HIP(hipStreamAddCallback(stream, check_round_callback, consumer, 0));
}

int main(int argc, char **argv)
{
	const long stream_count = number_arg(argc, argv, 1, 4);
	const long rounds = number_arg(argc, argv, 2, 20);
	std::vector<struct consumer> consumers(stream_count);
	hipEvent_t produced, start, stop;
	hipStream_t stream;
	int *source;
	float ms;

	CHECK_HIP(hipStreamCreate(&stream));
	CHECK_HIP(hipEventCreateWithFlags(&produced, hipEventDisableTiming));
	CHECK_HIP(hipEventCreate(&start));
	CHECK_HIP(hipEventCreate(&stop));
	CHECK_HIP(hipMalloc(&source, n * sizeof(int)));
	for (long i = 0; i < stream_count; i++)
		consumer_create(&consumers[i], i + 2);

	uint64_t start_ns = monotonic_ns();
	CHECK_HIP(hipEventRecord(start, stream));
	for (long round = 0; round < rounds; round++) {
		pipeline::produce<<<blocks, 256, 0, stream>>>(source, n, round);
		CHECK_HIP(hipEventRecord(produced, stream));
		for (struct consumer &consumer : consumers)
			consume(&consumer, source, produced);
		for (struct consumer &consumer : consumers)
			CHECK_HIP(hipStreamWaitEvent(stream, consumer.done, 0));
	}
	CHECK_HIP(hipEventRecord(stop, stream));
	CHECK_HIP(hipGetLastError());
	CHECK_HIP(hipEventSynchronize(stop));
	double wall_ms = (monotonic_ns() - start_ns) * 1e-6;
	CHECK_HIP(hipEventElapsedTime(&ms, start, stop));
	if (ms < 0 || ms > wall_ms + 1)
		fail("%.3f ms between events, %.3f ms on the wall", ms, wall_ms);

	for (struct consumer &consumer : consumers) {
		CHECK_HIP(hipStreamSynchronize(consumer.stream));
		if (consumer.round != rounds)
			fail("%d callbacks instead of %ld", consumer.round.load(), rounds);
		consumer_destroy(&consumer);
	}
	CHECK_HIP(hipEventDestroy(produced));
	CHECK_HIP(hipEventDestroy(start));
	CHECK_HIP(hipEventDestroy(stop));
	CHECK_HIP(hipStreamDestroy(stream));
	CHECK_HIP(hipFree(source));
	return finish("streams=%ld rounds=%ld ms=%.3f", stream_count, rounds, ms);
}
