/* SPDX-License-Identifier: MIT */
/* pieces.h: see pieces.c. The host's thread. */
#ifndef RTL_SQLITE_PIECES_H
#define RTL_SQLITE_PIECES_H

#include "sub.h"

/* Makes rtl_span, which has no pieces yet. */
bool pieces_init(struct sub *sub);
/* Adds the view of a type's table, where it is a piece of one. Twice is as once. */
void pieces_add(struct sub *sub, const struct rtl_stream_info *stream, int64_t number,
		const struct rtl_type_info *type, const char *view);

#endif
