/* SPDX-License-Identifier: MIT */
/**
 * @file scope.h
 * For publishers: what encloses an event.
 *
 * - Scopes: a stack for each thread of what goes on there. An API layer opens one around a call;
 *   a layer below it, in another library, finds there which call it works for.
 * - Stash: numbers by key for each thread, for whatever else a layer leaves to those below.
 * - Spans: a begin and an end event that belong together, and the scope between them.
 * - Regions and marks: the same in one line, for C and C++, on a stream of your own or on the
 *   stream "rtl.default", which needs no description.
 *
 *     void solve(void)
 *     {
 *             RTL_REGION("solve");               // from here to the end of the block
 *             ...
 *             rtl_mark_f64("residual", r);
 *     }
 *
 * Threads: any; scopes and stash are the calling thread's own, and nobody else sees them.
 * Cost: no lock, system call or allocation but on the first use in a thread (one page).
 * Signal handlers: scopes, stash and spans work there, and the interrupted code finds what it had
 * if the handler closes what it opens. Regions and marks do not: their first use registers.
 * Thread exit: what is still open or stashed is gone; no event is published for it.
 * fork: the child goes on with what the forking thread had. Ids in it are those of its parent's
 * events, and ends that the child publishes are its own.
 * longjmp and threads that are cancelled leave scopes open: closing an outer one closes those.
 */
#ifndef RTL_SCOPE_H
#define RTL_SCOPE_H

#include <string.h>

#include <rtl/publish.h>
#include <rtl/stream.h>
#include <rtl/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scopes */

/** How many scopes of a thread are kept; inner ones are counted only. */
#define RTL_SCOPE_DEPTH_MAX 64u

/** A scope of the calling thread. */
struct rtl_scope {
	uint32_t struct_size;
	uint32_t depth;       /**< 1 = outermost */
	uint64_t uid;         /**< universal id of the tracepoint */
	uint64_t instance;    /**< pairs the begin of what goes on with its end */
	uint64_t correlation; /**< to be copied into events that it causes */
};

/**
 * Opens a scope on the calling thread.
 * @param uid          tracepoint of what begins; 0 = that of the scope around it
 * @param instance     as in its begin event; 0 = none
 * @param correlation  0 = that of the scope around it
 * @return its depth, from 1, for rtl_scope_pop. More than RTL_SCOPE_DEPTH_MAX: it is not kept, and
 *         rtl_scope_current goes on to tell of the innermost one that is. 0: no memory, nothing
 *         was opened.
 */
RTL_API uint32_t rtl_scope_push(uint64_t uid, uint64_t instance, uint64_t correlation);

/**
 * Closes the scope of that depth and all that are still open inside of it. Does nothing if it is
 * closed already, or depth is 0.
 */
RTL_API void rtl_scope_pop(uint32_t depth);

/**
 * The innermost scope of the calling thread.
 * @param[in,out] scope  struct_size set by the caller
 * @return 0; RTL_ENOENT: none is open; RTL_EINVAL
 */
RTL_API int rtl_scope_current(struct rtl_scope *scope);

/**
 * As rtl_reserve, and fills parent_uid and correlation from the innermost scope (0 if there is
 * none).
 */
RTL_API struct rtl_record *rtl_reserve_in_scope(struct rtl_stream *stream, uint16_t type,
						uint32_t payload_size);

/* ---- stash */

/** How many keys a thread can have at a time. */
#define RTL_STASH_MAX 32u

/** A key from a text, never 0: the same in every process. Prefix it: "mylib.stage". */
static inline uint64_t rtl_stash_key(const char *text)
{
	uint64_t key = 0x6a09e667f3bcc909u;

	for (; *text; text++) {
		key = (key ^ (unsigned char)*text) * 0x9e3779b97f4a7c15u;
		key ^= key >> 29;
	}
	return key ? key : 1;
}

/**
 * Leaves a value on the calling thread, in the place of an earlier one of that key.
 * @param key  not 0
 * @return 0; RTL_EINVAL: key 0; RTL_ELIMIT: RTL_STASH_MAX other keys are there; RTL_ENOMEM
 */
