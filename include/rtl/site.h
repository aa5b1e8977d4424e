/* SPDX-License-Identifier: MIT */
/** @file site.h
 * For publishers: call sites, tracepoints that are static objects in the source. */
#ifndef RTL_SITE_H
#define RTL_SITE_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/** The tracepoint of a call site (kind "region", metadata "function"); registered by the first call, afterwards one
 * load.
 *
 * The site is identified by its texts, its line, and the place of the static object in its module (build id and
 * offset): one id, however often the compiler copied the code around it.
 *
 * Any thread; not from a signal handler.
 * @return its universal id; 0: no memory for it */
RTL_API uint64_t rtl_site_register(struct rtl_site *site);

#ifdef __cplusplus
}
#endif
#endif
