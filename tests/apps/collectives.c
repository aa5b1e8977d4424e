/* SPDX-License-Identifier: MIT */
/*
 * collectives RANKS ROUNDS: that many GPUs of one process, each a rank of RCCL, all-reduce, broadcast and send around 1
 * MB in each round. Prints `collectives: ok`. One thread. HIP and RCCL come by dlopen, and what is used of them is
 * declared here: nothing of them is needed to build it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_ranks = 8, bytes = 1 << 20, count = bytes / 4, nccl_float = 7, nccl_sum = 0 };

static void fail(const char *what, const char *why)
{
	printf("collectives: %s: %s\n", what, why);
	exit(1);
}

static void *symbol(const char *name)
{
	static void *rccl;
	void *found;

	if (!rccl && !(rccl = dlopen("librccl.so.1", RTLD_NOW | RTLD_GLOBAL)))
		fail("librccl.so.1", dlerror());
	found = dlsym(RTLD_DEFAULT, name);
	if (!found)
		fail(name, "is not there");
	return found;
}

/* CALL(name, (parameter types), arguments...): of a function that returns 0 if it succeeds. */
#define CALL(name, types, ...)                                                                     \
	do {                                                                                       \
		if (((int(*) types)symbol(#name))(__VA_ARGS__))                                    \
			fail(#name, "failed");                                                     \
	} while (0)

struct rank {
	void *comm, *stream, *data;
};

#define P2P(name, peer)                                                                            \
	CALL(name, (void *, size_t, int, int, void *, void *), r->data, count, nccl_float,         \
	     (peer) % n, r->comm, r->stream)

static void round_of(struct rank *ranks, int n, int what)
{
	CALL(ncclGroupStart, (void));
	for (struct rank *r = ranks; r < ranks + n; r++)
		if (what == 2) {
			P2P(ncclSend, (int)(r - ranks) + 1);
			P2P(ncclRecv, (int)(r - ranks) + n - 1);
		} else if (what == 1)
			CALL(ncclBroadcast,
			     (const void *, void *, size_t, int, int, void *, void *), r->data,
			     r->data, count, nccl_float, 0, r->comm, r->stream);
		else
			CALL(ncclAllReduce,
			     (const void *, void *, size_t, int, int, void *, void *), r->data,
			     r->data, count, nccl_float, nccl_sum, r->comm, r->stream);
	CALL(ncclGroupEnd, (void));
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 2, rounds = argc > 2 ? atoi(argv[2]) : 10;
	struct rank ranks[most_ranks];
	void *comms[most_ranks];

	if (n < 1 || n > most_ranks)
		fail(argv[1], "1 to 8 ranks");
	CALL(ncclCommInitAll, (void **, int, const int *), comms, n, NULL);
	for (int i = 0; i < n; i++) {
		ranks[i].comm = comms[i];
		CALL(hipSetDevice, (int), i);
		CALL(hipMalloc, (void **, size_t), &ranks[i].data, bytes);
		CALL(hipStreamCreate, (void **), &ranks[i].stream);
	}
	for (int i = 0; i < 3 * rounds; i++)
		round_of(ranks, n, i % 3);
	for (int i = 0; i < n; i++) {
		CALL(hipSetDevice, (int), i);
		CALL(hipStreamSynchronize, (void *), ranks[i].stream);
	}
	for (int i = 0; i < n; i++)
		CALL(ncclCommDestroy, (void *), ranks[i].comm);
	printf("collectives: ok\n");
	return 0;
}
