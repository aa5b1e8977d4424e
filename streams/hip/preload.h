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

/* Calls are followed for reports (common/reports.h) from now on, whether the mode has them or not. */
void hip_follow(void);

#endif
