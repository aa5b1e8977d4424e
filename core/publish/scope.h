/* SPDX-License-Identifier: MIT */
/*
 * Scopes and stash of the calling thread: one page, mapped by its first use, given back when the
 * thread ends. TLS holds the pointer only: a librtl that comes with dlopen has little room there.
 *
 * Signal handlers: the order of the stores in push, pop and set makes each state in between one
 * that a handler on the same thread can work on, if it closes what it opens (scope.c). Other
 * threads see nothing of this: no atomics are needed but against the compiler.
 */
#ifndef RTL_CORE_SCOPE_H
#define RTL_CORE_SCOPE_H

#include <rtl/rtl.h>

/* Number, parent and correlation of a span, and its scope. */
void scope_open_span(struct rtl_span *span);
/* Closes its scope; the span is over. */
void scope_close_span(struct rtl_span *span);
/* A record of the span with room for the payload; NULL: not wanted, or discarded. */
struct rtl_record *scope_reserve(const struct rtl_span *span, uint16_t type, uint32_t payload_size);
/* Whether the span is one that we can read, and has not ended. */
bool scope_span_is_open(const struct rtl_span *span);

#endif
