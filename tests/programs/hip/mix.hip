/* SPDX-License-Identifier: MIT */
/* mix [THREADS] [ROUNDS] [AHEAD]: threads that do by turns what a GPU can be asked for, each round on streams of
 * its own that are destroyed behind it: copies, a fill, launches, a module's kernel, an event that
 * another stream waits for, and a graph of several nodes. Then one thread has functions run on the host,
 * and launches a graph of three kernels AHEAD times before it waits. */
#define PROGRAM "mix"
#include "../check.h"
#include <atomic>
#include <cstring>
#include <hip/hip_runtime.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static constexpr size_t copy_bytes = 1 << 20; /* enough for an engine to be asked */
static constexpr unsigned block = 64;
static std::atomic<unsigned> last_number{0};
static std::atomic<long> host_calls{0};
static std::mutex graphs; /* HIP 7.2.4 crashes now and then where several threads make some */

extern "C" __global__ void mix_first(float *data)
{
	if (data)
		data[threadIdx.x] = 1;
}

template <typename T> __global__ void mix_second(T *data)
{
	if (data)
		data[threadIdx.x] = 2;
}

struct buffers {
	unsigned char *in, *out, *gpu;
	hipStream_t first, second;
	hipEvent_t event;
};

#if HIP_VERSION_MAJOR >= 6
static void count_call(void *)
{
	host_calls++;
}

static void call_host(hipStream_t stream)
{
	CHECK_HIP(hipLaunchHostFunc(stream, count_call, nullptr));
}
#else /* 5.2.3 has no hipLaunchHostFunc */
static void count_call(hipStream_t, hipError_t, void *)
{
	host_calls++;
}

static void call_host(hipStream_t stream)
{
	CHECK_HIP(hipStreamAddCallback(stream, count_call, nullptr, 0));
}
#endif

static void launch_module(hipFunction_t function, hipStream_t stream)
{
	unsigned *none = nullptr, zero = 0;
	void *arguments[] = {&none, &zero, &zero};

	CHECK_HIP(hipModuleLaunchKernel(function, ++last_number, 1, 1, block, 1, 1, 0, stream,
					arguments, nullptr));
}

static void launch_graph(const buffers &b)
{
	const std::lock_guard<std::mutex> alone(graphs);
	hipGraphExec_t executable;
	hipGraph_t graph;

	CHECK_HIP(hipStreamBeginCapture(b.first, hipStreamCaptureModeThreadLocal));
	CHECK_HIP(hipMemsetAsync(b.gpu, 3, copy_bytes, b.first));
	mix_first<<<++last_number, block, 0, b.first>>>(nullptr);
	CHECK_HIP(hipEventRecord(b.event, b.first));
	CHECK_HIP(hipStreamWaitEvent(b.second, b.event, 0));
	mix_second<float><<<++last_number, block, 0, b.second>>>(nullptr);
	CHECK_HIP(hipEventRecord(b.event, b.second));
	mix_second<int><<<++last_number, block, 0, b.first>>>(nullptr);
	CHECK_HIP(hipStreamWaitEvent(b.first, b.event, 0));
	CHECK_HIP(hipMemcpyAsync(b.out, b.gpu, copy_bytes, hipMemcpyDeviceToHost, b.first));
	CHECK_HIP(hipStreamEndCapture(b.first, &graph));
	CHECK_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 2; i++)
		CHECK_HIP(hipGraphLaunch(executable, b.first));
	CHECK_HIP(hipStreamSynchronize(b.first));
	for (size_t i = 0; i < copy_bytes; i++)
		if (b.out[i] != 3)
			fail("byte %zu behind a graph: %d", i, b.out[i]);
	CHECK_HIP(hipGraphExecDestroy(executable));
	CHECK_HIP(hipGraphDestroy(graph));
}

