/* SPDX-License-Identifier: MIT */
/** @file stub.h
 * For libraries that may be traced and must not require rtl. Include it instead of <rtl/rtl.h>, in C or C++, and use
 * the same names: functions, macros, inline tests. The library then has no undefined symbol of rtl and does not depend
 * on librtl; it needs nothing to link to (before glibc 2.34: -ldl).
 *
 * librtl is found by rtl_stream_register, rtl_default_stream, the first mark or region of "rtl.default", and
 * rtl_stub_available, if it
 *  - is in the process already: linked to by another library, preloaded, or loaded by somebody; or
 *  - is asked for by RTL_COLLECTOR or RTL_SUBSCRIBERS: then it is loaded: the file that RTL_LIBRARY
 *    names, as `rtl trace` and `rtl env` set it, or else by the name librtl.so.0.
 *    If that fails, one line on stderr says so.
 * Once found it stays loaded.
 *
 * Without librtl: rtl_stream_register gives RTL_ENOTSUP and leaves the pointer, which began as &rtl_stream_none, so
 * rtl_enabled is false, at one load and a branch as ever. Other functions do nothing and return RTL_ENOTSUP, RTL_ENOENT
 * (scopes, stash, strings), 0 or NULL; rtl_unique_id, rtl_thread_id and the clocks return 0.
 *
 * If librtl comes into the process after the first look, nothing is published until the library looks again.
 * rtl_stream_register and rtl_stub_available look again. Call one of them on rare occasions (a device is opened, a
 * context made) and not on a hot path: without librtl it costs some 20 us. Streams registered from then on work. A
 * pointer that stayed &rtl_stream_none needs another rtl_stream_register.
 *
 * Each library has a stub of its own, hidden; librtl is the same for all. Any thread. Looking for librtl is not for
 * signal handlers; all else is as in the real functions. */
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
struct rtl_slots_info;
struct rtl_site;
struct rtl_span;

/* The functions that are passed on, and macros that rename all: made of the other headers' declarations. */
#include <rtl/stub_calls.h>

/* Declared first, as static: the declarations of the real functions in the other headers, renamed
 * by the macros, then repeat them. */
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
