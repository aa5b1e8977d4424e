/* SPDX-License-Identifier: MIT */
/* hip_last [SECONDS]: launches kernels that are numbered by their blocks for so long, asks for a snapshot while nothing
 * is under way and a range is open, and does so again. $RTL and $SNAPSHOT say how and to where. */
#define PROGRAM "hip_last"
#include "../../programs/check.h"
#include <chrono>
#include <dlfcn.h>
#include <hip/hip_runtime.h>
#include <string>

static unsigned last_number = 0;

extern "C" __global__ void numbered(unsigned *data)
{
	if (data)
		data[0] = 1;
}

static void launch_for(double seconds)
{
	using clock = std::chrono::steady_clock;
	const auto end = clock::now() + std::chrono::duration<double>(seconds);

	while (clock::now() < end) {
		for (int i = 0; i < 20; i++)
			numbered<<<++last_number, 64>>>(nullptr);
		CHECK_HIP(hipDeviceSynchronize());
	}
}

int main(int argc, char **argv)
{
	const long seconds = number_arg(argc, argv, 1, 3);
	int (*range_push)(const char *), (*range_pop)();

	*reinterpret_cast<void **>(&range_push) = dlsym(RTLD_DEFAULT, "roctxRangePushA");
	*reinterpret_cast<void **>(&range_pop) = dlsym(RTLD_DEFAULT, "roctxRangePop");
	if (!range_push || !range_pop || !getenv("RTL") || !getenv("SNAPSHOT")) {
		printf("%s: SKIPPED: it needs roctx, RTL and SNAPSHOT\n", PROGRAM);
		return EXIT_SKIPPED;
	}
	numbered<<<++last_number, 64>>>(nullptr); /* the first takes its time */
	CHECK_HIP(hipDeviceSynchronize());
	launch_for(seconds);
	range_push("open now");
	printf("launched %u\n", last_number);
	fflush(stdout);
	const std::string ask = "unset LD_PRELOAD HSA_TOOLS_LIB; exec \"$RTL\" snapshot -o "
				"\"$SNAPSHOT\" \"$RTL_COLLECTOR\"";
	CHECK(!system(ask.c_str()));
	range_pop();
	launch_for(seconds);
	return finish("launched=%u", last_number);
}
