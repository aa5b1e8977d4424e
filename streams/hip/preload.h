/* SPDX-License-Identifier: MIT */
/* Whether HIP's functions are ours in this process. Any thread. */
#ifndef STREAMS_HIP_PRELOAD_H
#define STREAMS_HIP_PRELOAD_H

#include <stdbool.h>

/* Whether this library was preloaded, so that a program that calls HIP calls us first. */
bool hip_is_preloaded(void);

/* Whether we are in another namespace than the program (dlmopen), where nothing is preloaded. */
bool hip_is_in_namespace(void);

/* Whether the mode, or RTL_STREAMS, has calls of HIP. */
bool hip_mode_has_calls(void);

/*
 * HIP's dispatch table (a HipDispatchTable), as librocprofiler-register hands it over
 * (streams/hsa/runtime/registration.c), where HIP registers, under its own lock: puts our functions into it, if the
 * mode has calls of HIP. What goes through it is recorded as what a preload sees, and never twice: our functions call
 * what was in the table, whichever way they are reached. So a HIP that is linked statically is traced, too.
 */
void hip_table_take(void *table);

/* Whether one was taken. */
bool hip_table_taken(void);

/* Calls are followed for reports (common/reports.h) from now on, whether the mode has them or not. */
void hip_follow(void);

/* At the end of the process, as it takes the loader's lock: if there was work that no call is known for, says which
 * library called HIP past what is preloaded, if one did. */
void hip_report_bypass(void);

#endif
