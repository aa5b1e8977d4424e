// SPDX-License-Identifier: MIT
//
// A HIP program on the software GPU: copies, fills, a kernel that has a host function
// (smoke_kernels.c), events. Exit status 0 if all the results are right.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		hipError_t error = (call);                                                         \
		if (error != hipSuccess) {                                                         \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error));              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

extern "C" __global__ void smoke_add(int *to, const int *from, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		to[i] += from[i];
}

int main()
{
	const int count = 1 << 16, launches = 10;
	const size_t bytes = count * sizeof(int);
	std::vector<int> host(count), back(count);
	int *to, *from;
	hipEvent_t begin, end;
	float ms = 0;

	for (int i = 0; i < count; i++)
		host[i] = i;
	CHECK(hipMalloc(&to, bytes));
	CHECK(hipMalloc(&from, bytes));
	CHECK(hipMemcpy(to, host.data(), bytes, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(from, to, bytes, hipMemcpyDeviceToDevice));
	CHECK(hipMemset(to, 0, bytes));
	CHECK(hipEventCreate(&begin));
	CHECK(hipEventCreate(&end));
	CHECK(hipEventRecord(begin, 0));
	for (int i = 0; i < launches; i++)
		smoke_add<<<count / 256, 256>>>(to, from, count);
	CHECK(hipEventRecord(end, 0));
	CHECK(hipMemcpy(back.data(), to, bytes, hipMemcpyDeviceToHost));
	CHECK(hipEventElapsedTime(&ms, begin, end));
	for (int i = 0; i < count; i++)
		if (back[i] != launches * i) {
			fprintf(stderr, "[%d] is %d\n", i, back[i]);
			return 1;
		}
	// Each launch takes SOFTGPU_KERNEL_NS (2 us) at least; an hour would be a wrong clock.
	if (ms < launches * 0.002f || ms > 3.6e6f) {
		fprintf(stderr, "%g ms\n", ms);
		return 1;
	}
	printf("%d launches: %g ms\n", launches, ms);
	return 0;
}
