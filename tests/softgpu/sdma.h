/* SPDX-License-Identifier: MIT
 *
 * SDMA: the copy engine's packet processor, for the packets that ROCr writes (gfx9 and
 * gfx10 formats). Copies move the bytes, at the host's speed.
 *
 * Threads: the engine's.
 */
#pragma once

#include "engine.h"

bool sg_sdma_step(struct sg_engine *engine, struct sg_queue *queue, uint64_t *wake_ns);
