/* SPDX-License-Identifier: MIT */
/*
 * The code objects that executables have loaded: which they are (a hash of their content), where
 * they lie, and what they say of their kernels. The runtime's loader extension
 * (hsa_ven_amd_loader.h, 1.01) tells of them.
 *
 * The bytes of a code object are the application's until it destroys the reader that it has loaded
 * it with. So they are read when it was loaded, in the call that did so; where it lies is
 * known when the executable is frozen.
 *
 * Threads: the application's, on loading and unloading code. One lock, for the list; what is given
 * out stays until the executable is destroyed.
 */
#ifndef STREAMS_HSA_CODE_OBJECTS_H
#define STREAMS_HSA_CODE_OBJECTS_H

#include <hsa/hsa.h>
#include <stdint.h>

#include "code_object.h"

/*
 * A code object was loaded into the executable. Only what was loaded for an agent, and with
 * success, may come here: of others (and the runtime lists them too) it is the end of the process
 * to ask where they lie.
 */
void code_objects_loaded(hsa_executable_t executable, hsa_agent_t agent,
			 hsa_loaded_code_object_t handle);

/* The same where the runtime does not say which: it is the last of the executable. */
void code_objects_loaded_last(hsa_executable_t executable, hsa_agent_t agent);

/* The executable is frozen: publishes its code objects. */
void code_objects_frozen(hsa_executable_t executable);

/* The kernels of the executable are known: what its code objects say of theirs is not needed any
 * more. */
void code_objects_described(hsa_executable_t executable);

/* The code object in which that address of the GPU lies; NULL if it is not known. */
const struct code_object *code_objects_find(hsa_executable_t executable, hsa_agent_t agent,
					    uint64_t address);

/* The executable is about to be destroyed. */
void code_objects_destroyed(hsa_executable_t executable);

#endif
