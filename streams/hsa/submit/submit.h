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
#ifndef STREAMS_HSA_SUBMIT_H
#define STREAMS_HSA_SUBMIT_H

#include "parts.h"

extern const struct hsa_part submit_part;

#endif
