/* SPDX-License-Identifier: MIT */
/* What the runtime's beginning and end mean to all parts: see runtime/parts.h. */
#include "parts.h"

#include "calls.h"

static const struct hsa_part calls_part = {
	.register_streams = calls_register,
	.hook = calls_hook,
};

/* Wrappers of calls stand outermost, around the hooks of all others. */
const struct hsa_part *const hsa_parts[] = {
	&objects_part, &harvest_part, &counter_part, &submit_part, &report_part, &calls_part, NULL};
