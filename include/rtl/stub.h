/* SPDX-License-Identifier: MIT */
/**
 * @file stub.h
 * For libraries that may be traced and must not require rtl. Include it instead of <rtl/rtl.h>, in
 * C or C++, and use the same names: functions, macros, inline tests. The library then has no
 * undefined symbol of rtl and does not depend on librtl; it needs nothing to link to (before
 * glibc 2.34: -ldl).
 *
 * librtl is found by rtl_stream_register, rtl_default_stream, the first mark or region of
 * "rtl.default", and rtl_stub_available, if it
 *  - is in the process already: linked to by another library, preloaded, or loaded by somebody; or
 *  - is asked for by RTL_COLLECTOR or RTL_SUBSCRIBERS: then it is loaded: the file that RTL_LIBRARY
 *    names, as `rtl trace` and `rtl env` set it, or else by the name librtl.so.0.
 *    If that fails, one line on stderr says so.
 * Once found it stays loaded.
 *
 * Without librtl: rtl_stream_register gives RTL_ENOTSUP and leaves the pointer, which began as
 * &rtl_stream_none, so rtl_enabled is false, at one load and a branch as ever. Other functions do
 * nothing and return RTL_ENOTSUP, RTL_ENOENT (scopes, stash, strings), 0 or NULL; rtl_unique_id,
 * rtl_thread_id and the clocks return 0.
 *
 * If librtl comes into the process after the first look, nothing is published until the library looks
 * again. rtl_stream_register and rtl_stub_available look again. Call one of them on rare occasions (a
 * device is opened, a context made) and not on a hot path: without librtl it costs some 20 us.
 * Streams registered from then on work. A pointer that stayed &rtl_stream_none needs another
 * rtl_stream_register.
 *
 * Each library has a stub of its own, hidden; librtl is the same for all. Any thread. Looking for
 * librtl is not for signal handlers; all else is as in the real functions.
 */
#ifndef RTL_STUB_H
#define RTL_STUB_H

#if defined(RTL_STREAM_H) || defined(RTL_TRACEPOINT_H) || defined(RTL_SITE_H) ||                   \
	defined(RTL_STASH_H) /* one of which each of them includes */
#	error "include <rtl/stub.h> instead of rtl's other headers for publishers, and first"
#endif

#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rtl_stream;
struct rtl_record;
struct rtl_pending;
struct rtl_tracepoint_desc;
struct rtl_scope;
struct rtl_site;
struct rtl_span;

/*
 * The functions that are passed on, name after name:
 * V(name, result, parameters, arguments, what it returns without librtl)
 * N(name, parameters, arguments) for those without a result
 */
