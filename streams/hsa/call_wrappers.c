/* SPDX-License-Identifier: MIT */
/* A wrapper for each function of calls.def, and what calls.h says of it.
 *
 * Threads: the program's. A call that nobody wants costs a branch. */
#include "calls.h"
#include "memory.h"

#define CALL_TABLE "hsa/calls.def"
#include "../call/states.h"

#include "../call/pack.h"

#define PACK(id, arguments)                                                                        \
	struct call_pack pack_;                                                                    \
	_Alignas(8) unsigned char packed_[CALL_PACKED_BYTES];                                      \
                                                                                                   \
	call_pack_begin(&pack_, packed_, STATES_##id);                                             \
	arguments

void *call_next[TABLE_FUNCTIONS];

/* What it does to memory; NULL: nothing. */
static inline __attribute__((always_inline)) const struct memory_function *
memory_function(enum table_function number)
{
#define MEMORY(id, does_, kind_, pool_, bytes_, address_)                                          \
	case ENTRY_##id: {                                                                         \
		static const struct memory_function function = {.does = MEMORY_##does_,            \
								.kind = RTL_HSA_MEM_##kind_,       \
								.pool = pool_,                     \
								.bytes = bytes_,                   \
								.address = address_};              \
		return &function;                                                                  \
	}
	switch (number) {
		MEMORY_FUNCTIONS(MEMORY)
	default:
		return NULL;
	}
}

bool call_is_of_memory(uint32_t number)
{
	return memory_function(number);
}

#define CALL_FUNCTION(id, name, symbol, category, ctype, kind, type, notes, parameters, names,     \
		      arguments)                                                                   \
	static ctype wrapper_of_##id parameters                                                    \
	{                                                                                          \
		ctype(*const next_) parameters = (ctype(*) parameters)call_next[ENTRY_##id];       \
		const struct memory_function *const memory_ = memory_function(ENTRY_##id);         \
                                                                                                   \
		if (!calls_wanted() && !memory_)                                                   \
			return next_ names;                                                        \
		PACK(id, arguments);                                                               \
		struct memory_operation operation_;                                                \
		struct call call_ = {0};                                                           \
                                                                                                   \
		if (!memory_ || calls_wanted())                                                    \
			call_ = call_begin(ENTRY_##id, &pack_);                                    \
		if (memory_)                                                                       \
			memory_begin(&operation_, memory_, ENTRY_##id, pack_.values);              \
		ctype const result_ = next_ names;                                                 \
                                                                                                   \
		if (memory_)                                                                       \
			memory_end(&operation_, pack_.values,                                      \
				   (uint32_t)CALL_RESULT_##kind(result_));                         \
		call_end(&call_, ENTRY_##id, &pack_, (uint64_t)CALL_RESULT_##kind(result_));       \
		return result_;                                                                    \
	}

#define CALL_PROCEDURE(id, name, symbol, category, ctype, kind, type, notes, parameters, names,    \
		       arguments)                                                                  \
	static void wrapper_of_##id parameters                                                     \
	{                                                                                          \
		void(*const next_) parameters = (void(*) parameters)call_next[ENTRY_##id];         \
                                                                                                   \
		if (!calls_wanted()) {                                                             \
			next_ names;                                                               \
			return;                                                                    \
		}                                                                                  \
		PACK(id, arguments);                                                               \
		const struct call call_ = call_begin(ENTRY_##id, &pack_);                          \
                                                                                                   \
		next_ names;                                                                       \
		call_end(&call_, ENTRY_##id, &pack_, 0);                                           \
	}
#include "hsa/calls.def"

void *const call_wrappers[TABLE_FUNCTIONS] = {
#undef CALL_FUNCTION
#undef CALL_PROCEDURE
#define CALL_FUNCTION(id, ...)  (void *)wrapper_of_##id,
#define CALL_PROCEDURE(id, ...) (void *)wrapper_of_##id,
#include "hsa/calls.def"
};
