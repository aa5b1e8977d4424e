/* SPDX-License-Identifier: MIT */
/*
 * A call of HIP as events: rtl.hip.call and rtl.hip.call.debug, and its scope, in which layers
 * below find what they work for.
 *
 * Threads: any. No lock but in the first call of a function.
 */
#pragma once

#include <rtl/events.h>
#include <rtl/publish.h>
#include <rtl/scope.h>
#include <stddef.h>

#include "../common/shared.h"
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

/* A call as it stands in records behind their ticks, without arguments. */
struct hip_call_image {
	uint64_t uid;
	uint64_t parent_uid;
	uint64_t instance; /* and correlation of what it causes */
	uint64_t correlation;
	struct rtl_hip_call call;
};
_Static_assert(offsetof(struct rtl_record, uid) + offsetof(struct hip_call_image, call) ==
		       sizeof(struct rtl_record),
	       "it is copied as a whole");

/* What of a call lies between its begin and its end. On the caller's stack. */
struct hip_call {
	enum hip_id id;
	uint32_t scope;
	uint32_t open; /* of rtl_open_reserve, on each of the streams */
	uint32_t open_debug;
	bool is_bare;  /* followed for what it submits alone: what follows is not set */
	bool left_out; /* by the user's selection: it is only counted */
	struct call_context around; /* as it was */
	struct hip_call_image image;
	_Alignas(8) unsigned char packed[CALL_PACKED_BYTES]; /* the arguments */
};

/* Before it begins, beside its packed arguments: which of them are the stream and the device. */
static inline void hip_call_note(struct hip_call *call, bool has_stream, uint64_t stream,
				 int32_t device)
{
	call->image.call.hip_stream = stream;
	call->image.call.device = device;
	call->image.call.flags = has_stream ? RTL_HIP_CALL_STREAM : 0;
}

static inline __attribute__((always_inline)) unsigned
hip_pair_wanted(struct rtl_stream *const *place, uint16_t begin)
{
	/* acquire: with the release in hip_start */
	return wanted_pair(__atomic_load_n(place, __ATOMIC_ACQUIRE), begin);
}

/* Whether anybody may want a call, or what it submits. */
static inline __attribute__((always_inline)) bool hip_wanted(void)
{
	return __builtin_expect(
		(hip_pair_wanted(&hip_streams.calls, RTL_FUNCTION_BEGIN) |
		 hip_pair_wanted(&hip_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN)) != 0 ||
			(__atomic_load_n(&hip_streams.follow, __ATOMIC_RELAXED) && work_wanted()),
		0);
}

/*
 * Begins a call, whose arguments are packed and noted.
 * caller: where it returns to.
 * Returns false if it is one that HIP makes to itself, or the program has paused: then nothing has
 * begun.
 */
bool hip_call_begin(struct hip_call *call, enum hip_id id, const void *caller);

/* Ends it. result: the number or address returned; 0 if there is none. */
void hip_call_end(const struct hip_call *call, int64_t result);
