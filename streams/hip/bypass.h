/* SPDX-License-Identifier: MIT */
/*
 * Libraries that call HIP past what is preloaded: RTLD_DEEPBIND lets a library find its own
 * dependencies before anything else.
 *
 * Threads: one, at the end of the process: it takes the loader's lock.
 */
#ifndef STREAMS_HIP_BYPASS_H
#define STREAMS_HIP_BYPASS_H

/* If there was work that no call is known for: says which library called HIP so, if one did. */
void hip_report_bypass(void);

#endif
