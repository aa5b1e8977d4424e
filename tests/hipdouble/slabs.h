/* SPDX-License-Identifier: MIT */
/*
 * The records: slots in slabs, and who is handed slabs.
 *
 * Threads: any. One lock for new slabs, lists of work and clients; a thread of its own calls clients.
 */
#pragma once

#include "hip_double.h"

/* Takes the next slot and clears its record. */
uint64_t slabs_take_slot(void);
/* The record of a slot; NULL: its slab is gone, or was never there. */
struct hip_record *slabs_record(uint64_t slot);
uint64_t slabs_total(void);
/* Adds what the GPU did for a slot, and hands slabs out that are due. */
void slabs_add_op(uint64_t slot, const struct hip_gpu_op *op);

void slabs_get(const struct hip_record *const **chunks, size_t *count, size_t *chunk_size,
	       size_t *total);
/* 0, or an error of HIP's. */
int slabs_add_client(hip_chunk_callback *callback, void *arg);
/* At the end of the process. */
void slabs_end(void);
