/* SPDX-License-Identifier: MIT */
/*
 * A profiler plugin of the user's, of version 2 alone: ends the program if it gets a handle that is not its own, and
 * prints at the end what it was told. Of rank 1 it wants no groups and collectives.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rccl/interface.h"

static int contexts, starts, stops, states;
static char events[512];

static void *check(void *handle)
{
	if (handle && ((char *)handle < events || (char *)handle >= events + sizeof(events)))
		abort();
	return handle;
}

static int init(void **context, int *mask)
{
	*context = &contexts;
	*mask = 8;
	return contexts && getenv("USERS_PLUGIN_FAILS") ? 1 : !++contexts;
}

static int start(void *context, void **handle, void *descriptor)
{
	const struct profile_head *head = descriptor;

	if (context != &contexts)
		abort();
	check(head->parent);
	*handle = head->rank && head->type <= PROFILE_COLL ? NULL : &events[starts++];
	return 0;
}

static int stop(void *handle)
{
	stops++;
	return !check(handle);
}

static int state(void *handle, int now, void *arguments)
{
	states += now + !arguments;
	return !check(handle);
}

static int finalize(void *context)
{
	if (!--contexts)
		printf("starts %d, stops %d, states %d\n", starts, stops, states);
	return context != &contexts;
}

__attribute__((visibility("default"))) struct profiler ncclProfiler_v2 = {
	"users", (void (*)(void))init, start, stop, state, finalize};
