/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from hsa_call.toml. Not to be edited. */
/**
 * @file hsa_call.h
 *
 * The streams rtl.hsa.call and rtl.hsa.call.debug: calls of the HSA runtime.
 */
#ifndef RTL_EVENTS_HSA_CALL_H
#define RTL_EVENTS_HSA_CALL_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_STREAM_HSA_CALL "rtl.hsa.call"
#define RTL_STREAM_HSA_CALL_VERSION 1
#define RTL_STREAM_HSA_CALL_VERSION_MINOR 0

#define RTL_STREAM_HSA_CALL_DEBUG "rtl.hsa.call.debug"
#define RTL_STREAM_HSA_CALL_DEBUG_VERSION 1
#define RTL_STREAM_HSA_CALL_DEBUG_VERSION_MINOR 0

/**
 * RTL_FUNCTION_BEGIN and RTL_FUNCTION_END: a call of a function of the HSA runtime, in the thread
 * that makes it. The end says all that the begin said.
 *
 * Of the event: uid = the function's tracepoint (kind "function"); parent_uid and correlation are
 * those of the scope that is open around it (rtl_scope_push), 0 if none; instance pairs begin and
 * end, and those of rtl.hsa.call with those of rtl.hsa.call.debug.
 */
struct rtl_hsa_call {
	uint64_t begin_ns; /**< when it was called; 0 in a begin */
	uint64_t end_ns; /**< when it returned; 0 in a begin */
	uint64_t function; /**< its name */
	uint64_t status; /**< the hsa_status_t that it returned; 0: it returns none */
	int64_t result; /**< what it returned, as a number; 0: nothing */
};

/**
 * RTL_FUNCTION_WITH_ARGS_BEGIN and RTL_FUNCTION_WITH_ARGS_END: the same with the arguments, see
 * <rtl/args.h>. In an end that returned HSA_STATUS_SUCCESS, an argument that the function has
 * written to is what it has written (RTL_ARG_OUT). Other pointers are addresses, and not followed
 * but for texts.
 */
struct rtl_hsa_call_debug {
	struct rtl_hsa_call call;
	struct rtl_text args; /**< the arguments; with a star, what it has written */
};

#ifdef __cplusplus
}
#endif

#endif
