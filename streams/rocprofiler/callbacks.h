/* SPDX-License-Identifier: MIT */
/*
 * What the program asks of HSA, told to the tool: memory, copies, code. Hooked only where the tool's
 * settings ask for it (hsa_intercepting).
 *
 * Threads: the program's. A tool's own calls of HSA within a callback are not told.
 */
#ifndef ROCPROFILER_CALLBACKS_H
#define ROCPROFILER_CALLBACKS_H

#include "runtime.h"
#include "table.h"

void callbacks_hook(struct root_table *table);
/* The tool has ended: nothing is told any more. */
void callbacks_end(void);

/* Whether somebody would be told. */
bool callbacks_are_told(rocprofiler_hsa_cb_id_t id);
void callbacks_tell(rocprofiler_hsa_cb_id_t id, const rocprofiler_hsa_callback_data_t *data);
/* The code objects of an executable that was loaded, or is about to go. */
void callbacks_tell_code(hsa_executable_t executable, bool unload);

#endif
