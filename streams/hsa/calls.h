/* SPDX-License-Identifier: MIT */
/* Calls of the HSA runtime's functions: the streams rtl.hsa.call and rtl.hsa.call.debug.
 *
 * Each function of calls.def has a wrapper (call_wrappers.c), outermost in the runtime's tables, around the hooks of
 * the other parts. The interceptor itself calls entries that were kept before. The runtime calls itself through the
 * tables here and there (ROCm 7 when it freezes an executable): a call within another that does not call the
 * application back is not the application's, and is not shown.
 *
 * Threads: the streams are registered and the hooks put in OnLoad; wrappers on any. No locks. */
#pragma once

#include <rtl/rtl.h>

#include "../call/arguments.h"
#include "../call/enumeration.h"
#include "../common/shared.h"
#include "table.h"

/* Gives functions and statuses their strings and tracepoints. Once is enough. */
void calls_name_all(void);

/* The name of an hsa_status_t, a string; 0: it has none. */
uint64_t calls_status_string(int status);

/* What follows is for the wrappers, and for the parts of this one. */

/* Any of the runtime's handles: they are structs, passed as such. */
struct call_handle {
	uint64_t handle;
};

struct call_function {
	const char *name;
	struct call_signature signature;
	const char *const *types; /* of the arguments, as the headers have them */
	bool has_status;          /* returns an hsa_status_t */
	bool calls_back;          /* code of the application may run inside of it */
};

struct call_function_ids {
	uint64_t uid;
	uint64_t name;
	uint32_t value_bytes; /* of its arguments; 0: they have not been described */
	bool left_out;        /* a getter, and RTL_STREAMS does not name the stream */
};

/* By number: enum table_function. */
extern const struct call_function call_functions[TABLE_FUNCTIONS];
/* Tracepoints and strings of these. */
extern struct call_function_ids call_function_ids[TABLE_FUNCTIONS];
struct call_enumeration *calls_statuses(void); /* the values of hsa_status_t */
extern void *const call_wrappers[TABLE_FUNCTIONS];
/* Whether that one allocates or releases memory, which its wrapper follows: memory.h. */
bool call_is_of_memory(uint32_t number);
/* What was in the table in the place of each function's wrapper. */
extern void *call_next[TABLE_FUNCTIONS];

struct call_streams {
	struct rtl_stream *plain; /* rtl.hsa.call */
	struct rtl_stream *debug; /* rtl.hsa.call.debug */
};

extern struct call_streams call_streams;

/* Whether anybody wants to know of calls. */
static inline bool calls_wanted(void)
{
	return __builtin_expect((wanted_pair(call_streams.plain, RTL_FUNCTION_BEGIN) |
				 wanted_pair(call_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN)) !=
					0,
				0);
}

/* A call under way; begin_ticks 0: one that the runtime makes to itself. */
struct call {
	uint64_t begin_ticks;
	uint64_t instance; /* 0: of one that is left out */
};

/* Around the call of the function with that number, and its arguments (call/pack.h). */
struct call_pack;
struct call call_begin(uint32_t number, const struct call_pack *pack);
void call_end(const struct call *call, uint32_t number, const struct call_pack *pack,
	      uint64_t result);
