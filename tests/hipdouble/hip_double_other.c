/* SPDX-License-Identifier: MIT */
/*
 * Layouts of HIP's profiler that no release has, by their names (HIP_DOUBLE_LAYOUT: A, B, C). They say
 * that they work, and record nothing: who takes them for layout D has not looked.
 */
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define A      1
#define B      2
#define C      3

#if HIP_DOUBLE_LAYOUT == A
EXPORT int hipClrProfilerEnable(void);
EXPORT int hipClrProfilerDisable(void);
EXPORT int hipClrProfilerGetRecords(const void **records, size_t *count);
EXPORT int hipClrProfilerReset(void);

int hipClrProfilerEnable(void)
{
	return 0;
}

int hipClrProfilerDisable(void)
{
	return 0;
}

int hipClrProfilerGetRecords(const void **records, size_t *count)
{
	*records = NULL;
	*count = 0;
	return 0;
}

int hipClrProfilerReset(void)
{
	return 0;
}
#else
EXPORT int hipProfilerEnableExt(void);
EXPORT int hipProfilerDisableExt(void);
EXPORT int hipProfilerResetExt(void);

int hipProfilerEnableExt(void)
{
	return 0;
}

int hipProfilerDisableExt(void)
{
	return 0;
}

int hipProfilerResetExt(void)
{
	return 0;
}
#	if HIP_DOUBLE_LAYOUT == B
EXPORT int hipProfilerGetRecordsExt(const void **records, size_t *count);

int hipProfilerGetRecordsExt(const void **records, size_t *count)
{
	*records = NULL;
	*count = 0;
	return 0;
}
#	else
EXPORT int hipProfilerGetRecordsExt(const void *const **chunks, size_t *count, size_t *chunk_size,
				    size_t *total);
EXPORT int hipProfilerRegisterChunkCallbackExt(void *callback, void *arg);
EXPORT int hipProfilerWriteJsonExt(const char *path);

int hipProfilerGetRecordsExt(const void *const **chunks, size_t *count, size_t *chunk_size,
			     size_t *total)
{
	*chunks = NULL;
	*count = *total = 0;
	*chunk_size = 10000;
	return 0;
}

int hipProfilerRegisterChunkCallbackExt(void *callback, void *arg)
{
	(void)callback;
	(void)arg;
	return 0;
}

int hipProfilerWriteJsonExt(const char *path)
{
	(void)path;
	return 0;
}
#	endif
#endif
