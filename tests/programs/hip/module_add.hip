/* SPDX-License-Identifier: MIT */
/* module_add.hip: a code object for module_launch. Made like its sibling, down to the length of the names, so that its
 * kernel gets the address of the other's once that is unloaded. */
#include <hip/hip_runtime.h>

__global__ void module_add(unsigned *data, unsigned n, unsigned value)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] += value;
}
