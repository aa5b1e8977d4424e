/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from hip_call.toml. Not to be edited. */
/**
 * @file hip_call.h
 *
 * The streams rtl.hip.call and rtl.hip.call.debug: calls of the HIP API.
 */
#ifndef RTL_EVENTS_HIP_CALL_H
#define RTL_EVENTS_HIP_CALL_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_STREAM_HIP_CALL "rtl.hip.call"
#define RTL_STREAM_HIP_CALL_VERSION 1
#define RTL_STREAM_HIP_CALL_VERSION_MINOR 0

#define RTL_STREAM_HIP_CALL_DEBUG "rtl.hip.call.debug"
#define RTL_STREAM_HIP_CALL_DEBUG_VERSION 1
#define RTL_STREAM_HIP_CALL_DEBUG_VERSION_MINOR 0

/** Bits of rtl_hip_call.flags. */
enum rtl_hip_call_flags {
	RTL_HIP_CALL_FAILED = 1, /**< The status that it returned tells of a failure. */
	/** A stream is among its arguments: hip_stream is that, and 0 the null stream. */
	RTL_HIP_CALL_STREAM = 2,
	RTL_HIP_CALL_UNFINISHED = 4, /**< It had not returned when the process ended. */
};

/**
 * RTL_FUNCTION_BEGIN and RTL_FUNCTION_END: a call of a function of HIP, in the thread that makes
 * it. The end repeats all that the begin said, so that a subscriber needs only one of them.
 *
 * Of the event: uid = the function's tracepoint (kind "function", metadata "domain", "category",
 * "arguments", "result", "rtl.values"); parent_uid = that of the scope around it; instance pairs
 * begin and end; correlation = that of the work which it causes, and no other call's.
 *
 * RTL_FUNCTION_UNFINISHED: a call that had not returned when the process ended, however that did.
 * It says what a begin says. The event's time is that of the end, as far as it is known, and its
 * thread may be another than tid. Of a call there is either this or the end.
 */
struct rtl_hip_call {
	uint64_t begin_ns; /**< when it was called */
	uint64_t end_ns; /**< when it returned; 0 in a begin */
	uint64_t function; /**< its name */
	uint64_t status; /**< the hipError_t or hiprtcResult that it returned; 0: none */
	int64_t result; /**< what it returned, as a number or address; 0: nothing */
	uint64_t parent; /**< instance of the call or region around it; 0: none */
	/** the hipStream_t among its arguments, see RTL_HIP_CALL_STREAM; 0: the null stream */
	uint64_t hip_stream;
	int32_t device; /**< the device among its arguments; -1: none */
	uint32_t flags; /**< bits: enum rtl_hip_call_flags */
	/**
	 * dispatches and copies with its correlation that its own thread had handed to GPUs when it
	 * returned; 0 in a begin. There may be more: where threads share a queue, another one's
	 * doorbell may take a packet along, even after the return.
	 */
	uint32_t work;
	uint32_t tid; /**< of one that has not ended, its thread; else 0 */
};

/**
 * RTL_FUNCTION_WITH_ARGS_BEGIN, RTL_FUNCTION_WITH_ARGS_END and RTL_FUNCTION_WITH_ARGS_UNFINISHED:
 * the same with the arguments, see <rtl/args.h>. In an end that returned success, an argument that
 * points to where the function leaves a single value is that value (RTL_ARG_OUT). Other pointers
 * are addresses, and not followed but for texts. Structs that are passed by value are there member
 * by member. Instance and correlation are those of rtl.hip.call.
 */
struct rtl_hip_call_debug {
	struct rtl_hip_call call;
	struct rtl_text args; /**< the arguments; with a star, what it has written */
};

#ifdef __cplusplus
}
#endif

#endif
