/* SPDX-License-Identifier: MIT */
/*
 * The profiler interface of RCCL and NCCL, versions 2 to 5, as far as it is needed here; RCCL never had version 1.
 * Source: NCCL, src/include/plugin/profiler/profiler_v2.h to profiler_v5.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PROFILER_VERSIONS 5

/* Types of events, and bits of the mask of those wanted. */
enum { PROFILE_GROUP = 1, PROFILE_COLL = 2, PROFILE_P2P = 4 };

/*
 * What all descriptors of events begin with. Behind it, each aligned to its size, which is that in bytes; names are
 * addresses of texts:
 *
 *   both        to version 3: the communicator's name 8, hash 8
 *   collective  sequence 8, function's name 8, addresses 8, 8, count 8, root 4, data type's name 8, in version 2 bytes 8,
 *               channels 1, warps 1, algorithm's name 8, protocol's name 8
 *   send        function's name 8, address 8, data type's name 8, count 8, peer 4, from version 4 on channels 1
 */
struct profile_head {
	union {
		uint8_t type;
		uint64_t type_5; /* from version 5 on */
	};
	void *parent;
	int32_t rank;
};

/* A plugin: of init the parameters differ. All functions return 0 if they succeed. */
struct profiler {
	const char *name;
	void (*init)(void);
	int (*start)(void *context, void **handle, void *descriptor);
	int (*stop)(void *handle);
	int (*state)(void *handle, int state, void *arguments);
	int (*finalize)(void *context);
};

typedef int profiler_init_2(void **context, int *mask); /* to 3 */
typedef int profiler_init_4(void **context, int *mask, const char *name, uint64_t hash, int nodes,
			    int ranks, int rank, void *log);
typedef int profiler_init_5(void **context, uint64_t hash, int *mask, const char *name, int nodes,
			    int ranks, int rank, void *log);