/* clang-format off */
#define RTL_STUB_CALLS_(V, N)                                                                      \
	V(version, const char *, (void), (), "")                                                   \
	V(error_name, const char *, (int error), (error), "")                                      \
	V(error_text, const char *, (int error), (error), "")                                      \
	V(stream_asked, bool, (const char *prefix), (prefix), false)                               \
	V(stream_find, struct rtl_stream *, (const char *name), (name), NULL)                      \
	V(stream_describe, const struct rtl_stream_info *, (const struct rtl_stream *stream),      \
	  (RTL_STUB_STREAM_(stream)), NULL)                                                        \
	N(stream_end, (struct rtl_stream *stream), (RTL_STUB_STREAM_(stream)))                     \
	N(stream_count_missed, (struct rtl_stream *stream, const char *cause, uint64_t count),     \
	  (RTL_STUB_STREAM_(stream), cause, count))                                                \
	N(stream_count_left_out, (struct rtl_stream *stream, uint32_t why, uint64_t count),        \
	  (RTL_STUB_STREAM_(stream), why, count))                                                  \
	V(stream_pending, struct rtl_pending *, (struct rtl_stream *stream, const char *cause),    \
	  (RTL_STUB_STREAM_(stream), cause), &rtl_stub_pending_none)                               \
	N(pending_release, (struct rtl_pending *pending),                                          \
	  (pending == &rtl_stub_pending_none ? NULL : pending))                                    \
	V(stream_ledger, int, (const struct rtl_stream *stream, struct rtl_ledger *ledger),        \
	  (RTL_STUB_STREAM_(stream), ledger), RTL_ENOTSUP)                                         \
	V(vendor_register, int, (const char *name, uint8_t *vendor), (name, vendor), RTL_ENOTSUP)  \
	V(tracepoint_register, int, (const struct rtl_tracepoint_desc *desc, uint64_t *uid),       \
	  (desc, uid), RTL_ENOTSUP)                                                                \
	V(tracepoint_set_value, int,                                                               \
	  (uint64_t uid, const char *key, uint16_t kind, uint64_t bits), (uid, key, kind, bits),   \
	  RTL_ENOTSUP)                                                                             \
	V(tracepoint_find, int, (uint64_t uid, struct rtl_tracepoint_desc *desc), (uid, desc),     \
	  RTL_ENOENT)                                                                              \
	V(tracepoint_set_user, int, (uint64_t uid, void *user), (uid, user), RTL_ENOENT)           \
	V(tracepoint_user, void *, (uint64_t uid), (uid), NULL)                                    \
	V(tracepoint_set, int, (uint64_t uid, const char *key, const char *value),                 \
	  (uid, key, value), RTL_ENOTSUP)                                                          \
	V(string_intern, int, (const char *text, uint64_t *id), (text, id), RTL_ENOTSUP)           \
	V(string_text, const char *, (uint64_t id), (id), NULL)                                    \
	V(reserve, struct rtl_record *,                                                            \
	  (struct rtl_stream *stream, uint16_t type, uint32_t payload_size),                       \
	  (stream, type, payload_size), NULL)                                                      \
	V(try_reserve, struct rtl_record *,                                                        \
	  (struct rtl_stream *stream, uint16_t type, uint32_t payload_size),                       \
	  (stream, type, payload_size), NULL)                                                      \
	V(room, int, (const struct rtl_stream *stream, uint16_t type, uint32_t payload_size),      \
	  (stream, type, payload_size), RTL_ENOTSUP)                                               \
	V(reserve_in_scope, struct rtl_record *,                                                   \
	  (struct rtl_stream *stream, uint16_t type, uint32_t payload_size),                       \
	  (stream, type, payload_size), NULL)                                                      \
	N(commit, (struct rtl_record *record), (record))                                           \
	V(open_reserve, struct rtl_record *,                                                       \
	  (struct rtl_stream *stream, uint16_t type, uint32_t payload_size, uint32_t *open),       \
	  (stream, type, payload_size, open), (*open = 0, (struct rtl_record *)NULL))              \
	N(open_close, (struct rtl_stream *stream, uint32_t open, uint64_t instance),               \
	  (stream, open, instance))                                                                \
	N(commit_end,                                                                              \
	  (struct rtl_record *record, struct rtl_stream *stream, uint32_t open,                    \
	   uint64_t instance),                                                                     \
	  (record, stream, open, instance))                                                        \
	V(unique_id, uint64_t, (void), (), 0)                                                      \
	V(clock_ns, uint64_t, (void), (), 0)                                                       \
	V(ticks, uint64_t, (void), (), 0)                                                          \
	V(ticks_to_ns, uint64_t, (uint64_t ticks), (ticks), 0)                                     \
	V(thread_id, uint32_t, (void), (), 0)                                                      \
	V(room_prepare, int, (void), (), 0)                                                        \
	V(flush, int, (uint32_t timeout_ms), (timeout_ms), 0)                                      \
	V(at_finish, int, (void (*fn)(void *user), void *user), (fn, user), RTL_ENOTSUP)           \
	N(process_ends, (void), ())                                                                \
	V(scope_push, uint32_t, (uint64_t uid, uint64_t instance, uint64_t correlation),           \
	  (uid, instance, correlation), 0)                                                         \
	N(scope_pop, (uint32_t depth), (depth))                                                    \
	V(scope_current, int, (struct rtl_scope *scope), (scope), RTL_ENOENT)                      \
	V(stash_set, int, (uint64_t key, uint64_t value), (key, value), RTL_ENOTSUP)               \
	V(stash_get, int, (uint64_t key, uint64_t *value), (key, value), RTL_ENOENT)               \
	V(stash_remove, int, (uint64_t key), (key), RTL_ENOENT)                                    \
	V(site_register, uint64_t, (struct rtl_site *site), (site), 0)                             \
	N(span_begin, (struct rtl_span *span, const void *payload, uint32_t payload_size),         \
	  (span, payload, payload_size))                                                           \
	N(span_finish, (struct rtl_span *span, const void *payload, uint32_t payload_size),        \
	  (span, payload, payload_size))                                                           \
	N(default_end, (struct rtl_span *span, uint32_t kind, uint64_t bits), (span, kind, bits))
/* clang-format on */

/* Declared first, as static: the declarations of the real functions in the other headers, renamed
 * by the macros below, then repeat them. */
