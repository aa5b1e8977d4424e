/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of values, the text of RTL_VALUES_KEY (rtl/types.h), as readers want them.
 *
 * Threads: any; no state.
 */
#ifndef RTL_CORE_VALUES_H
#define RTL_CORE_VALUES_H

#include <rtl/subscriber.h>

/* To be freed, in one piece. NULL: no memory, or it makes no sense. */
struct rtl_values_info *values_parse(const char *text);

#endif
