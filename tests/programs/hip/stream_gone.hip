/* SPDX-License-Identifier: MIT */
/* stream_gone [ROUNDS]: in each round a kernel on the null stream, which a stream's first work must wait for; then the
 * stream is waited for, and is destroyed. */
#define PROGRAM "stream_gone"
#include "../check.h"
#include <hip/hip_runtime.h>

extern "C" __global__ void gone_kernel(float *data)
{
	if (data)
		data[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
	const long rounds = number_arg(argc, argv, 1, 100);

	for (long i = 0; i < rounds; i++) {
		hipStream_t stream;

		CHECK_HIP(hipStreamCreate(&stream));
		gone_kernel<<<1, 64>>>(nullptr);
		gone_kernel<<<1, 64, 0, stream>>>(nullptr);
		CHECK_HIP(hipStreamSynchronize(stream));
		CHECK_HIP(hipStreamDestroy(stream));
	}
	return finish("rounds=%ld", rounds);
}
