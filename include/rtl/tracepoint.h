/* SPDX-License-Identifier: MIT */
/** @file tracepoint.h
 * For publishers: interned strings, tracepoints with universal ids, metadata.
 *
 * A tracepoint is a place or a thing that events are about: a function called at a call site, a kernel, a queue, a GPU.
 * It is registered once and known by its universal id from then on: 64 bits, never 0, computed from what describes it,
 * so that the same thing has the same id in every process and every run. Two different things never share one within a
 * process. */
#ifndef RTL_TRACEPOINT_H
#define RTL_TRACEPOINT_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What identifies a tracepoint. Members that do not apply are NULL or 0. Equal contents (text by text, number by
 * number) are the same tracepoint. */
struct rtl_tracepoint_desc {
	uint32_t struct_size;
	uint32_t line;      /**< 1-based; 0 = not known */
	uint32_t column;    /**< 1-based; 0 = not known */
	uint32_t reserved;  /**< 0 */
	const char *kind;   /**< what it is: "function", "kernel", "queue", "agent", ... */
	const char *name;   /**< of the function, kernel (mangled), ...; required */
	const char *source; /**< file of the source, or of the code object */
	/** Code address of a call site in this process. It does not go into the id as it is: the build id of its module
	 * and the offset in it do. (With it, finding a known one asks the loader whether libraries have been unloaded,
	 * some 40 ns.) */
	const void *code;
	uint64_t hash; /**< of the code object, or any number that tells twins apart */
};

/** Registers a tracepoint, or finds it. Lock-free when it is known already, and then some 100 ns: keep the id rather
 * than ask again on a hot path.
 *
 * Any thread; not from a signal handler.
 * @param[out] uid  its universal id
 * @return 0; RTL_EINVAL: no name; RTL_ENOMEM */
RTL_API int rtl_tracepoint_register(const struct rtl_tracepoint_desc *desc, uint64_t *uid);

/** Attaches a key and a value to a tracepoint; a later value of the same key replaces the earlier one. Any thread; not
 * from a signal handler.
 * @return 0; RTL_ENOENT: no such tracepoint; RTL_ENOMEM */
RTL_API int rtl_tracepoint_set(uint64_t uid, const char *key, const char *value);

/** As rtl_tracepoint_set, of a value that is no text. Subscribers get its kind, and the text of it: decimal; "0x..." of
 * an address or uid; "true" or "false".
 * @param kind  RTL_KIND_UINT, INT, FLOAT, BOOL, ADDRESS, TIME or UID
 * @param bits  the value, widened to 64 bits; of RTL_KIND_FLOAT those of a double
 * @return as rtl_tracepoint_set; RTL_EINVAL: another kind */
RTL_API int rtl_tracepoint_set_value(uint64_t uid, const char *key, uint16_t kind, uint64_t bits);

/** What a tracepoint was registered with, by whichever publisher of this process. Lock-free. Any thread; from a signal
 * handler too.
 * @param[in,out] desc  struct_size set by the caller. The texts are valid until the process ends,
 *                      "" where there are none; code is that of the process.
 * @return 0; RTL_ENOENT: no such tracepoint; RTL_EINVAL */
RTL_API int rtl_tracepoint_find(uint64_t uid, struct rtl_tracepoint_desc *desc);

/** Leaves one pointer with a tracepoint, for publishers of this process; subscribers do not see it. Release, with the
 * acquire of rtl_tracepoint_user. Any thread; signal handlers too. @return 0; RTL_ENOENT: no such tracepoint */
RTL_API int rtl_tracepoint_set_user(uint64_t uid, void *user);

/** That pointer; NULL: none was left, or no such tracepoint. */
RTL_API void *rtl_tracepoint_user(uint64_t uid);

/** Interns a string: gives an id that payload fields of RTL_KIND_STRING carry. The same text has the same id in every
 * process. Lock-free when the text is known.
 *
 * Any thread; not from a signal handler.
 * @return 0; RTL_EINVAL; RTL_ENOMEM */
RTL_API int rtl_string_intern(const char *text, uint64_t *id);

/** The text of an interned string, or NULL; valid until the process ends. Lock-free. */
RTL_API const char *rtl_string_text(uint64_t id);

#ifdef __cplusplus
}
#endif
#endif
