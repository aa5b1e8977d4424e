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
#pragma once

#include <rtl/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "../common/text.h"

#define CALL_ARGUMENTS 24 /* of a call, at most */
#define CALL_TEXTS     4  /* of a call that are read */

/* What is recorded of a parameter. */
struct call_argument {
	const char *name;
	const char
		*values;  /* names of its numbers, or of what the call leaves: "0=NO;1=YES"; or 0 */
	uint8_t kind;     /* enum rtl_kind of what is passed */
	uint8_t size;     /* bytes in a payload: 1, 2, 4 or 8 */
	uint8_t out_kind; /* of what the call leaves where this points to; 0: not followed */
	uint8_t out_size;
};

/* All of a function. */
struct call_signature {
	const struct call_argument *arguments;
	uint8_t count;
	bool has_texts;  /* among them, or where they point to */
	bool has_states; /* see RTL_VALUES_KEY: texts, or what is followed */
};

/* What stands before the values in a payload: see RTL_VALUES_KEY. */
#define CALL_STATES_BYTES(has_states) ((has_states) ? 8u : 0u)

/* Of the arguments of a call as a payload has them: behind states, if the function has any, which are
 * 0. At the end is what may be read and written of whole words. */
#define CALL_PACKED_BYTES (8u + 8u * CALL_ARGUMENTS + 8u)

/* The values of one call. On the stack. */
struct call_values {
	const struct call_signature *signature;
	const unsigned char *packed;
	bool succeeded; /* what it has written can be read */
	uint32_t count;
	uint32_t bytes; /* without texts */
	uint32_t text_bytes;
	struct text texts[CALL_TEXTS];
};

/* Says in the function's tracepoint what its arguments are: "rtl.values", and "arguments", their
 * prototypes, for whoever reads the trace. types: as the headers have them. Once; not on a hot
 * path. */
void call_describe(const struct call_signature *signature, const char *const *types, uint64_t uid);

/* Makes of what a payload has arguments of 64 bits each. */
void call_values_unpack(const struct call_signature *signature, const unsigned char *packed,
			uint64_t *slots);

/* How many bytes its arguments take in a payload, without texts. */
uint32_t call_value_bytes(const struct call_signature *signature, uint32_t count);

/* Parts of the functions below, which are rare or long. */
uint32_t call_values_read_texts(struct call_values *values);
void call_values_follow(const struct call_signature *signature, const unsigned char *packed,
			unsigned char *to);

/* Before the record is reserved: reads the texts. bytes: call_value_bytes of all of them. Returns
 * how many bytes call_values_fill wants. */
static inline uint32_t call_values_read(struct call_values *values,
					const struct call_signature *signature, uint32_t bytes,
					const unsigned char *packed, bool succeeded)
{
	values->signature = signature;
	values->packed = packed;
	values->succeeded = succeeded;
	values->count = bytes ? signature->count : 0;
	values->bytes = bytes;
	values->text_bytes =
		__builtin_expect(signature->has_texts, 0) ? call_values_read_texts(values) : 0;
	return bytes + values->text_bytes;
}

/* Drops what does not fit, texts first; returns how many bytes are left. */
uint32_t call_values_fit(struct call_values *values, uint32_t room);

/* Copies whole words. A payload's room ends with one. */
static inline void call_values_copy(unsigned char *to, const unsigned char *from, uint32_t bytes)
{
	const unsigned char *end = from + bytes;

	for (; from + 8 < end; from += 16, to += 16) {
		__builtin_memcpy(to, from, 16);
		__asm__ volatile("" ::: "memory"); /* a call of memcpy costs more than it saves */
	}
	if (from < end)
		__builtin_memcpy(to, from, 8);
}

/* Writes those of a function without texts behind `offset` of the payload, a multiple of 8, and tells
 * where in `place`. bytes: all of them. */
static inline void call_values_put(const struct call_signature *signature,
				   const unsigned char *packed, uint32_t bytes, bool succeeded,
				   void *payload, uint32_t offset, struct rtl_text *place)
{
	*place = (struct rtl_text){offset, bytes};
	call_values_copy((unsigned char *)payload + offset, packed, bytes);
	if (succeeded && bytes && signature->has_states)
		call_values_follow(signature, packed, (unsigned char *)payload + offset);
}

/* The same of any function. */
void call_values_fill(const struct call_values *values, void *payload, uint32_t offset,
		      struct rtl_text *place);

/* Of a result, by its kind (table.py), the number that is recorded. */
#define CALL_RESULT_e(result) (int64_t)(result)
#define CALL_RESULT_i(result) (int64_t)(result)
#define CALL_RESULT_a(result) (int64_t)(uintptr_t)(result)
#define CALL_RESULT_s(result) ((void)(result), 0)
