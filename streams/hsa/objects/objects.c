/* SPDX-License-Identifier: MIT */
/* The room `objects`: what GPU work is about (GPUs, code objects, kernels, memory), and the events
 * that tell of it, whatever source has seen the work.
 *
 * Threads of this room: any of the application's. Whoever makes an object known to the runtime makes it known here,
 * under a lock of the list that it is in. Looking a kernel or a GPU up takes no lock. Publishing may wait for room in a
 * ring, on every thread but the runtime's own; no lock is held then. */
#include "faults.h"
#include "kernel_table.h"
#include "kernels.h"
#include "memory.h"
#include "parts.h"
#include "publish.h"

static bool prepare(void)
{
	publish_init();
	kernel_choice_init();
	if (kernel_table_init(kernels_run_first))
		return false;
	if (kernel_choice_on && kernel_choice_leaves_out(KERNEL_UNKNOWN))
		kernel_set(&kernel_table_find(0)->left_out, true);
	return true;
}

static void hook(struct root_table *root)
{
	kernels_hook(root);
	faults_hook(root);
}

const struct hsa_part objects_part = {
	.register_streams = memory_register,
	.prepare = prepare,
	.hook = hook,
};
