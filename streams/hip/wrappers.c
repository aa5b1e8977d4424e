/* SPDX-License-Identifier: MIT */
/*
 * What a program calls in HIP's place, when this library is preloaded: a function for each of
 * functions.def, exported under its symbol.
 *
 * Threads: the program's. A call that nobody wants costs a branch, and the jump to HIP's function.
 */
#include "calls.h"
#include "real.h"
#include "types.h"

#define EXPORT __attribute__((visibility("default")))

/* 8 bytes of each argument: what functions.c says of it tells how to read them. */
static inline uint64_t slot_of_float(double value)
{
	uint64_t slot;

	__builtin_memcpy(&slot, &value, sizeof(slot));
	return slot;
}

#define HIP_ADDRESS(of, type, size)      (uint64_t)(uintptr_t)(of),
#define HIP_UNSIGNED(of, type, size)     (uint64_t)(of),
#define HIP_SIGNED(of, type, size)       (uint64_t)(int64_t)(of),
#define HIP_FLOAT(of, type, size)        slot_of_float(of),
#define HIP_TEXT(of, type, size)         (uint64_t)(uintptr_t)(of),
#define HIP_ENUM(of, type)               (uint64_t)(int64_t)(of),
#define HIP_OUTPUT(of, type, kind, size) (uint64_t)(uintptr_t)(of),
#define HIP_OUTPUT_ENUM(of, type, value) (uint64_t)(uintptr_t)(of),

#define RESULT_e(result) (int64_t)(result)
#define RESULT_i(result) (int64_t)(result)
#define RESULT_a(result) (int64_t)(uintptr_t)(result)
#define RESULT_s(result) ((void)(result), 0)

/* Functions that find functions: what they find is replaced, whoever listens. */
#define IS_LOOKUP(id)                                                                              \
	((id) == HIP_ID_hipGetProcAddress || (id) == HIP_ID_hipGetDriverEntryPoint ||              \
	 (id) == HIP_ID_hipGetDriverEntryPoint_spt)

#define HIP_FUNCTION(id, name, symbol, category, ctype, kind, type, stream, device, parameters,    \
		     names, arguments)                                                             \
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
			hip_call_end(&call_, slots_, RESULT_##kind(result_));                      \
		if (IS_LOOKUP(HIP_ID_##id) && !RESULT_##kind(result_))                             \
			hip_replace((void **)(uintptr_t)slots_[1]);                                \
		return result_;                                                                    \
	}

#define HIP_PROCEDURE(id, name, symbol, category, ctype, kind, type, stream, device, parameters,   \
		      names, arguments)                                                            \
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

#define HIP_ENUMERATION(...)
#define HIP_EXCLUDED(...)

#include "functions.def"
