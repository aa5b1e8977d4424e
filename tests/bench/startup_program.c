/* SPDX-License-Identifier: MIT */
/* startup_program [hsa]: does nothing, or initialises the HSA runtime. Prints CLOCK_MONOTONIC in ns at the beginning of
 * main and at its end. */
#include <hsa/hsa.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static long long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

int main(int argc, char **argv)
{
	const long long begin = now_ns();

	if (argc > 1 && hsa_init()) {
		fprintf(stderr, "hsa_init failed\n");
		return 1;
	}
	printf("%lld %lld\n", begin, now_ns());
	return 0;
}
