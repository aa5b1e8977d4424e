/* SPDX-License-Identifier: MIT */
/*
 * Arguments of calls as payloads have them: the values alone. What they are is said once for each
 * function, in its tracepoint (RTL_VALUES_KEY in rtl/types.h).
 *
 * Arguments are read where the program cannot be hurt by it: what a function has written only after
 * it has succeeded, texts by text_read.
 *
 * Threads: any. No locks, but for what describes a function.
 */
#ifndef STREAMS_CALL_ARGUMENTS_H
#define STREAMS_CALL_ARGUMENTS_H

#include <rtl/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "../common/text.h"

#define CALL_ARGUMENTS 24 /* of a call, at most */
#define CALL_TEXTS     4  /* of a call that are read */

/* What is recorded of a parameter. */
struct call_argument {
	const char *name;
	const char *values; /* names of its numbers, or of what the call leaves: "0=NO;1=YES"; or
			       NULL */
	uint8_t kind;       /* enum rtl_kind of what is passed */
	uint8_t size;       /* bytes in a payload: 1, 2, 4 or 8 */
	uint8_t out_kind;   /* of what the call leaves where this points to; 0: that is not followed
			     */
	uint8_t out_size;
};

/* All of a function. */
struct call_signature {
	const struct call_argument *arguments;
	uint8_t count;
	bool has_texts;  /* among them, or where they point to */
	bool has_states; /* see RTL_VALUES_KEY: texts, or what is followed */
};

/* The values of one call. On the stack. */
struct call_values {
	const struct call_signature *signature;
	const uint64_t *slots; /* the arguments, 64 bits each */
	const void *packed;    /* the same by call_values_pack; NULL: they are not */
	bool succeeded;        /* what it has written can be read */
	uint32_t count;
	uint32_t bytes; /* without texts */
	uint32_t text_bytes;
	struct text texts[CALL_TEXTS];
};

/* Says in the function's tracepoint what its arguments are: "rtl.values", and "arguments", their
 * prototypes, for whoever reads the trace. types: as the headers have them. Once; not on a hot
 * path. */
void call_describe(const struct call_signature *signature, const char *const *types, uint64_t uid);

/* What call_values_pack writes at most, some of it behind the values. */
#define CALL_PACKED_BYTES (8u * CALL_ARGUMENTS + 8u)

/* Writes the values once for several payloads, where they depend on nothing but `slots`
 * (call_values_constant). */
void call_values_pack(const struct call_signature *signature, const uint64_t *slots, void *packed);

static inline bool call_values_constant(const struct call_signature *signature)
{
	return !signature->has_states;
}

/* How many bytes its arguments take in a payload, without texts. */
uint32_t call_value_bytes(const struct call_signature *signature, uint32_t count);

/* Before the record is reserved: reads the texts. bytes: call_value_bytes of all of them. Returns
 * how many bytes call_values_fill wants. */
uint32_t call_values_read(struct call_values *values, const struct call_signature *signature,
			  uint32_t bytes, const uint64_t *slots, bool succeeded);

/* Drops what does not fit, texts first; returns how many bytes are left. */
uint32_t call_values_fit(struct call_values *values, uint32_t room);

/* Writes them behind `offset` of the payload, a multiple of 8, and tells where in `place`. */
void call_values_fill(const struct call_values *values, void *payload, uint32_t offset,
		      struct rtl_text *place);

#endif
