/* SPDX-License-Identifier: MIT */
/*
 * The room `submit`: what programs hand to the GPU. Queues and the interceptor of their packets,
 * the hooks of copies, who submits, and the room that there is in a queue's ring.
 *
 * Threads of this room: the program's, inside its calls of the runtime; the interceptor also on the
 * runtime's own thread. Inside the runtime's lock of a queue there is one at a time. They make no
 * system call but to wake the harvester, and wait only where no slot is left (dispatch.c) or where
 * the runtime could not bear the packet (room.h). What the functions of kinds and sources do is
 * done by who makes a pass (harvest.h). Locks: of the list of queues, of the copies' pool, of the
 * table of submitters; each for loads and stores, none across a call of the runtime.
 */
#include "../../hip/preload.h"
#include "copies.h"
#include "interceptor.h"
#include "parts.h"
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
