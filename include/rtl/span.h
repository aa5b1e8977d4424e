/* SPDX-License-Identifier: MIT */
/** @file span.h
 * For publishers: spans, a begin and an end event that belong together, and the scope between them (rtl/scope.h).
 *
 * Threads: any; signal handlers too. Cost: that of two events and of a scope.
 * fork: an end that the child publishes is the child's own. */
#ifndef RTL_SPAN_H
#define RTL_SPAN_H

#include <string.h>

#include <rtl/publish.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bits of rtl_span.flags. */
enum rtl_span_flags {
	/** Opens no scope: it may end in another order than it began, and on another thread. */
	RTL_SPAN_DETACHED = 1,
};

/** Something that begins and ends. The caller's storage; filled by rtl_span_prepare. */
struct rtl_span {
	uint32_t struct_size;
	uint16_t begin_type;
	uint16_t end_type;
	uint32_t flags;            /**< enum rtl_span_flags; 0 from rtl_span_prepare */
	uint32_t scope;            /**< librtl's: depth of the scope that it opened */
	struct rtl_stream *stream; /**< NULL: nobody wants it, rtl_span_end does nothing */
	uint64_t uid;
	uint64_t parent_uid;  /**< set by rtl_span_begin, from the scope around it */
	uint64_t instance;    /**< set by rtl_span_begin */
	uint64_t correlation; /**< 0 before rtl_span_begin: it takes that of the scope around it */
	uint64_t name;        /**< librtl's, for the stream "rtl.default" */
};

/** First half of a begin. If nobody wants it, it costs two loads and a branch.
 *
 *     struct rtl_span span;
 *     if (rtl_span_prepare(&span, stream, RTL_FUNCTION_BEGIN, RTL_FUNCTION_END, uid)) {
 *             span.correlation = rtl_unique_id();
 *             rtl_span_begin(&span, &arguments, sizeof(arguments));
 *     }
 *     ...
 *     rtl_span_end(&span, &result, sizeof(result));
 *
 * @return whether one of the two types is wanted; if so, the caller may set flags and
 *         correlation and calls rtl_span_begin */
static inline bool rtl_span_prepare(struct rtl_span *span, struct rtl_stream *stream,
				    uint16_t begin_type, uint16_t end_type, uint64_t uid)
{
	span->stream = NULL;
	/* int: both loads, one branch */
	if (!((int)rtl_enabled(stream, begin_type) | (int)rtl_enabled(stream, end_type)))
		return false;
	memset(span, 0, sizeof(*span));
	span->struct_size = (uint32_t)sizeof(*span);
	span->begin_type = begin_type;
	span->end_type = end_type;
	span->stream = stream;
	span->uid = uid;
	return true;
}

/** Publishes the begin, and opens the scope.
 * @param payload  copied; NULL: all fields are 0, as many as the description says */
RTL_API void rtl_span_begin(struct rtl_span *span, const void *payload, uint32_t payload_size);

/** For rtl_span_end: publishes the end and closes the scope. */
RTL_API void rtl_span_finish(struct rtl_span *span, const void *payload, uint32_t payload_size);

/** Publishes the end of what has begun, and closes the scope; else does nothing. On the thread that
 *  began it, unless it is RTL_SPAN_DETACHED. A second end does nothing. */
static inline void rtl_span_end(struct rtl_span *span, const void *payload, uint32_t payload_size)
{
	if (__builtin_expect(span->stream != NULL, 0))
		rtl_span_finish(span, payload, payload_size);
}

#ifdef __cplusplus
}
#endif
#endif
