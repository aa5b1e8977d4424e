/* SPDX-License-Identifier: MIT */
/* A library that asks the framework from its constructor, as SYCL's runtime may, while another thread
 * loads the plugins, which has to wait for this dlopen. */
#include <pthread.h>

#include "xpti/xpti.h"

XPTI_API int user_saw(void);

static int begun, saw;

static void *ask(void *unused)
{
	__atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
	return xptiTraceEnabled() ? &saw : NULL;
}

__attribute__((constructor)) static void load(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, ask, NULL))
		return;
	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		;
	saw = xptiTraceEnabled();
	pthread_detach(thread);
}

int user_saw(void)
{
	return saw;
}
