/* SPDX-License-Identifier: MIT */
/* vector_add [N] [REPEATS]: adds two vectors of N floats on the GPU, REPEATS times. */
#define PROGRAM "vector_add"
#include "../check.h"
#include <hip/hip_runtime.h>
#include <vector>

extern "C" __global__ void vector_add(const float *a, const float *b, float *sum, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		sum[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
	const int n = number_arg(argc, argv, 1, 1 << 16);
	const int repeats = number_arg(argc, argv, 2, 10);
	const size_t size = n * sizeof(float);
	std::vector<float> a(n), b(n), sum(n);
	float *gpu_a, *gpu_b, *gpu_sum;

	for (int i = 0; i < n; i++) {
		a[i] = i;
		b[i] = 2 * i + 1;
	}
	CHECK_HIP(hipMalloc(&gpu_a, size));
	CHECK_HIP(hipMalloc(&gpu_b, size));
	CHECK_HIP(hipMalloc(&gpu_sum, size));
	CHECK_HIP(hipMemcpy(gpu_a, a.data(), size, hipMemcpyHostToDevice));
	CHECK_HIP(hipMemcpy(gpu_b, b.data(), size, hipMemcpyHostToDevice));
	for (int i = 0; i < repeats; i++)
		vector_add<<<(n + 255) / 256, 256>>>(gpu_a, gpu_b, gpu_sum, n);
	CHECK_HIP(hipGetLastError());
	CHECK_HIP(hipDeviceSynchronize());
	CHECK_HIP(hipMemcpy(sum.data(), gpu_sum, size, hipMemcpyDeviceToHost));

	for (int i = 0; kernels_run() && repeats && i < n; i++)
		if (sum[i] != a[i] + b[i])
			fail("element %d differs: %g instead of %g", i, sum[i], a[i] + b[i]);
	CHECK_HIP(hipFree(gpu_a));
	CHECK_HIP(hipFree(gpu_b));
	CHECK_HIP(hipFree(gpu_sum));
	return finish("n=%d repeats=%d", n, repeats);
}
