/* SPDX-License-Identifier: MIT */
/* A plugin of XPTI that crashes at the hundredth task. It registers a stream when it is loaded, before
 * the framework knows that somebody records: the stream is recorded all the same. */
#include "xpti/xpti.h"

XPTI_API void xptiTraceInit(uint32_t major, uint32_t minor, const char *version,
			    const char *stream);
XPTI_API void xptiTraceFinish(const char *stream);

static void callback(uint16_t type, struct xpti_event *parent, struct xpti_event *object,
		     uint64_t instance, const void *user)
{
	static int tasks;

	if (__atomic_add_fetch(&tasks, 1, __ATOMIC_RELAXED) == 100)
		__builtin_trap();
}

void xptiTraceInit(uint32_t major, uint32_t minor, const char *version, const char *stream)
{
	xptiRegisterCallback(xptiRegisterStream(stream), RTL_TASK_BEGIN, callback);
}

void xptiTraceFinish(const char *stream)
{
}

__attribute__((constructor)) static void begin(void)
{
	xptiRegisterStream("sycl");
}