RTL_API int rtl_stash_set(uint64_t key, uint64_t value);

/**
 * Reads what was left.
 * @param[out] value  untouched if there is none
 * @return 0; RTL_ENOENT; RTL_EINVAL
 */
RTL_API int rtl_stash_get(uint64_t key, uint64_t *value);

/** @return 0; RTL_ENOENT: there was none */
RTL_API int rtl_stash_remove(uint64_t key);

/* ---- call sites */

/** A place in the source, as a static object there. Make it with RTL_SITE. */
struct rtl_site {
	uint32_t struct_size;
	uint32_t line;
	const char *file;
	const char *function;
	const char *name;     /**< of what happens there; NULL = the function's */
	uint64_t uid;         /**< librtl's: 0 = not registered yet */
	uint64_t name_string; /**< librtl's: the name, interned */
};

/** Initial value of a `static struct rtl_site` in a function; name is a constant text or NULL. */
#define RTL_SITE(name)                                                                             \
	{                                                                                          \
		(uint32_t)sizeof(struct rtl_site), __LINE__, __FILE__, __func__, name, 0, 0        \
	}

/**
 * The tracepoint of a call site (kind "region", metadata "function"); registered by the first
 * call, afterwards one load.
 *
 * The site is identified by its texts, its line, and the place of the static object in its module
 * (build id and offset): one id, however often the compiler copied the code around it.
 *
 * Any thread; not from a signal handler.
 * @return its universal id; 0: no memory for it
 */
RTL_API uint64_t rtl_site_register(struct rtl_site *site);

/* ---- spans */

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

/**
 * First half of a begin: nobody wanting it costs two loads and a branch.
 *
 *     struct rtl_span span;
 *     if (rtl_span_prepare(&span, stream, RTL_FUNCTION_BEGIN, RTL_FUNCTION_END, uid)) {
 *             span.correlation = rtl_unique_id();
 *             rtl_span_begin(&span, &arguments, sizeof arguments);
 *     }
 *     ...
 *     rtl_span_end(&span, &result, sizeof result);
 *
 * @return whether one of the two types is wanted; if so, the caller may set flags and
 *         correlation and calls rtl_span_begin
 */
static inline bool rtl_span_prepare(struct rtl_span *span, struct rtl_stream *stream,
				    uint16_t begin_type, uint16_t end_type, uint64_t uid)
{
	span->stream = NULL;
	/* int: both loads, one branch */
	if (!((int)rtl_enabled(stream, begin_type) | (int)rtl_enabled(stream, end_type)))
		return false;
	memset(span, 0, sizeof *span);
	span->struct_size = (uint32_t)sizeof *span;
	span->begin_type = begin_type;
	span->end_type = end_type;
	span->stream = stream;
	span->uid = uid;
	return true;
}

/**
 * Publishes the begin, and opens the scope.
 * @param payload  copied; NULL: all fields are 0, as many as the description says
 */
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

/* ---- the stream "rtl.default" */

#define RTL_STREAM_DEFAULT "rtl.default"

/** rtl.default, all its types (RTL_SIGNAL, named "mark"; RTL_REGION_BEGIN, RTL_REGION_END). */
struct rtl_default_payload {
	uint64_t name;        /**< string; 0: see text */
	struct rtl_text text; /**< the name, where it is not interned */
	uint64_t integer;     /**< the value, if kind is RTL_KIND_UINT */
	double number;        /**< the value, if kind is RTL_KIND_FLOAT */
	uint32_t kind;        /**< of the value: 0 = none */
	uint32_t reserved;
};

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

	memcpy(&bits, &value, sizeof bits);
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

/**
 * Publishes RTL_REGION_BEGIN here and RTL_REGION_END where the enclosing block is left, in
 * whatever way but longjmp and _exit, on a stream that describes these types. Payloads are all 0:
 * the name is the tracepoint's. Stands where a declaration can stand, once in a line.
 * @param stream_  struct rtl_stream *
 * @param name     a constant text; NULL = the function's name
 */
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
