/* SPDX-License-Identifier: MIT */
/** @file region.h
 * For publishers: regions and marks in one line, for C and C++, on a stream of your own or on the stream "rtl.default",
 * which needs no description.
 *
 *     void solve(void)
 *     {
 *             RTL_REGION("solve");               // from here to the end of the block
 *             ...
 *             rtl_mark_f64("residual", r);
 *     }
 *
 * A region is a span (rtl/span.h): it opens a scope. Threads: any. Not from signal handlers: the first use
 * registers. */
#ifndef RTL_REGION_H
#define RTL_REGION_H

#include <string.h>

#include <rtl/events/bus.h>
#include <rtl/site.h>
#include <rtl/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the stream "rtl.default", whose payload is in <rtl/events/bus.h> */

/** The stream; the first call registers it. &rtl_stream_none if that fails. */
RTL_API struct rtl_stream *rtl_default_stream(void);

#ifndef RTL_STUB_H
/** For rtl_default_enabled: where the stream's `wanted` is; before it is registered all are. */
RTL_API extern const uint8_t *rtl_default_wanted;
#endif

/** Whether events of that type of rtl.default may reach anybody. Two loads. */
static inline bool rtl_default_enabled(uint16_t type)
{
	/* acquire: with the release in rtl_default_stream, which fills what it points to */
	const uint8_t *wanted = __atomic_load_n(&rtl_default_wanted, __ATOMIC_ACQUIRE);

	return __builtin_expect(__atomic_load_n(&wanted[type & 0xff], __ATOMIC_RELAXED) != 0, 0);
}

/** For the functions and macros below. Of site and text one is NULL; kind and bits: the value. */
RTL_API void rtl_default_mark(struct rtl_site *site, const char *text, uint32_t kind,
			      uint64_t bits);
/** For the functions and macros below: span->stream stays NULL if nobody wants it. */
RTL_API void rtl_default_begin(struct rtl_span *span, struct rtl_site *site, const char *text,
			       uint32_t kind, uint64_t bits);
/** For the functions and macros below. */
RTL_API void rtl_default_end(struct rtl_span *span, uint32_t kind, uint64_t bits);

static inline uint64_t rtl_double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/** A mark: something happened. The name is copied, up to 1024 bytes. */
static inline void rtl_mark(const char *name)
{
	if (rtl_default_enabled(RTL_SIGNAL))
		rtl_default_mark(NULL, name, 0, 0);
}

/** A mark with a number. */
static inline void rtl_mark_u64(const char *name, uint64_t value)
{
	if (rtl_default_enabled(RTL_SIGNAL))
		rtl_default_mark(NULL, name, RTL_KIND_UINT, value);
}

/** A mark with a number. */
static inline void rtl_mark_f64(const char *name, double value)
{
	if (rtl_default_enabled(RTL_SIGNAL))
		rtl_default_mark(NULL, name, RTL_KIND_FLOAT, rtl_double_bits(value));
}

/** For the functions and macros below. */
static inline void rtl_default_open(struct rtl_span *span, struct rtl_site *site, const char *text,
				    uint32_t kind, uint64_t bits)
{
	/* acquire: as above */
	const uint8_t *wanted = __atomic_load_n(&rtl_default_wanted, __ATOMIC_ACQUIRE);

	span->stream = NULL;
	if (__builtin_expect(__atomic_load_n(&wanted[RTL_REGION_BEGIN], __ATOMIC_RELAXED) |
				     __atomic_load_n(&wanted[RTL_REGION_END], __ATOMIC_RELAXED),
			     0))
		rtl_default_begin(span, site, text, kind, bits);
}

/** Begins a region: to be ended with the same span, on the same thread. The name is copied, up to
 *  1024 bytes; the end event has none and is paired by its instance. */
static inline void rtl_region_begin(struct rtl_span *span, const char *name)
{
	rtl_default_open(span, NULL, name, 0, 0);
}

/** Begins a region, with a number. */
static inline void rtl_region_begin_u64(struct rtl_span *span, const char *name, uint64_t value)
{
	rtl_default_open(span, NULL, name, RTL_KIND_UINT, value);
}

