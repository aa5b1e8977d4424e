/* SPDX-License-Identifier: MIT
 *
 * Signals: what the packet processors do to HSA signals.
 *
 * Threads: engine threads.
 */
#pragma once

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/* 0 for the null signal. */
int64_t sg_signal_value(hsa_signal_t signal);

bool sg_signal_condition_met(uint32_t condition, int64_t value, int64_t reference);

/* Leaves the times of a packet in its completion signal. The null signal is fine. */
void sg_signal_set_times(hsa_signal_t signal, uint64_t start_ticks, uint64_t end_ticks);

/* Subtracts 1 and raises the interrupt. The signal may be gone when it returns. */
void sg_signal_complete(hsa_signal_t signal);
