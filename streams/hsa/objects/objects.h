/* SPDX-License-Identifier: MIT */
/*
 * The room `objects`: what GPU work is about (GPUs, code objects, kernels, memory), and the events
 * that tell of it, whatever source has seen the work.
 *
 * Threads of this room: any of the application's. Whoever makes an object known to the runtime
 * makes it known here, under a lock of the list that it is in. Looking a kernel or a GPU up takes
 * no lock. Publishing may wait for room in a ring, on every thread but the runtime's own; no lock
 * is held then.
 */
#ifndef STREAMS_HSA_OBJECTS_H
#define STREAMS_HSA_OBJECTS_H

#include "parts.h"

extern const struct hsa_part objects_part;

#endif
