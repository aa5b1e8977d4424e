/* SPDX-License-Identifier: MIT */
/*
 * Metadata of rtl.hsa: a GPU, a code object or a kernel has become known, or has gone.
 *
 * Threads: the application's, and the harvester's. No locks. Waits for room in a ring, as the
 * policy says.
 */
#ifndef STREAMS_HSA_METADATA_H
#define STREAMS_HSA_METADATA_H

#include <stdint.h>

struct rtl_hsa_metadata;

void metadata_publish(uint64_t uid, uint64_t parent_uid, const struct rtl_hsa_metadata *payload);

#endif
