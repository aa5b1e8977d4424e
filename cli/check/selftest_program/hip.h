/* SPDX-License-Identifier: MIT */
/* The HIP runtime that the loader finds, opened by name, so that one program runs with ROCm 5 to 7. Each call is
 * counted by its function: what a trace must have. A call that fails ends the program. Any thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef void *hip_handle; /* streams, events, modules, functions, graphs */

/* Of hip_runtime_api.h: the same in all versions. */
enum hip_copy_kind { HIP_TO_GPU = 1, HIP_FROM_GPU = 2 };

#define HIP_FUNCTIONS(X)                                                                           \
	X(hipDeviceSynchronize, (void))                                                            \
	X(hipEventCreate, (hip_handle * event))                                                    \
	X(hipEventElapsedTime, (float *ms, hip_handle start, hip_handle stop))                     \
	X(hipEventRecord, (hip_handle event, hip_handle stream))                                   \
	X(hipEventSynchronize, (hip_handle event))                                                 \
	X(hipFree, (void *memory))                                                                 \
	X(hipGetDeviceCount, (int *count))                                                         \
	X(hipGraphInstantiate,                                                                     \
	  (hip_handle * exec, hip_handle graph, hip_handle * node, char *log, size_t size))        \
	X(hipGraphLaunch, (hip_handle exec, hip_handle stream))                                    \
	X(hipHostFree, (void *memory))                                                             \
	X(hipHostMalloc, (void **memory, size_t size, unsigned flags))                             \
	X(hipMalloc, (void **memory, size_t size))                                                 \
	X(hipMemcpyAsync, (void *to, const void *from, size_t size, int kind, hip_handle stream))  \
	X(hipMemset, (void *memory, int value, size_t size))                                       \
	X(hipModuleGetFunction, (hip_handle * function, hip_handle module, const char *name))      \
	X(hipModuleLaunchKernel,                                                                   \
	  (hip_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x,     \
	   unsigned y, unsigned z, unsigned shared, hip_handle stream, void **arguments,           \
	   void **extra))                                                                          \
	X(hipModuleLoad, (hip_handle * module, const char *file))                                  \
	X(hipRuntimeGetVersion, (int *version))                                                    \
	X(hipStreamBeginCapture, (hip_handle stream, int mode))                                    \
	X(hipStreamCreate, (hip_handle * stream))                                                  \
	X(hipStreamEndCapture, (hip_handle stream, hip_handle * graph))                            \
	X(hipStreamSynchronize, (hip_handle stream))

enum hip_at {
#define HIP_AT(name, parameters) AT_##name,
	HIP_FUNCTIONS(HIP_AT)
#undef HIP_AT
		AT_hipExtModuleLaunchKernel,
	HIP_FUNCTION_COUNT,
};

struct hip {
	void *library;
	const char *file; /* its name, of which a version is the end */
#define HIP_POINTER(name, parameters) int(*name) parameters;
	HIP_FUNCTIONS(HIP_POINTER)
#undef HIP_POINTER
	/* With work-items for the grid, and events that the launch records; NULL: it is not there. */
	int (*hipExtModuleLaunchKernel)(hip_handle function, unsigned grid_x, unsigned grid_y,
					unsigned grid_z, unsigned x, unsigned y, unsigned z,
					size_t shared, hip_handle stream, void **arguments,
					void **extra, hip_handle start, hip_handle stop,
					unsigned flags);
};

extern struct hip hip;

/** Opens it, or ends the program. */
void hip_open(void);
/** Counts a call; what it returned: other than 0 ends the program with a line. */
void hip_check(enum hip_at at, int error);
/** Prints "api NAME CALLS" for each function that was called. */
void hip_print_calls(void);

#define HIP(name, ...) hip_check(AT_##name, hip.name(__VA_ARGS__))

/** "failed WHY" on standard output, and the end of the program. */
_Noreturn void selftest_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Tells what runtime and GPUs there are, and compiles the kernels into a file: about.c. */
void selftest_about(const char *kernels);