#define RTL_STUB_DECLARE_V_(name, result, parameters, arguments, absent)                           \
	static inline result rtl_stub_##name parameters;
#define RTL_STUB_DECLARE_N_(name, parameters, arguments)                                           \
	static inline void rtl_stub_##name parameters;

RTL_STUB_CALLS_(RTL_STUB_DECLARE_V_, RTL_STUB_DECLARE_N_)
static inline int rtl_stub_stream_register(const struct rtl_stream_info *info,
					   struct rtl_stream **out);
static inline struct rtl_stream *rtl_stub_default_stream(void);
static inline void rtl_stub_default_mark(struct rtl_site *site, const char *text, uint32_t kind,
					 uint64_t bits);
static inline void rtl_stub_default_begin(struct rtl_span *span, struct rtl_site *site,
					  const char *text, uint32_t kind, uint64_t bits);
static inline void rtl_stub_log(enum rtl_level level, const char *who, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define rtl_version               rtl_stub_version
#define rtl_error_name            rtl_stub_error_name
#define rtl_error_text            rtl_stub_error_text
#define rtl_stream_register       rtl_stub_stream_register
#define rtl_stream_asked          rtl_stub_stream_asked
#define rtl_stream_find           rtl_stub_stream_find
#define rtl_stream_describe       rtl_stub_stream_describe
#define rtl_stream_end            rtl_stub_stream_end
#define rtl_stream_count_missed   rtl_stub_stream_count_missed
#define rtl_stream_count_left_out rtl_stub_stream_count_left_out
#define rtl_stream_pending        rtl_stub_stream_pending
#define rtl_pending_release       rtl_stub_pending_release
#define rtl_stream_ledger         rtl_stub_stream_ledger
#define rtl_vendor_register       rtl_stub_vendor_register
#define rtl_tracepoint_register   rtl_stub_tracepoint_register
#define rtl_tracepoint_set        rtl_stub_tracepoint_set
#define rtl_tracepoint_find       rtl_stub_tracepoint_find
#define rtl_tracepoint_set_value  rtl_stub_tracepoint_set_value
#define rtl_tracepoint_set_user   rtl_stub_tracepoint_set_user
#define rtl_tracepoint_user       rtl_stub_tracepoint_user
#define rtl_string_intern         rtl_stub_string_intern
#define rtl_string_text           rtl_stub_string_text
#define rtl_reserve               rtl_stub_reserve
#define rtl_try_reserve           rtl_stub_try_reserve
#define rtl_room                  rtl_stub_room
#define rtl_room_prepare          rtl_stub_room_prepare
#define rtl_reserve_in_scope      rtl_stub_reserve_in_scope
#define rtl_commit                rtl_stub_commit
#define rtl_open_reserve          rtl_stub_open_reserve
#define rtl_open_close            rtl_stub_open_close
#define rtl_commit_end            rtl_stub_commit_end
#define rtl_unique_id             rtl_stub_unique_id
#define rtl_clock_ns              rtl_stub_clock_ns
#define rtl_ticks                 rtl_stub_ticks
#define rtl_ticks_to_ns           rtl_stub_ticks_to_ns
#define rtl_thread_id             rtl_stub_thread_id
#define rtl_log                   rtl_stub_log
#define rtl_flush                 rtl_stub_flush
#define rtl_at_finish             rtl_stub_at_finish
#define rtl_process_ends          rtl_stub_process_ends
#define rtl_scope_push            rtl_stub_scope_push
#define rtl_scope_pop             rtl_stub_scope_pop
#define rtl_scope_current         rtl_stub_scope_current
#define rtl_stash_set             rtl_stub_stash_set
#define rtl_stash_get             rtl_stub_stash_get
#define rtl_stash_remove          rtl_stub_stash_remove
#define rtl_site_register         rtl_stub_site_register
#define rtl_span_begin            rtl_stub_span_begin
#define rtl_span_finish           rtl_stub_span_finish
#define rtl_default_stream        rtl_stub_default_stream
#define rtl_default_mark          rtl_stub_default_mark
#define rtl_default_begin         rtl_stub_default_begin
#define rtl_default_end           rtl_stub_default_end

/* One of each in a library, whatever number of its files include this. */
#define RTL_STUB_SHARED_ __attribute__((weak, visibility("hidden")))
#define RTL_STUB_16_     1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
#define RTL_STUB_64_     RTL_STUB_16_, RTL_STUB_16_, RTL_STUB_16_, RTL_STUB_16_

/* Until the first look, so that the first mark or region comes to us. Not const: it would be a
 * constant of each file's own in C++. */
RTL_STUB_SHARED_ uint8_t rtl_stub_everything[256] = {RTL_STUB_64_, RTL_STUB_64_, RTL_STUB_64_,
						     RTL_STUB_64_};
RTL_STUB_SHARED_ const uint8_t *rtl_stub_default_wanted = rtl_stub_everything;
#define rtl_default_wanted rtl_stub_default_wanted

#ifdef __cplusplus
}
#endif

