/* SPDX-License-Identifier: MIT */
/*
 * Kernels: finds those of each executable when it is frozen, by hooks of hsa_executable_freeze
 * and hsa_executable_destroy, and registers their tracepoints.
 *
 * Threads: the application's, on loading and unloading code. Locks: kernel_table.h's.
 */
#ifndef STREAMS_HSA_KERNELS_H
#define STREAMS_HSA_KERNELS_H

#include <hsa/hsa.h>

hsa_status_t kernels_executable_freeze(hsa_executable_t executable, const char *options);
hsa_status_t kernels_executable_destroy(hsa_executable_t executable);

#endif
