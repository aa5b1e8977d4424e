/* SPDX-License-Identifier: MIT */
/*
 * HIP's dispatch table, as librocprofiler-register hands it over
 * (streams/hsa/runtime/registration.c): what goes through it is recorded as what a preload sees,
 * and never twice: our functions call what was in the table, whichever way they are reached. So a
 * HIP that is linked statically is traced, too.
 *
 * Threads: where HIP registers, under its own lock. No locks.
 * Source: hip/amd_detail/hip_api_trace.hpp; table.def.
 */
#ifndef STREAMS_HIP_DISPATCH_TABLE_H
#define STREAMS_HIP_DISPATCH_TABLE_H

#include <stdbool.h>

/* Puts our functions into the table, if the mode has calls of HIP. table: a HipDispatchTable. */
void hip_table_take(void *table);

/* Whether one was taken. */
bool hip_table_taken(void);

#endif
