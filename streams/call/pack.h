/* SPDX-License-Identifier: MIT */
/*
 * Macros for the wrappers of a table of functions (table.py says its language), as statements: they
 * write a call's arguments as its payload will have them (arguments.h). The compiler knows all of
 * their places.
 *
 * They add to a struct call_pack `pack_`. Whether its function has states counts.h tells before.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "arguments.h"

struct call_pack {
	unsigned char *to;
	uint32_t at, count;
	uint64_t values[CALL_ARGUMENTS]; /* each as 64 bits */
};

/* Begins with the states, where the function has any. */
static inline __attribute__((always_inline)) void
call_pack_begin(struct call_pack *pack, unsigned char *to, bool has_states)
{
	pack->to = to;
	pack->at = CALL_STATES_BYTES(has_states);
	pack->count = 0;
	if (has_states)
		memset(to, 0, pack->at);
}

static inline __attribute__((always_inline)) void call_pack_add(struct call_pack *pack,
								uint64_t value, uint32_t size)
{
	const uint64_t low = size < 8 ? value & ((UINT64_C(1) << 8 * (size & 7)) - 1) : value;

	pack->at = (pack->at + size - 1u) & ~(size - 1u);
	/* What begins a word clears the rest of it. */
	memcpy(pack->to + pack->at, &low, pack->at % 8 ? size : 8);
	pack->at += size;
	pack->values[pack->count++] = value;
}

/* Argument number i, of a function that has so many; i below 0: 0. */
static inline __attribute__((always_inline)) uint64_t call_pack_value(const struct call_pack *pack,
								      int i)
{
	return i < 0 ? 0 : pack->values[i];
}

static inline uint64_t call_pack_float(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

#define CALL_ADDRESS(of, type, size)      call_pack_add(&pack_, (uint64_t)(uintptr_t)(of), size);
#define CALL_UNSIGNED(of, type, size)     call_pack_add(&pack_, (uint64_t)(of), size);
#define CALL_SIGNED(of, type, size)       call_pack_add(&pack_, (uint64_t)(int64_t)(of), size);
#define CALL_FLOAT(of, type, size)        call_pack_add(&pack_, call_pack_float(of), 8);
#define CALL_BOOL(of, type, size)         call_pack_add(&pack_, (uint64_t)(of), size);
#define CALL_HANDLE(of, type)             call_pack_add(&pack_, (of).handle, 8);
#define CALL_TEXT(of, type, size)         call_pack_add(&pack_, (uint64_t)(uintptr_t)(of), size);
#define CALL_ENUM(of, type)               call_pack_add(&pack_, (uint64_t)(int64_t)(of), 4);
#define CALL_OUTPUT(of, type, kind, size) call_pack_add(&pack_, (uint64_t)(uintptr_t)(of), 8);
#define CALL_OUTPUT_ENUM(of, type, value) call_pack_add(&pack_, (uint64_t)(uintptr_t)(of), 8);
