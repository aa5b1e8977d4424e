/* SPDX-License-Identifier: MIT */
/*
 * rccl_double NEWEST [RANK]: does what RCCL does with a profiler plugin, knowing its interface up to that version: loads
 * NCCL_PROFILER_PLUGIN, and tells it of operations of two ranks, or of that one. Prints the version it took.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "rccl/interface.h"

#define CALL(call) ((call) ? (fprintf(stderr, "%s failed\n", #call), exit(1)) : (void)0)

static const struct profiler *profiler;
static int version, mask;

static void *init(int rank)
{
	void *context = NULL;

	if (version < 4)
		CALL(((profiler_init_2 *)profiler->init)(&context, &mask));
	else if (version == 4)
		CALL(((profiler_init_4 *)profiler->init)(&context, &mask, "world", 0xabc, 1, 2,
							 rank, NULL));
	else
		CALL(((profiler_init_5 *)profiler->init)(&context, 0xabc, &mask, "world", 1, 2,
							 rank, NULL));
	return context;
}

/* A descriptor: head, and to version 3 a communicator; how many words it has so far. */
static int fill(uint64_t *words, uint64_t type, void *parent, int rank)
{
	words[0] = type;
	words[1] = (uintptr_t)parent;
	words[2] = (uint64_t)rank;
	words[4] = 0xabc;
	return version < 4 ? 5 : 3;
}

static void *begin(void *context, void *descriptor)
{
	void *handle = &handle; /* the plugin must say NULL itself */

	CALL(profiler->start(context, &handle, descriptor));
	return handle;
}

static void end(void *handle)
{
	if (handle)
		CALL(profiler->stop(handle));
}

#define TEXT(text) ((uint64_t)(uintptr_t)(text))

static void *coll(void *context, void *parent, int rank, const char *name)
{
	uint64_t words[20] = {0}, *w = words + fill(words, PROFILE_COLL, parent, rank);

	w[0] = 7; /* sequence */
	w[1] = TEXT(name);
	w[4] = 1000;
	w[5] = (uint64_t)rank; /* root */
	w[6] = TEXT("ncclFloat32");
	w += version == 2; /* bytes */
	w[7] = 3;
	w[8] = TEXT("RING");
	w[9] = TEXT("SIMPLE");
	return begin(context, words);
}

static void *p2p(void *context, void *parent, int rank, uint64_t name)
{
	uint64_t words[20] = {0}, *w = words + fill(words, PROFILE_P2P, parent, rank);

	w[0] = name;
	w[2] = TEXT("ncclBfloat16");
	w[3] = 10;
	w[4] = (uint64_t)!rank | (version > 3 ? 1ull << 32 : 0); /* peer, channels */
	return begin(context, words);
}

static void run(void *context, int rank)
{
	uint64_t other[20] = {0};
	void *group, *handles[4], *proxy;

	fill(other, PROFILE_GROUP, NULL, rank);
	group = begin(context, other);
	if (!group && version < 5)
		return; /* as RCCL */
	handles[0] = coll(context, group, rank, "AllReduce");
	handles[1] = coll(context, group, rank, "AllGather");
	handles[2] = p2p(context, group, rank, TEXT("Send"));
	handles[3] = p2p(context, group, rank, 16); /* wild, as RCCL 7.1.0 has them */
	fill(other, 8, handles[0], rank);
	proxy = begin(context, other);
	if (proxy)
		CALL(profiler->state(proxy, 1, other));
	fill(other, 99, NULL, rank);
	end(begin(context, other));
	for (int i = 4; i--;)
		end(handles[i]);
	end(proxy);
	end(group);
}

int main(int argc, char **argv)
{
	const char *path = getenv("NCCL_PROFILER_PLUGIN");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL, *contexts[2];
	const int first = argc > 2 ? atoi(argv[2]) : 0, end = argc > 2 ? first + 1 : 2;

	for (version = atoi(argv[argc > 1]); library && version > 1; version--) {
		char symbol[32];

		snprintf(symbol, sizeof(symbol), "ncclProfiler_v%d", version);
		profiler = dlsym(library, symbol);
		if (profiler)
			break;
	}
	printf("version %d\n", profiler ? version : 0);
	if (!profiler)
		return 1;
	for (int rank = first; rank < end; rank++)
		contexts[rank] = init(rank);
	for (int rank = first; rank < end; rank++)
		run(contexts[rank], rank);
	for (int rank = first; rank < end; rank++)
		CALL(profiler->finalize(contexts[rank]));
	return dlclose(library);
}