static void one_round(buffers &b, hipFunction_t function, unsigned char value, bool with_graph)
{
	memset(b.in, value, copy_bytes);
	CHECK_HIP(hipStreamCreate(&b.first));
	CHECK_HIP(hipStreamCreateWithFlags(&b.second, hipStreamNonBlocking));
	CHECK_HIP(hipMemcpyAsync(b.gpu, b.in, copy_bytes, hipMemcpyHostToDevice, b.first));
	CHECK_HIP(hipMemsetAsync(b.gpu, value + 1, copy_bytes / 2, b.first));
	mix_first<<<++last_number, block, 0, b.first>>>(nullptr);
	mix_second<int><<<++last_number, block, 0, b.first>>>(nullptr);
	launch_module(function, b.first);
	CHECK_HIP(hipEventRecord(b.event, b.first));
	CHECK_HIP(hipStreamWaitEvent(b.second, b.event, 0));
	mix_second<float><<<++last_number, block, 0, b.second>>>(nullptr);
	CHECK_HIP(hipMemcpyAsync(b.out, b.gpu, copy_bytes, hipMemcpyDeviceToHost, b.second));
	CHECK_HIP(hipStreamSynchronize(b.second));
	for (size_t i = 0; i < copy_bytes; i++)
		if (b.out[i] != (unsigned char)(value + (i < copy_bytes / 2)))
			fail("byte %zu: %d, not %d", i, b.out[i], value);
	if (with_graph)
		launch_graph(b);
	CHECK_HIP(hipStreamDestroy(b.second));
	launch_module(function, b.first);
	CHECK_HIP(hipStreamDestroy(b.first)); /* which may still be at work */
}

static void run(unsigned index, long rounds, hipFunction_t function)
{
	buffers b;

	CHECK_HIP(hipHostMalloc((void **)&b.in, copy_bytes, 0));
	CHECK_HIP(hipHostMalloc((void **)&b.out, copy_bytes, 0));
	CHECK_HIP(hipMalloc((void **)&b.gpu, copy_bytes));
	CHECK_HIP(hipEventCreate(&b.event));
	for (long i = 0; i < rounds; i++)
		one_round(b, function, (unsigned char)(16 * index + i), i % 4 == 3);
	CHECK_HIP(hipEventDestroy(b.event));
	CHECK_HIP(hipFree(b.gpu));
	CHECK_HIP(hipHostFree(b.out));
	CHECK_HIP(hipHostFree(b.in));
}

/* By one thread: HIP 7.2.4 now and then waits for ever where others use it meanwhile. */
static void call_the_host(long calls)
{
	hipStream_t stream;

	CHECK_HIP(hipStreamCreate(&stream));
	for (long i = 0; i < calls; i++) {
		mix_first<<<++last_number, block, 0, stream>>>(nullptr);
		call_host(stream);
		mix_second<int><<<++last_number, block, 0, stream>>>(nullptr);
		CHECK_HIP(hipStreamSynchronize(stream));
	}
	if (host_calls != calls)
		fail("%ld functions ran on the host", (long)host_calls);
	CHECK_HIP(hipStreamDestroy(stream));
}

static void launch_ahead(long launches)
{
	hipGraphExec_t executable;
	hipStream_t stream;
	hipGraph_t graph;

	CHECK_HIP(hipStreamCreate(&stream));
	CHECK_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	for (int i = 0; i < 3; i++)
		mix_first<<<++last_number, block, 0, stream>>>(nullptr);
	CHECK_HIP(hipStreamEndCapture(stream, &graph));
	CHECK_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
	for (long i = 0; i < launches; i++)
		CHECK_HIP(hipGraphLaunch(executable, stream));
	CHECK_HIP(hipStreamSynchronize(stream));
	CHECK_HIP(hipGraphExecDestroy(executable));
	CHECK_HIP(hipGraphDestroy(graph));
	CHECK_HIP(hipStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	const unsigned threads = number_arg(argc, argv, 1, 4);
	const long rounds = number_arg(argc, argv, 2, 8);
	const std::string program = argv[0];
	const long ahead = number_arg(argc, argv, 3, 0);
	hipDeviceProp_t properties;
	std::vector<std::thread> all;
	hipFunction_t function;
	hipModule_t module;

	CHECK_HIP(hipGetDeviceProperties(&properties, 0));
	std::string gpu = properties.gcnArchName;
	gpu = gpu.substr(0, gpu.find(':'));
	CHECK_HIP(hipModuleLoad(
		&module,
		(program.substr(0, program.rfind('/') + 1) + "module_add." + gpu + ".co").c_str()));
	CHECK_HIP(hipModuleGetFunction(&function, module, "_Z10module_addPjjj"));
	for (unsigned i = 0; i < threads; i++)
		all.emplace_back(run, i, rounds, function);
	for (std::thread &thread : all)
		thread.join();
	call_the_host(rounds);
	CHECK_HIP(hipModuleUnload(module));
	launch_ahead(ahead);
	return finish("threads=%u rounds=%ld", threads, rounds);
}
