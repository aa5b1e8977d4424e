/* SPDX-License-Identifier: MIT */
/* "rtl.default": for programs that describe no stream of their own. Registered by its first use. */
#ifndef RTL_CORE_DEFAULT_STREAM_H
#define RTL_CORE_DEFAULT_STREAM_H

#include <rtl/types.h>

/* Its description. */
extern const struct rtl_stream_info default_stream_info;

#endif
