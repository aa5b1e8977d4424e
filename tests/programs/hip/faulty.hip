/* SPDX-License-Identifier: MIT */
/* faulty [wait|leave|leave_at_once]: 200 dispatches of a kernel that is good; one that is bad, if the GPU makes it so
 * (SOFTGPU_FAULT=...:bad_kernel), on a stream of its own; 100 more good ones beside it. Then it waits for all, or
 * leaves and lets the process end around them, by exit or _exit. Before the bad one it waits for the file that
 * FAULTY_GO names to be there, so that a tracer can have got round to the good ones. */
#define PROGRAM      "faulty"
#define HANG_GUARD_S 300 /* it is there to hang */
#include "../check.h"
#include <hip/hip_runtime.h>
#include <string.h>

extern "C" __global__ void good_kernel(unsigned *data)
{
	if (data)
		data[0] = 1;
}

extern "C" __global__ void bad_kernel(unsigned *data)
{
	if (data)
		data[0] = 2;
}

static void good(hipStream_t stream, int count)
{
	for (int i = 0; i < count; i++)
		good_kernel<<<1, 64, 0, stream>>>(nullptr);
	CHECK_HIP(hipStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	const bool at_once = argc > 1 && !strcmp(argv[1], "leave_at_once");
	const bool leave = at_once || (argc > 1 && !strcmp(argv[1], "leave"));
	const char *go = getenv("FAULTY_GO");
	hipStream_t first, second;

	CHECK_HIP(hipStreamCreate(&first));
	CHECK_HIP(hipStreamCreate(&second));
	good(first, 200);
	while (go && access(go, F_OK))
		usleep(1000);
	/* A kernel on the second stream's own queue before it, so that the queue is there. */
	good(second, 1);
	bad_kernel<<<1, 64, 0, second>>>(nullptr);
	good(first, 100);
	if (!leave)
		CHECK_HIP(hipDeviceSynchronize());
	finish("%s", leave ? "leaves" : "waited");
	if (at_once)
		_exit(0);
	if (leave)
		exit(0);
	return 0;
}
