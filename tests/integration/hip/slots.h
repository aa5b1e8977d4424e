/* SPDX-License-Identifier: MIT */
/* Macros for the functions of a table (streams/call/table.py says its language): each argument as 64 bits. */
#pragma once

#include <stdint.h>

#include "../call/arguments.h"

static inline uint64_t call_slot_of_float(double value)
{
	uint64_t slot;

	__builtin_memcpy(&slot, &value, sizeof(slot));
	return slot;
}

#define CALL_ADDRESS(of, type, size)      (uint64_t)(uintptr_t)(of),
#define CALL_UNSIGNED(of, type, size)     (uint64_t)(of),
#define CALL_SIGNED(of, type, size)       (uint64_t)(int64_t)(of),
#define CALL_FLOAT(of, type, size)        call_slot_of_float(of),
#define CALL_BOOL(of, type, size)         (uint64_t)(of),
#define CALL_HANDLE(of, type)             (of).handle,
#define CALL_TEXT(of, type, size)         (uint64_t)(uintptr_t)(of),
#define CALL_ENUM(of, type)               (uint64_t)(int64_t)(of),
#define CALL_OUTPUT(of, type, kind, size) (uint64_t)(uintptr_t)(of),
#define CALL_OUTPUT_ENUM(of, type, value) (uint64_t)(uintptr_t)(of),
