/* SPDX-License-Identifier: MIT */
/*
 * A call of HIP as events: rtl.hip.call and rtl.hip.call.debug, and its scope, in which layers
 * below find what they work for.
 *
 * Threads: any. No lock but in the first call of a function.
 */
#ifndef STREAMS_HIP_CALLS_H
#define STREAMS_HIP_CALLS_H

#include <rtl/publish.h>
#include <rtl/scope.h>

#include "../common/call_context.h"
#include "../common/work.h"
#include "functions.h"

/* Streams; rtl_stream_none until hip_start, and where the mode does not have them. */
struct hip_streams {
	struct rtl_stream *calls;
	struct rtl_stream *debug;
	bool follow; /* calls are followed while work is wanted; relaxed, nothing else depends on it */
};

extern struct hip_streams hip_streams;

/* Registers the streams, once; other threads wait until that is done. */
void hip_start(void);

/* What of a call lies between its begin and its end. On the caller's stack. */
struct hip_call {
	enum hip_id id;
	uint32_t scope;
	uint32_t open; /* of rtl_open_reserve, on each of the streams */
	uint32_t open_debug;
	bool is_bare;  /* followed for what it submits alone: what follows is not set */
	bool left_out; /* by the user's selection: it is only counted */
	uint64_t begin_ticks;
	uint64_t begin_ns;
	uint64_t number; /* its instance, and correlation of what it causes */
	uint64_t parent; /* instance of what encloses it */
	uint64_t parent_uid;
	struct call_context around; /* as it was */
	bool is_packed;             /* the arguments: */
	_Alignas(8) unsigned char packed[CALL_PACKED_BYTES];
};

static inline unsigned hip_pair_wanted(struct rtl_stream *const *place, uint16_t begin)
{
	/* acquire: with the release in hip_start */
	return wanted_pair(__atomic_load_n(place, __ATOMIC_ACQUIRE), begin);
}

/* Whether anybody may want a call, or what it submits. */
static inline bool hip_wanted(void)
{
	return __builtin_expect(
		(hip_pair_wanted(&hip_streams.calls, RTL_FUNCTION_BEGIN) |
		 hip_pair_wanted(&hip_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN)) != 0 ||
			(__atomic_load_n(&hip_streams.follow, __ATOMIC_RELAXED) && work_wanted()),
		0);
}

/*
 * Begins a call.
 * caller: where it returns to. slots: the arguments, as many as the table says.
 * Returns false if it is one that HIP makes to itself, or the program has paused: then nothing has
 * begun.
 */
bool hip_call_begin(struct hip_call *call, enum hip_id id, const uint64_t *slots,
		    const void *caller);

/* Ends it. result: the number or address returned; 0 if there is none. */
void hip_call_end(const struct hip_call *call, const uint64_t *slots, int64_t result);

#endif