#include <rtl/rtl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_STUB_MEMBER_V_(name, result, parameters, arguments, absent) result(*name) parameters;
#define RTL_STUB_MEMBER_N_(name, parameters, arguments)                 void(*name) parameters;

/* Where librtl's functions are; NULL: not found. Release by rtl_stub_take_, acquire by calls. */
struct rtl_stub_calls {
	uint32_t busy;   /* somebody looks */
	uint32_t loaded; /* loading has been tried: under busy */
	uint32_t found;  /* release by rtl_stub_look_, acquire by rtl_stub_available */
	RTL_STUB_CALLS_(RTL_STUB_MEMBER_V_, RTL_STUB_MEMBER_N_)
	int (*stream_register)(const struct rtl_stream_info *info, struct rtl_stream **out);
	struct rtl_stream *(*default_stream)(void);
	const uint8_t **default_wanted;
	void (*default_mark)(struct rtl_site *site, const char *text, uint32_t kind, uint64_t bits);
	void (*default_begin)(struct rtl_span *span, struct rtl_site *site, const char *text,
			      uint32_t kind, uint64_t bits);
	void (*log)(enum rtl_level level, const char *who, const char *format, ...);
};

RTL_STUB_SHARED_ struct rtl_stub_calls rtl_stub_calls;
RTL_STUB_SHARED_ struct rtl_stream rtl_stub_stream_none;
RTL_STUB_SHARED_ struct rtl_pending rtl_stub_pending_none;
#define rtl_stream_none rtl_stub_stream_none
/* librtl does not know our rtl_stream_none; NULL is none as well to those that look for it. */
#define RTL_STUB_STREAM_(stream) ((stream) == &rtl_stub_stream_none ? NULL : (stream))

typedef void *rtl_stub_pointer __attribute__((may_alias));

static inline void rtl_stub_take_(void *librtl, const char *name, void *place)
{
	/* release: with the acquire in the call */
	__atomic_store_n((rtl_stub_pointer *)place, dlsym(librtl, name), __ATOMIC_RELEASE);
}

#define RTL_STUB_TAKE_(name)                                          rtl_stub_take_(librtl, "rtl_" #name, &rtl_stub_calls.name);
#define RTL_STUB_TAKE_V_(name, result, parameters, arguments, absent) RTL_STUB_TAKE_(name)
#define RTL_STUB_TAKE_N_(name, parameters, arguments)                 RTL_STUB_TAKE_(name)

static inline void rtl_stub_take_all_(void *librtl)
{
	RTL_STUB_CALLS_(RTL_STUB_TAKE_V_, RTL_STUB_TAKE_N_)
	RTL_STUB_TAKE_(default_stream)
	RTL_STUB_TAKE_(default_wanted)
	RTL_STUB_TAKE_(default_mark)
	RTL_STUB_TAKE_(default_begin)
	RTL_STUB_TAKE_(log)
	RTL_STUB_TAKE_(stream_register)
}

/* The variable by which the user asks for librtl, or NULL. */
static inline const char *rtl_stub_asked_by_(void)
{
	const char *collector = getenv("RTL_COLLECTOR"), *subscribers = getenv("RTL_SUBSCRIBERS");

	if (collector && *collector)
		return "RTL_COLLECTOR";
	return subscribers && *subscribers ? "RTL_SUBSCRIBERS" : NULL;
}

/* Under busy. That librtl is mapped does not mean that its constructors have run, as ours may run
 * first: dlopen has them run before it returns, which dlsym would not. */
