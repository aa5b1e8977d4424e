/* SPDX-License-Identifier: MIT */
/* What the interceptors leave each other: see the headers. */
#include <rtl/publish.h>

#include "call_context.h"
#include "paused.h"
#include "reports.h"
#include "work.h"

__thread struct call_context thread_context;
bool program_paused;
uint32_t program_pause_changes;
struct reports reports;
struct work_streams work_streams = {.dispatches = &rtl_stream_none, .copies = &rtl_stream_none};
