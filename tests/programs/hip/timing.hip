/* SPDX-License-Identifier: MIT */
/* timing [KERNELS] [print]: the application's own timing by HIP: events around each kernel, around all of them, the
 * events of extended launches, and events around copies to the GPU and back, each of a size of its own, 1 MiB + 4 KiB *
 * i. All must be plausible; print: one line for each. (hsa_dispatch does the same on its own signals.) */
#define PROGRAM "timing"
#include "../check.h"
#include <cstring>
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>
#include <vector>

extern "C" __global__ void timing_step(unsigned *data, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i]++;
}

static constexpr unsigned n = 256;
static constexpr float slack_ms = 0.01; /* the clocks' resolution, and rounding */

struct timed {
	hipEvent_t start, stop;
};

static std::vector<struct timed> events_create(long count)
{
	std::vector<struct timed> events(count);

	for (struct timed &event : events) {
		CHECK_HIP(hipEventCreate(&event.start));
		CHECK_HIP(hipEventCreate(&event.stop));
	}
	return events;
}

static void events_destroy(const std::vector<struct timed> &events)
{
	for (const struct timed &event : events) {
		CHECK_HIP(hipEventDestroy(event.start));
		CHECK_HIP(hipEventDestroy(event.stop));
	}
}

/* The sum of the times; each and all of them within limit_ms */
static float sum_ms(const char *what, const std::vector<struct timed> &events, float limit_ms,
		    bool print)
{
	float sum = 0;

	for (size_t i = 0; i < events.size(); i++) {
		float ms = -1;

		/* HIP 5.2.3 may not know yet, when the stream has been waited for, that they are
		 * over. */
		CHECK_HIP(hipEventSynchronize(events[i].start));
		CHECK_HIP(hipEventSynchronize(events[i].stop));
		CHECK_HIP(hipEventElapsedTime(&ms, events[i].start, events[i].stop));
		if (print)
			printf("%s %zu %.6f ms\n", what, i, ms);
		if (ms < 0 || ms > limit_ms)
			fail("%s %zu: %.6f ms, in a run of %.6f ms", what, i, ms, limit_ms);
		sum += ms;
	}
	if (sum > limit_ms)
		fail("%s: %.6f ms in all, in a run of %.6f ms", what, sum, limit_ms);
	return sum;
}

/* Copies in both directions of 1 MiB and some bytes, events around each; they must arrive. */
static float copies_ms(hipStream_t stream, bool print)
{
	constexpr size_t least = 1 << 20, step = 4096, count = 8;
	std::vector<struct timed> events = events_create(count);
	unsigned char *from, *to, *gpu;

	CHECK_HIP(hipHostMalloc(&from, least + count * step, 0));
	CHECK_HIP(hipHostMalloc(&to, least + count * step, 0));
	CHECK_HIP(hipMalloc(&gpu, least + count * step));
	for (size_t i = 0; i < least + count * step; i++)
		from[i] = static_cast<unsigned char>(i * 7 + (i >> 8));

	uint64_t start_ns = monotonic_ns();
	for (size_t i = 0; i < count; i++) {
		const bool back = i % 2;

		CHECK_HIP(hipEventRecord(events[i].start, stream));
		CHECK_HIP(hipMemcpyAsync(back ? to : gpu, back ? gpu : from, least + i * step,
					 back ? hipMemcpyDeviceToHost : hipMemcpyHostToDevice,
					 stream));
		CHECK_HIP(hipEventRecord(events[i].stop, stream));
	}
	CHECK_HIP(hipStreamSynchronize(stream));
	float wall_ms = (monotonic_ns() - start_ns) * 1e-6;

	float ms = sum_ms("copy", events, wall_ms + slack_ms, print);
	/* the last one back has a page that no copy has brought */
	if (memcmp(from, to, least + (count - 2) * step))
		fail("what was copied to the GPU and back differs");
	events_destroy(events);
	CHECK_HIP(hipHostFree(from));
	CHECK_HIP(hipHostFree(to));
	CHECK_HIP(hipFree(gpu));
	return ms;
}

static void check_data(unsigned *gpu_data, unsigned expected)
{
	unsigned data[n];

	CHECK_HIP(hipMemcpy(data, gpu_data, sizeof(data), hipMemcpyDeviceToHost));
	for (unsigned i = 0; kernels_run() && i < n; i++)
		if (data[i] != expected)
			fail("element %u differs: %u instead of %u", i, data[i], expected);
}

int main(int argc, char **argv)
{
	const long kernels = number_arg(argc, argv, 1, 50);
	const bool print = argc > 2 && !strcmp(argv[2], "print");
	std::vector<struct timed> around = events_create(kernels), within = events_create(kernels);
	std::vector<struct timed> all = events_create(2);
	unsigned *data, arg_n = n;
	hipStream_t stream;

	CHECK_HIP(hipStreamCreate(&stream));
	CHECK_HIP(hipMalloc(&data, n * sizeof(*data)));
	CHECK_HIP(hipMemsetAsync(data, 0, n * sizeof(*data), stream));
	CHECK_HIP(hipStreamSynchronize(stream));

	uint64_t start_ns = monotonic_ns();
	CHECK_HIP(hipEventRecord(all[0].start, stream));
	for (const struct timed &event : around) {
		CHECK_HIP(hipEventRecord(event.start, stream));
		timing_step<<<1, n, 0, stream>>>(data, n);
		CHECK_HIP(hipEventRecord(event.stop, stream));
	}
	CHECK_HIP(hipEventRecord(all[0].stop, stream));
	CHECK_HIP(hipEventRecord(all[1].start, stream));
	for (const struct timed &event : within) {
		void *arguments[] = {&data, &arg_n};

		CHECK_HIP(hipExtLaunchKernel(reinterpret_cast<void *>(timing_step), dim3(1),
					     dim3(n), arguments, 0, stream, event.start, event.stop,
					     0));
	}
	CHECK_HIP(hipEventRecord(all[1].stop, stream));
	CHECK_HIP(hipStreamSynchronize(stream));
	float wall_ms = (monotonic_ns() - start_ns) * 1e-6;

	float all_ms = sum_ms("all", all, wall_ms + slack_ms, print);
	float around_ms = sum_ms("around", around, all_ms + slack_ms, print);
	float within_ms = sum_ms("within", within, all_ms + slack_ms, print);
	if (kernels && (around_ms == 0 || within_ms == 0))
		fail("kernels took no time: %.6f ms, %.6f ms", around_ms, within_ms);
	check_data(data, 2 * kernels);
	float copied_ms = copies_ms(stream, print);
	if (copied_ms == 0)
		fail("copies took no time");
	events_destroy(around);
	events_destroy(within);
	events_destroy(all);
	CHECK_HIP(hipFree(data));
	CHECK_HIP(hipStreamDestroy(stream));
	return finish("kernels=%ld all_ms=%.3f around_ms=%.3f within_ms=%.3f copies_ms=%.3f",
		      2 * kernels, all_ms, around_ms, within_ms, copied_ms);
}
