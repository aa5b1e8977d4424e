/* SPDX-License-Identifier: MIT */
/* hip_calls [THREADS]: calls a good part of HIP's API from each of the threads, some of it with bad arguments, and
 * writes a line for each call: "thread TID call NAME RESULT STREAM DEVICE", in the order of the thread's calls, for
 * hip_compare.py, and, behind a call that makes a GPU run kernels of the program, "thread TID kernels COUNT
 * PART-OF-THEIR-NAME"; behind some, "thread TID args ARGUMENTS". Kernels need not run. */
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "../../programs/hang_guard.h"

#define STRING_(text) #text
#define STRING(text)  STRING_(text)

static thread_local int tid;
static thread_local hipError_t last;

static void record(const char *name, long result, const void *stream, int device)
{
	printf("thread %d call %s %ld 0x%lx %d\n", tid, name, result, (unsigned long)stream,
	       device);
}

/* What the call before made the GPU run. */
static void launched(int count, const char *kernel)
{
	printf("thread %d kernels %d %s\n", tid, count, kernel);
}

/* The arguments of the call before. One write: lines of other threads stay whole. */
#define ARGS(...)                                                                                  \
	do {                                                                                       \
		char text_[1024];                                                                  \
		snprintf(text_, sizeof(text_), __VA_ARGS__);                                       \
		printf("thread %d args %s\n", tid, text_);                                         \
	} while (0)

/* Calls and records; the value is the result. */
#define WITH(stream, device, function, ...)                                                        \
	(last = (hipError_t)function(__VA_ARGS__),                                                 \
	 record(STRING(function), last, (const void *)(stream), device), last)
