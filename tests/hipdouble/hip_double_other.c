/* SPDX-License-Identifier: MIT */
/*
 * Layouts of HIP's profiler that no release has, by their names (HIP_DOUBLE_LAYOUT: A, B, C). They say
 * that they work, and record nothing: who takes them for layout D has not looked.
 */
#define EXPORT __attribute__((visibility("default")))
#define A      1
#define B      2
#define C      3

/* All that rtl looks at are the names. */
#define FUNCTION(name)                                                                             \
	EXPORT int name(void);                                                                     \
	int name(void)                                                                             \
	{                                                                                          \
		return 0;                                                                          \
	}

#if HIP_DOUBLE_LAYOUT == A
FUNCTION(hipClrProfilerEnable)
FUNCTION(hipClrProfilerDisable)
FUNCTION(hipClrProfilerGetRecords)
FUNCTION(hipClrProfilerReset)
#else
FUNCTION(hipProfilerEnableExt)
FUNCTION(hipProfilerDisableExt)
FUNCTION(hipProfilerResetExt)
FUNCTION(hipProfilerGetRecordsExt)
#	if HIP_DOUBLE_LAYOUT == C
FUNCTION(hipProfilerRegisterChunkCallbackExt)
FUNCTION(hipProfilerWriteJsonExt)
#	endif
#endif
