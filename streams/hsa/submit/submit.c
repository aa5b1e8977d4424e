/* SPDX-License-Identifier: MIT */
/* The room's part in the runtime's beginning and end: see submit.h. */
#include "submit.h"

#include "../../hip/preload.h"
#include "copies.h"
#include "interceptor.h"
#include "pending.h"
#include "queue.h"
#include "submitters.h"

static void hook(struct root_table *root)
{
	if (interceptor.config.source != CONFIG_QUEUE)
		return;
	queue_hook(root);
	copies_hook(root);
	pending_init(root);
	/* Who submits is noted where there are calls that it may be for. */
	if (hip_mode_has_calls() || pending_is_bounded)
		submitters_hook(root, hip_mode_has_calls());
}

const struct hsa_part submit_part = {.hook = hook};
