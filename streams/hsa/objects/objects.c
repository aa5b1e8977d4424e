/* SPDX-License-Identifier: MIT */
/* The room's part in the runtime's beginning and end: see objects.h. */
#include "objects.h"

#include "kernel_choice.h"
#include "kernel_table.h"
#include "kernels.h"
#include "memory.h"
#include "publish.h"

static bool prepare(void)
{
	publish_init();
	kernel_choice_init();
	if (kernel_table_init())
		return false;
	if (kernel_choice_on && kernel_choice_leaves_out(KERNEL_UNKNOWN))
		kernel_table_leave_out(kernel_table_find(0));
	return true;
}

const struct hsa_part objects_part = {
	.register_streams = memory_register,
	.prepare = prepare,
	.hook = kernels_hook,
};