/** Begins a region, with a number. */
static inline void rtl_region_begin_f64(struct rtl_span *span, const char *name, double value)
{
	rtl_default_open(span, NULL, name, RTL_KIND_FLOAT, rtl_double_bits(value));
}

/** Ends a region; a second time does nothing. */
static inline void rtl_region_end(struct rtl_span *span)
{
	if (__builtin_expect(span->stream != NULL, 0))
		rtl_default_end(span, 0, 0);
}

/** Ends a region, with a number. */
static inline void rtl_region_end_u64(struct rtl_span *span, uint64_t value)
{
	if (__builtin_expect(span->stream != NULL, 0))
		rtl_default_end(span, RTL_KIND_UINT, value);
}

/** Ends a region, with a number. */
static inline void rtl_region_end_f64(struct rtl_span *span, double value)
{
	if (__builtin_expect(span->stream != NULL, 0))
		rtl_default_end(span, RTL_KIND_FLOAT, rtl_double_bits(value));
}

/* ---- regions and marks of call sites */

/** For RTL_REGION_OF: RTL_REGION_BEGIN of the site's tracepoint on that stream. */
static inline void rtl_site_begin(struct rtl_span *span, struct rtl_stream *stream,
				  struct rtl_site *site)
{
	if (rtl_span_prepare(span, stream, RTL_REGION_BEGIN, RTL_REGION_END, 0)) {
		span->uid = rtl_site_register(site);
		rtl_span_begin(span, NULL, 0);
	}
}

/** For RTL_REGION_OF, when the block is left. */
static inline void rtl_site_end(struct rtl_span *span)
{
	rtl_span_end(span, NULL, 0);
}

#define RTL_JOIN_(a, b)  a##b
#define RTL_LOCAL_(a, b) RTL_JOIN_(a, b)

/** Publishes RTL_REGION_BEGIN here and RTL_REGION_END where the enclosing block is left, in whatever way but longjmp
 * and _exit, on a stream that describes these types. Payloads are all 0: the name is the tracepoint's. Stands where a
 * declaration can stand, once in a line.
 * @param stream_  struct rtl_stream *
 * @param name     a constant text; NULL = the function's name */
#define RTL_REGION_OF(stream_, name)                                                               \
	static struct rtl_site RTL_LOCAL_(rtl_site_, __LINE__) = RTL_SITE(name);                   \
	__attribute__((cleanup(rtl_site_end))) struct rtl_span RTL_LOCAL_(rtl_span_, __LINE__);    \
	rtl_site_begin(&RTL_LOCAL_(rtl_span_, __LINE__), (stream_),                                \
		       &RTL_LOCAL_(rtl_site_, __LINE__))

/** As RTL_REGION_OF, on the stream "rtl.default". */
#define RTL_REGION(name)                                                                           \
	static struct rtl_site RTL_LOCAL_(rtl_site_, __LINE__) = RTL_SITE(name);                   \
	__attribute__((cleanup(rtl_region_end))) struct rtl_span RTL_LOCAL_(rtl_span_, __LINE__);  \
	rtl_default_open(&RTL_LOCAL_(rtl_span_, __LINE__), &RTL_LOCAL_(rtl_site_, __LINE__), NULL, \
			 0, 0)

/** For RTL_MARK and its like: publishes a mark of this call site. */
#define RTL_MARK_(name, kind, bits)                                                                \
	do {                                                                                       \
		static struct rtl_site rtl_site_ = RTL_SITE(name);                                 \
		if (rtl_default_enabled(RTL_SIGNAL))                                               \
			rtl_default_mark(&rtl_site_, NULL, (kind), (bits));                        \
	} while (0)

/** rtl_mark with a constant name, which is interned, and with a tracepoint that tells where. */
#define RTL_MARK(name) RTL_MARK_(name, 0, 0)
/** RTL_MARK with a number. */
#define RTL_MARK_U64(name, value) RTL_MARK_(name, RTL_KIND_UINT, (value))
/** RTL_MARK with a number. */
#define RTL_MARK_F64(name, value) RTL_MARK_(name, RTL_KIND_FLOAT, rtl_double_bits(value))

#ifdef __cplusplus
}
#endif
#endif
