/* SPDX-License-Identifier: MIT */
/* Gives the kinds of arguments a meaning (table.py) by which they are counted: texts count 1, and what
 * is followed counts 256. Ended by no_kinds.h. */
#define CALL_ADDRESS(...)
#define CALL_UNSIGNED(...)
#define CALL_SIGNED(...)
#define CALL_FLOAT(...)
#define CALL_BOOL(...)
#define CALL_HANDLE(...)
#define CALL_TEXT(...) +1
#define CALL_ENUM(...)
#define CALL_OUTPUT(of, type, kind, size) +256 + (RTL_KIND_##kind == RTL_KIND_TEXT)
#define CALL_OUTPUT_ENUM(...)             +256

#define CALL_HAS_TEXTS(arguments)  ((0 arguments) % 256 > 0)
#define CALL_HAS_STATES(arguments) ((0 arguments) > 0)
