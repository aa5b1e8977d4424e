/* SPDX-License-Identifier: MIT */
/*
 * What a program calls in HIP's place, when this library is preloaded: a function for each of
 * functions.def, exported under its symbol.
 *
 * Threads: the program's. A call that nobody wants costs a branch, and the jump to HIP's function.
 */
#include "../call/slots.h"
#include "calls.h"
#include "real.h"
#include "types.h"

#define EXPORT __attribute__((visibility("default")))

/* Functions that find functions: what they find is replaced, whoever listens. */
#define IS_LOOKUP(id)                                                                              \
	((id) == HIP_ID_hipGetProcAddress || (id) == HIP_ID_hipGetDriverEntryPoint ||              \
	 (id) == HIP_ID_hipGetDriverEntryPoint_spt)

#define CALL_FUNCTION(id, name, symbol, category, ctype, kind, type, notes, parameters, names,     \
		      arguments)                                                                   \
	EXPORT ctype wrapper_of_##id parameters __asm__(symbol);                                   \
	ctype wrapper_of_##id parameters                                                           \
	{                                                                                          \
		ctype(*const real_) parameters = (ctype(*) parameters)hip_real(HIP_ID_##id);       \
                                                                                                   \
		if (!hip_wanted() && !IS_LOOKUP(HIP_ID_##id))                                      \
			return real_ names;                                                        \
		const uint64_t slots_[] = {arguments 0};                                           \
		struct hip_call call_;                                                             \
		const bool recorded_ =                                                             \
			(!IS_LOOKUP(HIP_ID_##id) || hip_wanted()) &&                               \
			hip_call_begin(&call_, HIP_ID_##id, slots_, __builtin_return_address(0));  \
                                                                                                   \
		if (!recorded_ && !IS_LOOKUP(HIP_ID_##id))                                         \
			return real_ names;                                                        \
		ctype result_ = real_ names;                                                       \
		if (recorded_)                                                                     \
			hip_call_end(&call_, slots_, CALL_RESULT_##kind(result_));                 \
		if (IS_LOOKUP(HIP_ID_##id) && !CALL_RESULT_##kind(result_))                        \
			hip_replace((void **)(uintptr_t)slots_[1]);                                \
		return result_;                                                                    \
	}

#define CALL_PROCEDURE(id, name, symbol, category, ctype, kind, type, notes, parameters, names,    \
		       arguments)                                                                  \
	EXPORT void wrapper_of_##id parameters __asm__(symbol);                                    \
	void wrapper_of_##id parameters                                                            \
	{                                                                                          \
		void(*const real_) parameters = (void(*) parameters)hip_real(HIP_ID_##id);         \
		const uint64_t slots_[] = {arguments 0};                                           \
		struct hip_call call_;                                                             \
                                                                                                   \
		if (!hip_wanted() ||                                                               \
		    !hip_call_begin(&call_, HIP_ID_##id, slots_, __builtin_return_address(0))) {   \
			real_ names;                                                               \
			return;                                                                    \
		}                                                                                  \
		real_ names;                                                                       \
		hip_call_end(&call_, slots_, 0);                                                   \
	}

#define CALL_ENUMERATION(...)
#define HIP_EXCLUDED(...)

#include "functions.def"
