/* SPDX-License-Identifier: MIT */
/* hip_missing: calls a function that HIP 5.2 does not have. */
#include <stdint.h>
#include <stdio.h>

int32_t hipStreamGetId(void *stream, unsigned long long *id) __attribute__((weak));

int main(void)
{
	unsigned long long id;

	setbuf(stdout, NULL);
	if (!hipStreamGetId) {
		printf("hip_missing: SKIPPED: not preloaded\n");
		return 77;
	}
	printf("hip_missing: calls it\n");
	hipStreamGetId(NULL, &id);
	printf("hip_missing: FAILED: the call returned\n");
	return 1;
}
