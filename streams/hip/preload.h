/* SPDX-License-Identifier: MIT */
/* Whether HIP's functions are ours in this process. Any thread. */
#pragma once

#include <stdbool.h>

/* Whether this library was preloaded, so that a program that calls HIP calls us first. */
bool hip_is_preloaded(void);

/* Whether the mode, or RTL_STREAMS, has calls of HIP. */
bool hip_mode_has_calls(void);

/*
 * HIP's dispatch table (a HipDispatchTable), as librocprofiler-register hands it over
 * (streams/hsa/runtime/onload.c), where HIP registers, under its own lock: puts our functions into it, if the
 * mode has calls of HIP. What goes through it is recorded as what a preload sees, and never twice: our functions call
 * what was in the table, whichever way they are reached. So a HIP that is linked statically is traced, too.
 */
void hip_table_take(void *table);

/* Whether one was taken. */
bool hip_table_taken(void);

/* Calls are followed for reports (common/shared.h) from now on, whether the mode has them or not. */
void hip_follow(void);
