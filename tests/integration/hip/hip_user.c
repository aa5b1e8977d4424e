/* SPDX-License-Identifier: MIT */
/* A library that is linked to HIP: hip_user_run calls it and says what it called. */
#include <stdint.h>
#include <stdio.h>

int32_t hipGetDeviceCount(int32_t *count);
int32_t hipSetDevice(int32_t device);
int32_t hipMalloc(void **memory, size_t size);
int32_t hipMemset(void *memory, int value, size_t size);

__attribute__((visibility("default"))) int hip_user_run(void);
/* It makes the GPU do something, too. */
__attribute__((visibility("default"))) int hip_user_works;

int hip_user_run(void)
{
	void *memory;
	int32_t count = 0, result = hipGetDeviceCount(&count);

	printf("call hipGetDeviceCount %d 0x0 -1\n", result);
	printf("call hipSetDevice %d 0x0 0\n", hipSetDevice(0));
	if (hip_user_works && (hipMalloc(&memory, 4096) || hipMemset(memory, 1, 4096)))
		return 1;
	return result || count < 1;
}