#define CALL(function, ...)       WITH(nullptr, -1, function, __VA_ARGS__)
#define ON(stream, function, ...) WITH(stream, -1, function, __VA_ARGS__)
#define MUST(what)                                                                                 \
	do {                                                                                       \
		if ((what) != hipSuccess) {                                                        \
			printf("hip_calls: FAILED: %s: %d\n", #what, last);                        \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

template <typename T> __global__ void add(T *data, T value)
{
	data[threadIdx.x] += value;
}

static const size_t size = 64 * 1024;

static void devices()
{
	int number, value, least, greatest;
	size_t free, total;
	hipDeviceProp_t properties;
	char text[64];
	hipDevice_t device;
	unsigned flags;

	MUST(CALL(hipInit, 0));
	MUST(CALL(hipGetDeviceCount, &number));
	ARGS("*count=%d", number);
	MUST(WITH(nullptr, 0, hipSetDevice, 0));
	CALL(hipGetDevice, &value);
	WITH(nullptr, 0, hipGetDeviceProperties, &properties, 0);
	WITH(nullptr, 99, hipGetDeviceProperties, &properties, 99);
	MUST(WITH(nullptr, 0, hipDeviceGetAttribute, &value, hipDeviceAttributeWarpSize, 0));
	ARGS("*pi=%d, attr=hipDeviceAttributeWarpSize, deviceId=0", value);
	CALL(hipDeviceGet, &device, 0);
	WITH(nullptr, 0, hipDeviceGetName, text, sizeof(text), device);
	WITH(nullptr, 0, hipDeviceTotalMem, &total, device);
	WITH(nullptr, 0, hipDeviceComputeCapability, &value, &number, device);
	WITH(nullptr, 0, hipDeviceGetPCIBusId, text, sizeof(text), 0);
	CALL(hipDeviceGetByPCIBusId, &value, text);
	ARGS("%s=%d, pciBusId='%s'", last ? "device" : "*device", value, text);
	CALL(hipDeviceGetByPCIBusId, &value, nullptr);
	ARGS("device=%p, pciBusId=0x0", (void *)&value);
	MUST(CALL(hipMemGetInfo, &free, &total));
	ARGS("*free=%zu, *total=%zu", free, total);
	CALL(hipRuntimeGetVersion, &value);
	CALL(hipDriverGetVersion, &value);
	CALL(hipGetDeviceFlags, &flags);
	CALL(hipDeviceGetStreamPriorityRange, &least, &greatest);
	CALL(hipDeviceGetLimit, &total, hipLimitMallocHeapSize);
	WITH(nullptr, 99, hipSetDevice, 99);
	CALL(hipGetLastError);
	CALL(hipPeekAtLastError);
	record("hipGetErrorString", (long)hipGetErrorString(hipErrorInvalidValue), nullptr, -1);
	record("hipGetErrorName", (long)hipGetErrorName(hipErrorInvalidValue), nullptr, -1);
}

static void memory(hipStream_t stream)
{
	void *device, *other, *host, *pitched;
	hipPointerAttribute_t attributes;
	std::vector<char> pageable(size);
	unsigned flags;
	size_t pitch;

	MUST(CALL(hipMalloc, &device, size));
	ARGS("*ptr=%p, size=65536", device);
	MUST(CALL(hipMalloc, &other, size));
	CALL(hipMalloc, nullptr, size);
	ARGS("ptr=0x0, size=65536");
	MUST(CALL(hipHostMalloc, &host, size, 0));
	CALL(hipHostGetDevicePointer, &other, host, 0);
	CALL(hipHostGetFlags, &flags, host);
	CALL(hipMallocPitch, &pitched, &pitch, 100, 10);
	CALL(hipPointerGetAttributes, &attributes, device);
	MUST(CALL(hipMemcpy, device, pageable.data(), size, hipMemcpyHostToDevice));
	MUST(CALL(hipMemcpy, pageable.data(), device, size, hipMemcpyDeviceToHost));
	ON(stream, hipMemcpyAsync, device, host, size, hipMemcpyHostToDevice, stream);
	ARGS("dst=%p, src=%p, sizeBytes=65536, kind=hipMemcpyHostToDevice, stream=%p", device, host,
	     (void *)stream);
	ON(stream, hipMemcpyWithStream, host, device, size, hipMemcpyDeviceToHost, stream);
	CALL(hipMemcpyHtoD, device, host, size);
	CALL(hipMemcpyDtoH, host, device, size);
	ON(stream, hipMemcpyHtoDAsync, device, host, 100, stream);
	CALL(hipMemcpy, device, nullptr, size, hipMemcpyHostToDevice);
	CALL(hipMemset, device, 1, size);
	ON(stream, hipMemsetAsync, device, 2, size, stream);
	CALL(hipMemsetD8, device, 3, 100);
	CALL(hipMemsetD32, device, 4, 100);
	ON(stream, hipMemsetD16Async, device, 5, 100, stream);
	CALL(hipMemset2D, pitched, pitch, 0, 100, 10);
	CALL(hipMemcpy2D, pitched, pitch, host, 100, 100, 10, hipMemcpyHostToDevice);
	ON(stream, hipMemcpy2DAsync, host, 100, pitched, pitch, 100, 10, hipMemcpyDeviceToHost,
	   stream);
	CALL(hipMemPtrGetInfo, device, &pitch);
	ON(stream, hipStreamSynchronize, stream);
	CALL(hipFree, pitched);
	CALL(hipHostFree, host);
	CALL(hipFree, device);
	CALL(hipFree, nullptr);
}

static void streams(hipStream_t stream)
{
	hipStream_t other, third;
	hipEvent_t start, stop;
	unsigned flags;
	int priority;
	float ms;

	MUST(CALL(hipStreamCreateWithFlags, &other, hipStreamNonBlocking));
	MUST(CALL(hipStreamCreateWithPriority, &third, 0, 0));
	ON(third, hipStreamDestroy, third);
	CALL(hipEventCreate, &start);
	CALL(hipEventCreateWithFlags, &stop, hipEventDefault);
	ON(stream, hipEventRecord, start, stream);
	ON(other, hipStreamWaitEvent, other, start, 0);
	ON(other, hipStreamGetFlags, other, &flags);
	ON(other, hipStreamGetPriority, other, &priority);
	ON(stream, hipEventRecord, stop, stream);
	CALL(hipEventSynchronize, stop);
	CALL(hipEventQuery, stop);
	if (CALL(hipEventElapsedTime, &ms, start, stop) == hipSuccess)
		ARGS("*ms=%.17g, start=%p, stop=%p", ms, (void *)start, (void *)stop);
	ON(other, hipStreamQuery, other);
	ON(nullptr, hipStreamQuery, nullptr);
	CALL(hipEventDestroy, start);
	CALL(hipEventDestroy, stop);
	ON(other, hipStreamDestroy, other);
}

static void launches(hipStream_t stream, bool alone)
{
	float *data, value = 1;
	void *arguments[] = {&data, &value};
	hipFuncAttributes attributes;
	int blocks;

	MUST(CALL(hipMalloc, (void **)&data, 256 * sizeof(float)));
	add<float><<<1, 64, 0, stream>>>(data, 1);
	record("hipLaunchKernel", 0, stream, -1);
	launched(1, "3addIf");
	if (alone) { /* whoever rings the bell of a shared queue submits what others have written */
		add<int><<<dim3(2, 2, 2), dim3(4, 4, 4)>>>((int *)data, 1);
		record("hipLaunchKernel", 0, nullptr, -1);
		launched(1, "3addIi");
		ARGS("function_address=?, numBlocks.x=2, numBlocks.y=2, numBlocks.z=2, "
		     "dimBlocks.x=4, "
		     "dimBlocks.y=4, dimBlocks.z=4, args=?, sharedMemBytes=0, stream=0x0");
	}
	MUST(ON(stream, hipLaunchKernel, (const void *)add<float>, dim3(1), dim3(64), arguments, 0,
		stream));
	launched(1, "3addIf");
	MUST(ON(stream, hipExtLaunchKernel, (const void *)add<float>, dim3(1), dim3(64), arguments,
		0, stream, nullptr, nullptr, 0));
	launched(1, "3addIf");
	ON(nullptr, hipLaunchKernel, nullptr, dim3(1), dim3(64), arguments, 0, nullptr);
	CALL(hipFuncGetAttributes, &attributes, (const void *)add<float>);
	CALL(hipOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, (const void *)add<float>, 64,
	     0);
	CALL(hipDeviceSynchronize);
	CALL(hipFree, data);
}

static void graphs(hipStream_t stream)
{
	hipStreamCaptureStatus status;
	hipGraphExec_t executable;
	hipGraph_t graph;
	size_t count;
	float *data;

	MUST(CALL(hipMalloc, (void **)&data, 256 * sizeof(float)));
	MUST(ON(stream, hipStreamBeginCapture, stream, hipStreamCaptureModeThreadLocal));
	ON(stream, hipStreamIsCapturing, stream, &status);
	ARGS("stream=%p, *pCaptureStatus=hipStreamCaptureStatusActive", (void *)stream);
	add<float><<<1, 64, 0, stream>>>(data, 1);
	record("hipLaunchKernel", 0, stream, -1);
	add<float><<<1, 64, 0, stream>>>(data, 2);
	record("hipLaunchKernel", 0, stream, -1);
	MUST(ON(stream, hipStreamEndCapture, stream, &graph));
	CALL(hipGraphGetNodes, graph, nullptr, &count);
	MUST(CALL(hipGraphInstantiate, &executable, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 3; i++) {
		MUST(ON(stream, hipGraphLaunch, executable, stream));
		launched(2, "3addIf");
	}
	ON(stream, hipStreamSynchronize, stream);
	CALL(hipGraphExecDestroy, executable);
	CALL(hipGraphDestroy, graph);
	CALL(hipFree, data);
}

static void modules()
{
	hipFunction_t function;
	hipModule_t module;

	CALL(hipModuleLoad, &module, "/nonexistent/file");
	ARGS("module=%p, fname='/nonexistent/file'", (void *)&module);
	CALL(hipModuleLoad, &module, nullptr);
	ARGS("module=%p, fname=0x0", (void *)&module);
	CALL(hipModuleGetFunction, &function, nullptr, "name");
#if HIP_VERSION_MAJOR < 6 /* refused before the text is looked at, which is not there */
	CALL(hipModuleGetFunction, &function, nullptr, (const char *)16);
	ARGS("function=%p, module=0x0, kname=0x10", (void *)&function);
#endif
	/* longer than is kept */
	CALL(hipModuleGetFunction, &function, nullptr, std::string(1000, 'x').c_str());
	ARGS("function=%p, module=0x0, kname='%s'...", (void *)&function,
	     std::string(256, 'x').c_str());
	CALL(hipModuleUnload, nullptr);
}

/* As Triton and others do: what HIP finds is called. */
static void looked_up()
{
#if HIP_VERSION_MAJOR >= 6
	hipError_t (*allocate)(void **, size_t);
	hipError_t (*release)(void *);
	hipDriverProcAddressQueryResult status;
	void *pointer;

	MUST(CALL(hipGetProcAddress, "hipMalloc", (void **)&allocate, HIP_VERSION, 0, &status));
	MUST(CALL(hipGetProcAddress, "hipFree", (void **)&release, HIP_VERSION, 0, nullptr));
	CALL(hipGetProcAddress, "hipNonesuch", &pointer, HIP_VERSION, 0, &status);
	record("hipMalloc", allocate(&pointer, size), nullptr, -1);
	ARGS("*ptr=%p, size=65536", pointer);
	record("hipFree", release(pointer), nullptr, -1);
	ARGS("ptr=%p", pointer);
#endif
}

static void storm(int calls)
{
	int device;

	for (int i = 0; i < calls; i++)
		CALL(hipGetDevice, &device);
}

static void run(bool alone)
{
	hipStream_t stream;

	tid = (int)syscall(SYS_gettid);
	devices();
	MUST(CALL(hipStreamCreate, &stream));
	memory(stream);
	streams(stream);
	launches(stream, alone);
	if (alone) /* 7.2.4 crashes now and then when other threads use HIP meanwhile */
		graphs(stream);
	modules();
	looked_up();
	storm(1000);
	ON(stream, hipStreamDestroy, stream);
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 1;
	static char buffer[1 << 20];
	std::vector<std::thread> threads;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	for (int i = 1; i < count; i++)
		threads.emplace_back(run, false);
	if (count > 1)
		run(false);
	for (auto &thread : threads)
		thread.join();
	run(true);
	printf("hip_calls: ok\n");
	return 0;
}