static inline void *rtl_stub_open_(void)
{
	void *librtl = dlopen("librtl.so.0", RTLD_LAZY | RTLD_NOLOAD);
	const char *asked_by = librtl || rtl_stub_calls.loaded ? NULL : rtl_stub_asked_by_();
	const char *path;

	if (!asked_by)
		return librtl;
	rtl_stub_calls.loaded = 1;
	/* rtl says which is its own; not to programs with other rights */
	path = getauxval(AT_SECURE) ? NULL : getenv("RTL_LIBRARY");
	if (path && *path == '/')
		librtl = dlopen(path, RTLD_NOW);
	if (!librtl)
		librtl = dlopen("librtl.so.0", RTLD_NOW);
	if (!librtl)
		fprintf(stderr,
			"rtl: stub warning: %s is set, but librtl cannot be loaded (%s): "
			"a library is not traced\n",
			asked_by, dlerror());
	return librtl;
}

static inline void rtl_stub_look_(void)
{
	void *librtl;

	/* acquire, with the release at the end: one looks at a time */
	while (__atomic_exchange_n(&rtl_stub_calls.busy, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	librtl = rtl_stub_calls.found ? NULL : rtl_stub_open_();
	if (librtl) {
		rtl_stub_take_all_(librtl);
		__atomic_store_n(&rtl_stub_default_wanted, (const uint8_t *)rtl_stub_everything,
				 __ATOMIC_RELEASE);
		/* release: with the acquire in rtl_stub_available */
		__atomic_store_n(&rtl_stub_calls.found, 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&rtl_stub_calls.busy, 0, __ATOMIC_RELEASE);
}

/** Whether librtl is there; looks for it if it was not found before. */
static inline bool rtl_stub_available(void)
{
	if (__atomic_load_n(&rtl_stub_calls.found, __ATOMIC_ACQUIRE))
		return true;
	rtl_stub_look_();
	return __atomic_load_n(&rtl_stub_calls.found, __ATOMIC_ACQUIRE) != 0;
}

#define RTL_STUB_DEFINE_V_(name, result, parameters, arguments, absent)                            \
	static inline result rtl_stub_##name parameters                                            \
	{                                                                                          \
		result(*call) parameters =                                                         \
			__atomic_load_n(&rtl_stub_calls.name, __ATOMIC_ACQUIRE);                   \
                                                                                                   \
		return call ? call arguments : absent;                                             \
	}
#define RTL_STUB_DEFINE_N_(name, parameters, arguments)                                            \
	static inline void rtl_stub_##name parameters                                              \
	{                                                                                          \
		void(*call) parameters = __atomic_load_n(&rtl_stub_calls.name, __ATOMIC_ACQUIRE);  \
                                                                                                   \
		if (call)                                                                          \
			call arguments;                                                            \
	}

RTL_STUB_CALLS_(RTL_STUB_DEFINE_V_, RTL_STUB_DEFINE_N_)

static inline int rtl_stub_stream_register(const struct rtl_stream_info *info,
					   struct rtl_stream **out)
{
	if (!rtl_stub_available() || !rtl_stub_calls.stream_register)
		return RTL_ENOTSUP;
	return rtl_stub_calls.stream_register(info, out);
}

static inline struct rtl_stream *rtl_stub_default_stream(void)
{
	struct rtl_stream *stream = &rtl_stub_stream_none;
	const uint8_t *wanted = stream->wanted;

	if (rtl_stub_available() && rtl_stub_calls.default_stream) {
		stream = rtl_stub_calls.default_stream();
		wanted = stream->wanted;
	}
	/* release: with the acquire in rtl_default_enabled */
	__atomic_store_n(&rtl_stub_default_wanted, wanted, __ATOMIC_RELEASE);
	return stream;
}

static inline void rtl_stub_default_mark(struct rtl_site *site, const char *text, uint32_t kind,
					 uint64_t bits)
{
	if (__atomic_load_n(&rtl_stub_default_wanted, __ATOMIC_ACQUIRE) == rtl_stub_everything)
		rtl_stub_default_stream();
	if (rtl_stub_available() && rtl_stub_calls.default_mark)
		rtl_stub_calls.default_mark(site, text, kind, bits);
}

static inline void rtl_stub_default_begin(struct rtl_span *span, struct rtl_site *site,
					  const char *text, uint32_t kind, uint64_t bits)
{
	if (__atomic_load_n(&rtl_stub_default_wanted, __ATOMIC_ACQUIRE) == rtl_stub_everything)
		rtl_stub_default_stream();
	if (rtl_stub_available() && rtl_stub_calls.default_begin)
		rtl_stub_calls.default_begin(span, site, text, kind, bits);
}

static inline void rtl_stub_log(enum rtl_level level, const char *who, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	if (!rtl_stub_available() || !rtl_stub_calls.log)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	rtl_stub_calls.log(level, who, "%s", text);
}

#ifdef __cplusplus
}
#endif
#endif
