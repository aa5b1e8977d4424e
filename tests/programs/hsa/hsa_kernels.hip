/* SPDX-License-Identifier: MIT */
/* hsa_kernels.hip: the kernels of the programs that use HSA itself. Built as a code object for each GPU, not bundled.
 * They take their place from fixed workgroups of 64, so that the programs need not know what the compiler hides behind
 * the arguments. */
#include <hip/hip_runtime.h>

static __device__ unsigned work_item()
{
	return blockIdx.x * 64 + threadIdx.x;
}

extern "C" __global__ void hsa_add_one(unsigned *data, unsigned n)
{
	unsigned i = work_item();

	if (i < n)
		atomicAdd(&data[i], 1);
}

namespace hsa_test
{

template <unsigned VALUE> __global__ void add(unsigned *data, unsigned n)
{
	unsigned i = work_item();

	if (i < n)
		atomicAdd(&data[i], VALUE);
}

template __global__ void add<2>(unsigned *data, unsigned n);

} // namespace hsa_test

/* Spins until *value is 0, then sets *result to 1; gives up after a while with 2. */
extern "C" __global__ void spin_wait(const long *value, unsigned *result)
{
	unsigned tries = 0;

	while (__atomic_load_n(value, __ATOMIC_ACQUIRE) != 0 && ++tries < (1u << 26))
		__builtin_amdgcn_s_sleep(1);
	if (work_item() == 0)
		*result = tries < (1u << 26) ? 1 : 2;
}

extern "C" __global__ void spin_set(unsigned *touched)
{
	if (work_item() == 0)
		++*touched;
}
