/* SPDX-License-Identifier: MIT */
/*
 * The interceptor: sees every packet of a queue on its way to the GPU.
 *
 * Threads: whoever rings the doorbell of the queue, inside the runtime's lock of the queue: also
 * the runtime's handler thread, when the ring had been full. It makes no system call but to wake
 * a sleeping harvester, and waits only where no slot is left (see dispatch.c). No locks of its
 * own; signal_watch.h's for dispatches with a signal of the application.
 */
#ifndef STREAMS_HSA_DISPATCH_H
#define STREAMS_HSA_DISPATCH_H

#include "interceptor.h"

/* data: the struct queue */
void dispatch_intercept(const void *packets, uint64_t count, uint64_t index, void *data,
			packet_writer write);

#endif
