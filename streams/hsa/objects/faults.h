/* SPDX-License-Identifier: MIT */
/* Faults of GPUs and errors of queues that the runtime reports, as events. The runtime calls all handlers of system
 * events; ours is the first and leaves the rest to the others: the runtime aborts unless one of them takes care of the
 * event.
 *
 * Threads: the runtime's own. No locks. */
#pragma once

#include <hsa/hsa.h>

struct root_table;
struct work_queue;

void faults_hook(struct root_table *root);

/* Registers the handler. Once in a runtime, when it is up. */
void faults_listen(void);

/* The queue's callback is called with that. */
void faults_publish_queue(const struct work_queue *queue, hsa_status_t status);
