/* SPDX-License-Identifier: MIT */
/*
 * Kernels: finds those of each executable when it is frozen, by hooks of the functions that load
 * code into executables, freeze and destroy them, and registers their tracepoints.
 *
 * Threads: the application's, on loading and unloading code. Locks: kernel_table.h's.
 */
#ifndef STREAMS_HSA_KERNELS_H
#define STREAMS_HSA_KERNELS_H

#include <hsa/hsa.h>

hsa_status_t kernels_load(hsa_executable_t executable, hsa_agent_t agent,
			  hsa_code_object_t code_object, const char *options);
hsa_status_t kernels_load_agent(hsa_executable_t executable, hsa_agent_t agent,
				hsa_code_object_reader_t reader, const char *options,
				hsa_loaded_code_object_t *loaded);
hsa_status_t kernels_executable_freeze(hsa_executable_t executable, const char *options);
hsa_status_t kernels_executable_destroy(hsa_executable_t executable);

#endif
