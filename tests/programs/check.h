/* SPDX-License-Identifier: MIT */
/* check.h: how the test programs check themselves and say what came of it.
 *
 * A program defines PROGRAM, its name, before it includes this, and links to nothing for it. It ends with `return
 * finish(...)`, which prints the one result line, or earlier in fail(), which prints what differed. Any thread may call
 * anything here. One that hangs is ended, see hang_guard.h. */
#pragma once

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#ifdef __HIP__
#	include <hip/hip_version.h>
#endif

#include "hang_guard.h"

#define EXIT_SKIPPED 77 /* what CTest takes for "could not run here" */

#define CHECK_USED   __attribute__((unused))
#define CHECK_PRINTF __attribute__((format(printf, 1, 2)))

/* Whether kernels have an effect here: on a GPU they do, on the software GPU only as host functions of the library that
 * SOFTGPU_KERNELS names. */
static inline bool kernels_run(void)
{
	const char *host_kernels = getenv("SOFTGPU_KERNELS");

	if (host_kernels && *host_kernels)
		return true;
	return access("/dev/kfd", F_OK) == 0;
}

/* Ends the program with status 1. _exit: other threads may be in the middle of HIP calls. */
CHECK_USED CHECK_PRINTF __attribute__((noreturn)) static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	flockfile(stdout);
	printf("%s: FAILED: ", PROGRAM);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
	va_end(args);
	_exit(1);
}

/* To be called before the process ends. HIP 7 (7.2.4) crashes at times when it ends while a thread of its own still
 * handles the last completions, for which a program cannot wait. The software GPU can (tests/rocm7/settle.cpp). */
static inline void settle(void)
{
#if defined(HIP_VERSION) && HIP_VERSION >= 70000000
	void (*const settle_now)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "rocm7_settle");

	if (settle_now)
		settle_now();
	else
		usleep(100000);
#endif
}

CHECK_USED static void report_arguments(const char *format, va_list args)
{
	flockfile(stdout);
	printf("%s: ok ", PROGRAM);
	vprintf(format, args);
	puts(kernels_run() ? "" : " (results of kernels not checked: they do not run here)");
	fflush(stdout);
	funlockfile(stdout);
}

/* Prints the result line, "NAME: ok ...". */
CHECK_USED CHECK_PRINTF static void report(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report_arguments(format, args);
	va_end(args);
}

/* Prints the result line, settles, and returns the program's status. */
CHECK_USED CHECK_PRINTF static int finish(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report_arguments(format, args);
	va_end(args);
	settle();
	return 0;
}

/* The number in argv[index], or the default where there is none. */
CHECK_USED static long number_arg(int argc, char **argv, int index, long by_default)
{
	char *end;
	long value;

	if (index >= argc)
		return by_default;
	value = strtol(argv[index], &end, 0);
	if (*end || end == argv[index] || value < 0)
		fail("argument %d is not a number: %s", index, argv[index]);
	return value;
}

CHECK_USED static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#ifdef __HIP__
/* A function, such as of roctx, without which the program is skipped. */
template <typename T> static void find_or_skip(T &function, const char *name)
{
	*reinterpret_cast<void **>(&function) = dlsym(RTLD_DEFAULT, name);
	if (!function) {
		printf("%s: SKIPPED: there is no %s\n", PROGRAM, name);
		exit(EXIT_SKIPPED);
	}
}
#endif

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                 \
	} while (0)

#define CHECK_HIP(call)                                                                            \
	do {                                                                                       \
		hipError_t error_ = (call);                                                        \
		if (error_ != hipSuccess)                                                          \
			fail("%s:%d: %s: %s", __FILE__, __LINE__, #call,                           \
			     hipGetErrorString(error_));                                           \
	} while (0)

#define CHECK_HSA(call)                                                                            \
	do {                                                                                       \
		hsa_status_t status_ = (call);                                                     \
		const char *text_ = "?";                                                           \
		if (status_ != HSA_STATUS_SUCCESS) {                                               \
			hsa_status_string(status_, &text_);                                        \
			fail("%s:%d: %s: %s", __FILE__, __LINE__, #call, text_);                   \
		}                                                                                  \
	} while (0)
