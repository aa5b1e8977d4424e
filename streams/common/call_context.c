/* SPDX-License-Identifier: MIT */
/* See call_context.h. */
#include "call_context.h"

__thread struct call_context thread_context;
bool call_context_missing;
