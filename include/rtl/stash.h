/* SPDX-License-Identifier: MIT */
/** @file stash.h
 * For publishers: numbers by key for each thread. A layer leaves there what those below need and scopes (rtl/scope.h)
 * do not carry.
 *
 * Threads: any; the stash is the calling thread's own. Signal handlers may use it.
 * Cost: no lock, system call or allocation but on the first use in a thread (one page).
 * Thread exit: what is stashed is gone. fork: the child goes on with what the forking thread had. */
#ifndef RTL_STASH_H
#define RTL_STASH_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/** Leaves a value on the calling thread, in the place of an earlier one of that key.
 * @param key  not 0
 * @return 0; RTL_EINVAL: key 0; RTL_ELIMIT: RTL_STASH_MAX other keys are there; RTL_ENOMEM */
RTL_API int rtl_stash_set(uint64_t key, uint64_t value);

/** Reads what was left.
 * @param[out] value  untouched if there is none
 * @return 0; RTL_ENOENT; RTL_EINVAL */
RTL_API int rtl_stash_get(uint64_t key, uint64_t *value);

/** @return 0; RTL_ENOENT: there was none */
RTL_API int rtl_stash_remove(uint64_t key);

#ifdef __cplusplus
}
#endif
#endif
