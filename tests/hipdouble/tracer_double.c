/* SPDX-License-Identifier: MIT */
/*
 * A HIP of another release, as far as its callback for tracers goes: preloaded behind rtl, on the real 7.2.4.
 * HIP_TRACER, with commas between them:
 *	silent		it does not say which work it will report, as before ROCm 7.2.4
 *	version=N	hipRuntimeGetVersion tells N
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"

#define EXPORT __attribute__((visibility("default")))
enum { DOMAIN_WORK = 2 };

typedef int callback_fn(uint32_t domain, uint32_t id, void *data);

static bool silent;
static int version;
static callback_fn *callback; /* relaxed: it is the tracer's one function, or NULL */

__attribute__((constructor)) static void loaded(void)
{
	const char *text = getenv("HIP_TRACER");
	const char *number = text ? strstr(text, "version=") : NULL;

	silent = text && strstr(text, "silent");
	version = number ? atoi(number + strlen("version=")) : 0;
}

static int forward(uint32_t domain, uint32_t id, void *data)
{
	callback_fn *const function = __atomic_load_n(&callback, __ATOMIC_RELAXED);

	if (!function)
		return 1;
	return silent && domain == DOMAIN_WORK && (uintptr_t)data == 1 ? 0
								       : function(domain, id, data);
}

EXPORT void hipRegisterTracerCallback(callback_fn *function);
EXPORT int hipRuntimeGetVersion(int *number);

void hipRegisterTracerCallback(callback_fn *function)
{
	void (*real)(callback_fn *);

	*(void **)&real = hip_find("hipRegisterTracerCallback");
	__atomic_store_n(&callback, function, __ATOMIC_RELAXED);
	real(function ? forward : NULL);
}

int hipRuntimeGetVersion(int *number)
{
	int (*real)(int *);
	int error;

	*(void **)&real = hip_find("hipRuntimeGetVersion");
	error = real(number);
	if (!error && version)
		*number = version;
	return error;
}
