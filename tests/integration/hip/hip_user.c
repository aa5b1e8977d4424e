/* SPDX-License-Identifier: MIT */
/* A library that is linked to HIP: hip_user_run calls it and says what it called. */
#include <stdint.h>
#include <stdio.h>

int32_t hipGetDeviceCount(int32_t *count);
int32_t hipSetDevice(int32_t device);

__attribute__((visibility("default"))) int hip_user_run(void);

int hip_user_run(void)
{
	int32_t count = 0, result = hipGetDeviceCount(&count);

	printf("call hipGetDeviceCount %d 0x0 -1\n", result);
	printf("call hipSetDevice %d 0x0 0\n", hipSetDevice(0));
	return result || count < 1;
}
