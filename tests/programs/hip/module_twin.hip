/* SPDX-License-Identifier: MIT */
/* module_twin.hip: a code object for module_twins, with another kernel of module_add's name. */
#include <hip/hip_runtime.h>

__global__ void module_add(unsigned *data, unsigned n, unsigned value)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] += value + (i ^ value) * 3;
}
