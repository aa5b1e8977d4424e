/* SPDX-License-Identifier: MIT */
/* copies_behind: copies to and from the GPU, of memory that is pinned and that is not, small and in pieces, behind
 * kernels and not, waited for by themselves or by their stream; two that the processor does. */
#define PROGRAM "copies_behind"
#include "../check.h"
#include <hip/hip_runtime.h>
#include <vector>

static constexpr size_t most = 8 << 20;

extern "C" __global__ void behind_kernel(float *data)
{
	if (data)
		data[threadIdx.x] = 1;
}

static void copy(char *host, char *gpu, size_t size, int way, hipStream_t stream)
{
	void *const dst = way & 1 ? host : gpu, *const src = way & 1 ? gpu : host;
	const hipMemcpyKind kind = way & 1 ? hipMemcpyDeviceToHost : hipMemcpyHostToDevice;

	if (way & 2)
		behind_kernel<<<1, 64, 0, way & 4 ? stream : nullptr>>>(nullptr);
	if (way & 4)
		CHECK_HIP(hipMemcpyAsync(dst, src, size, kind, stream));
	else
		CHECK_HIP(hipMemcpy(dst, src, size, kind));
	CHECK_HIP(hipDeviceSynchronize());
}

int main()
{
	std::vector<char> memory(most);
	hipStream_t stream;
	char *gpu, *pinned;

	CHECK_HIP(hipStreamCreate(&stream));
	CHECK_HIP(hipMalloc(reinterpret_cast<void **>(&gpu), most));
	CHECK_HIP(hipHostMalloc(reinterpret_cast<void **>(&pinned), most, 0));
	for (size_t size : {size_t{65536}, most})
		for (char *host : {memory.data(), pinned})
			for (int way = 0; way < 8; way++)
				copy(host, gpu, size, way, stream);
	CHECK_HIP(hipMemcpy(pinned, memory.data(), most, hipMemcpyDefault));
	CHECK_HIP(hipMemcpy(memory.data(), pinned, most, hipMemcpyDefault));
	return finish("copies=%d", 34);
}
