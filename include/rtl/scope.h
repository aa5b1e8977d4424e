/* SPDX-License-Identifier: MIT */
/** @file scope.h
 * For publishers: scopes. Each thread has a stack of what it is inside of. An API layer opens a scope around a call. A
 * layer below it, in another library, finds there which call it works for.
 *
 * Threads: any; scopes are the calling thread's own, and nobody else sees them.
 * Cost: no lock, system call or allocation but on the first use in a thread (one page).
 * Signal handlers may use them: the interrupted code finds what it had if the handler closes what
 * it opens.
 * Thread exit: what is still open is gone; no event is published for it.
 * fork: the child goes on with what the forking thread had. Ids in it are those of its parent's
 * events.
 * longjmp and threads that are cancelled leave scopes open: closing an outer one closes those. */
#ifndef RTL_SCOPE_H
#define RTL_SCOPE_H

#include <rtl/publish.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/** Opens a scope on the calling thread.
 * @param uid          tracepoint of what begins; 0 = that of the scope around it
 * @param instance     as in its begin event; 0 = none
 * @param correlation  0 = that of the scope around it
 * @return its depth, from 1, for rtl_scope_pop. More than RTL_SCOPE_DEPTH_MAX: it is not kept, and
 *         rtl_scope_current goes on to tell of the innermost one that is. 0: no memory, nothing
 *         was opened. */
RTL_API uint32_t rtl_scope_push(uint64_t uid, uint64_t instance, uint64_t correlation);

/** Closes the scope of that depth and all inside of it; does nothing if it is closed already, or depth is 0. */
RTL_API void rtl_scope_pop(uint32_t depth);

/** The innermost scope of the calling thread.
 * @param[in,out] scope  struct_size set by the caller
 * @return 0; RTL_ENOENT: none is open; RTL_EINVAL */
RTL_API int rtl_scope_current(struct rtl_scope *scope);

/** As rtl_reserve; fills parent_uid and correlation from the innermost scope (0: there is none). */
RTL_API struct rtl_record *rtl_reserve_in_scope(struct rtl_stream *stream, uint16_t type,
						uint32_t payload_size);

#ifdef __cplusplus
}
#endif
#endif
