/* SPDX-License-Identifier: MIT */
/* scopes [THREADS] [LAUNCHES]: threads that launch kernels within scopes of rtl (rtl/scope.h), as a
 * layer above would open one for each call: the grid has as many blocks as the correlation id, so
 * that a trace can be checked by itself. Between them, kernels outside of any scope. Then copies
 * likewise, of as many bytes more than 1 MiB. Without rtl in
 * the process it does the same and has no scopes. */
#include <rtl/stub.h>

#define PROGRAM "scopes"
#include "../check.h"
#include <hip/hip_runtime.h>
#include <thread>
#include <vector>

/* Enough for an engine to be asked. */
static constexpr size_t copy_bytes = 1 << 20;

extern "C" __global__ void scoped(unsigned *data)
{
	if (data)
		data[0] = 1;
}

extern "C" __global__ void unscoped(unsigned *data)
{
	if (data)
		data[0] = 2;
}

static uint64_t place(const char *name)
{
	struct rtl_tracepoint_desc desc = {};
	uint64_t uid = 0;

	desc.struct_size = sizeof(desc);
	desc.kind = "call";
	desc.name = name;
	(void)rtl_tracepoint_register(&desc, &uid);
	return uid;
}

static void launches(unsigned thread, unsigned count, uint64_t range, uint64_t call)
{
	hipStream_t stream;

	CHECK_HIP(hipStreamCreate(&stream));
	for (unsigned i = 0; i < count; i++) {
		const unsigned number = 1 + thread * count + i;
		/* An outer scope without a correlation of its own, as a range has it. */
		const uint32_t outer = rtl_scope_push(range, 7, 0);
		const uint32_t depth = rtl_scope_push(call, number, number);

		scoped<<<number, 64, 0, stream>>>(nullptr);
		rtl_scope_pop(depth);
		rtl_scope_pop(outer);
		unscoped<<<1, 64, 0, stream>>>(nullptr);
	}
	CHECK_HIP(hipStreamSynchronize(stream));
	CHECK_HIP(hipStreamDestroy(stream));
}

static void copies(unsigned thread, unsigned count, uint64_t call)
{
	unsigned char *host, *gpu;

	CHECK_HIP(hipHostMalloc(reinterpret_cast<void **>(&host), copy_bytes + 4096, 0));
	CHECK_HIP(hipMalloc(reinterpret_cast<void **>(&gpu), copy_bytes + 4096));
	for (unsigned i = 0; i < count; i++) {
		const unsigned number = 1 + thread * count + i;
		const uint32_t depth = rtl_scope_push(call, number, number);

		CHECK_HIP(hipMemcpy(gpu, host, copy_bytes + number, hipMemcpyHostToDevice));
		rtl_scope_pop(depth);
		CHECK_HIP(hipMemcpy(gpu, host, copy_bytes, hipMemcpyHostToDevice));
	}
	CHECK_HIP(hipFree(gpu));
	CHECK_HIP(hipHostFree(host));
}

int main(int argc, char **argv)
{
	const unsigned threads = number_arg(argc, argv, 1, 4);
	const unsigned count = number_arg(argc, argv, 2, 50);
	std::vector<std::thread> all;

	/* The interceptor comes with the runtime. */
	CHECK_HIP(hipInit(0));
	CHECK_HIP(hipDeviceSynchronize());
	(void)rtl_stub_available();
	const uint64_t range = place("range"), call = place("launch");

	for (unsigned i = 0; i < threads; i++)
		all.emplace_back(launches, i, count, range, call);
	for (std::thread &thread : all)
		thread.join();
	all.clear();
	for (unsigned i = 0; i < threads; i++)
		all.emplace_back(copies, i, count, call);
	for (std::thread &thread : all)
		thread.join();
	return finish("threads=%u launches=%u", threads, 2 * threads * count);
}
