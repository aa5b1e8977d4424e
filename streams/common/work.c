/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <rtl/publish.h>

struct work_streams work_streams = {.dispatches = &rtl_stream_none, .copies = &rtl_stream_none};
