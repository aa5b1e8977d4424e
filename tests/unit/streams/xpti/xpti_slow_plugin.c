/* SPDX-License-Identifier: MIT */
/* A plugin that takes longer to load than anybody would wait by the clock. */
#include <time.h>

#include "xpti/xpti.h"

XPTI_API void xptiTraceInit(uint32_t major, uint32_t minor, const char *version,
			    const char *stream);
XPTI_API void xptiTraceFinish(const char *stream);
XPTI_API int slow_plugin_inits(void);

extern int slow_plugin_loads; /* the program's */

static int inits;

__attribute__((constructor)) static void load(void)
{
	const struct timespec long_time = {.tv_nsec = 800000000};

	__atomic_store_n(&slow_plugin_loads, 1, __ATOMIC_RELEASE);
	nanosleep(&long_time, NULL);
}

void xptiTraceInit(uint32_t major, uint32_t minor, const char *version, const char *stream)
{
	inits++;
}

void xptiTraceFinish(const char *stream)
{
}

int slow_plugin_inits(void)
{
	return inits;
}
