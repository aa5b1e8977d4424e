/* SPDX-License-Identifier: MIT */
/*
 * HIP's own functions behind ours. HIP is never loaded or linked to: it is looked for where the
 * program has it, behind us in the search order or, if it was loaded for a few libraries only,
 * among what is loaded.
 *
 * Threads: any. No lock is held while the loader is called.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "functions.h"

typedef void (*hip_any_fn)(void);

extern hip_any_fn hip_real_functions[HIP_FUNCTIONS];

/* First call of a function: finds it, and starts the interceptor. Does not return if HIP has no such
 * function: the program ends as it would have for want of the symbol. */
__attribute__((cold)) hip_any_fn hip_resolve(enum hip_id id);

static inline hip_any_fn hip_real(enum hip_id id)
{
	/* acquire: with the release in hip_resolve, which may have made the code appear */
	const hip_any_fn real = __atomic_load_n(&hip_real_functions[id], __ATOMIC_ACQUIRE);

	return __builtin_expect(real != NULL, 1) ? real : hip_resolve(id);
}

/* Makes that the function that ours calls, and starts the interceptor. */
void hip_set_real(enum hip_id id, hip_any_fn real);

/* Our function of that name; NULL: none. Not on a hot path. */
void *hip_find_ours(const char *symbol);

/* HIP's function of that number, if HIP is in the process and has it; NULL. */
hip_any_fn hip_find_real(enum hip_id id);

/* Our function of that name, if what was found there is HIP's that ours calls; else NULL. Not on a
 * hot path. */
void *hip_ours(const char *name, const void *found);

/* Puts our function in the place of one of HIP's that the program has looked up; leaves anything
 * else, and NULL. Not on a hot path. */
void hip_replace(void **function);

/* Where HIP's own code is; false: there is none. Not within dl_iterate_phdr. */
bool hip_find_range(uintptr_t *begin, uintptr_t *end);

/* Whether that code belongs to HIP or to us: a call from there is one that HIP makes to itself. */
bool hip_is_internal(const void *code);
