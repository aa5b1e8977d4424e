/* SPDX-License-Identifier: MIT */
/*
 * The start of the bus: on the thread that registers the first stream, or makes the first event in
 * a child made by fork.
 */
#ifndef RTL_CORE_START_H
#define RTL_CORE_START_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the bus if it was not yet, or again in a child. Any thread, no lock held. */
int start_bus(void);
/* The lock that is held meanwhile; recursive: a subscriber's create may register a stream. False:
 * it was not to be had so fast. */
bool start_lock(uint32_t timeout_ms);
void start_unlock(void);
/* In a child: the thread that was starting the bus, and the bus's own, are not here. */
void start_forget(void);

#endif
