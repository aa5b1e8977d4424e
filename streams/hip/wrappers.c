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

#define HIP_EXCLUDED(...)
#define CALL_TABLE "../hip/functions.def"
#include "../call/states.h"

#include "../call/pack.h"

#define EXPORT __attribute__((visibility("default")))

/* Functions that find functions: what they find is replaced, whoever listens. */
#define IS_LOOKUP(id)                                                                              \
	((id) == HIP_ID_hipGetProcAddress || (id) == HIP_ID_hipGetDriverEntryPoint ||              \
	 (id) == HIP_ID_hipGetDriverEntryPoint_spt)

#define STREAM_OF(stream, device) stream
#define DEVICE_OF(stream, device) device

#define PACK(id, notes, arguments)                                                                 \
	struct call_pack pack_;                                                                    \
                                                                                                   \
	call_pack_begin(&pack_, call_.packed, STATES_##id);                                        \
	arguments;                                                                                 \
	hip_call_note(&call_, STREAM_OF notes >= 0, call_pack_value(&pack_, STREAM_OF notes),      \
		      DEVICE_OF notes < 0 ? -1                                                     \
					  : (int32_t)call_pack_value(&pack_, DEVICE_OF notes))

#define CALL_FUNCTION(id, name, symbol, category, ctype, kind, type, notes, parameters, names,     \
		      arguments)                                                                   \
	EXPORT ctype wrapper_of_##id parameters __asm__(symbol);                                   \
	ctype wrapper_of_##id parameters                                                           \
	{                                                                                          \
		ctype(*const real_) parameters = (ctype(*) parameters)hip_real(HIP_ID_##id);       \
                                                                                                   \
		if (!hip_wanted() && !IS_LOOKUP(HIP_ID_##id))                                      \
			return real_ names;                                                        \
		struct hip_call call_;                                                             \
		PACK(id, notes, arguments);                                                        \
		const bool recorded_ =                                                             \
			(!IS_LOOKUP(HIP_ID_##id) || hip_wanted()) &&                               \
			hip_call_begin(&call_, HIP_ID_##id, __builtin_return_address(0));          \
                                                                                                   \
		if (!recorded_ && !IS_LOOKUP(HIP_ID_##id))                                         \
			return real_ names;                                                        \
		ctype result_ = real_ names;                                                       \
		if (recorded_)                                                                     \
			hip_call_end(&call_, CALL_RESULT_##kind(result_));                         \
		if (IS_LOOKUP(HIP_ID_##id) && !CALL_RESULT_##kind(result_))                        \
			hip_replace((void **)(uintptr_t)call_pack_value(&pack_, 1));               \
		return result_;                                                                    \
	}

#define CALL_PROCEDURE(id, name, symbol, category, ctype, kind, type, notes, parameters, names,    \
		       arguments)                                                                  \
	EXPORT void wrapper_of_##id parameters __asm__(symbol);                                    \
	void wrapper_of_##id parameters                                                            \
	{                                                                                          \
		void(*const real_) parameters = (void(*) parameters)hip_real(HIP_ID_##id);         \
                                                                                                   \
		if (!hip_wanted()) {                                                               \
			real_ names;                                                               \
			return;                                                                    \
		}                                                                                  \
		struct hip_call call_;                                                             \
		PACK(id, notes, arguments);                                                        \
		if (!hip_call_begin(&call_, HIP_ID_##id, __builtin_return_address(0))) {           \
			real_ names;                                                               \
			return;                                                                    \
		}                                                                                  \
		real_ names;                                                                       \
		hip_call_end(&call_, 0);                                                           \
	}

#include "functions.def"
