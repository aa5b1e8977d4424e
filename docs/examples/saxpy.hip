// SPDX-License-Identifier: MIT
// saxpy [STEPS]: y = a * x + y on the GPU, some steps.
//   hipcc -O2 --offload-arch=gfx906 -o saxpy saxpy.hip
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		hipError_t error = (call);                                                         \
		if (error != hipSuccess) {                                                         \
			fprintf(stderr, "saxpy: %s: %s\n", #call, hipGetErrorString(error));       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
	const int n = 1 << 20, steps = argc > 1 ? atoi(argv[1]) : 10;
	const size_t bytes = n * sizeof(float);
	std::vector<float> x(n, 1.0f), y(n, 2.0f);
	float *gpu_x, *gpu_y;

	CHECK(hipMalloc(&gpu_x, bytes));
	CHECK(hipMalloc(&gpu_y, bytes));
	CHECK(hipMemcpy(gpu_x, x.data(), bytes, hipMemcpyHostToDevice));
	CHECK(hipMemcpy(gpu_y, y.data(), bytes, hipMemcpyHostToDevice));
	for (int step = 0; step < steps; step++) {
		saxpy<<<(n + 255) / 256, 256>>>(n, 0.5f, gpu_x, gpu_y);
		CHECK(hipGetLastError());
		CHECK(hipDeviceSynchronize());
	}
	CHECK(hipMemcpy(y.data(), gpu_y, bytes, hipMemcpyDeviceToHost));
	CHECK(hipFree(gpu_x));
	CHECK(hipFree(gpu_y));
	printf("saxpy: %d steps, y[0] = %g\n", steps, y[0]);
	return 0;
}
