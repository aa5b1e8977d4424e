/* SPDX-License-Identifier: MIT */
/*
 * Relays: signals that take the place of an application's signal in a packet, where its times
 * would be overwritten (watch.h). The runtime's handler thread, which waits for all of them at
 * once, completes the application's signal when the GPU has completed the relay's. It does
 * nothing else: publishing is the harvester's. So a completion waits for no other dispatch and
 * for no subscriber.
 *
 * That thread runs the application's handlers too, and one of these may wait for the very signal.
 * So the harvester completes what has been left lying from one of its passes to the next.
 *
 * A relay's signal stays registered with the handler thread and is armed again after use: no
 * signal is made and no handler registered for a dispatch, but for the first ones.
 *
 * Threads: relay_take by the producer of any queue and by whoever copies, relay_grow by the
 * harvester, completion by the runtime's handler thread or the harvester, whoever comes first. One
 * lock for the list of free relays.
 */
#ifndef STREAMS_HSA_RELAY_H
#define STREAMS_HSA_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "slots.h"

/* A relay for the slot, which watch_enter has made a SLOT_RELAY: the handle of its signal, or 0
 * if there is none left. */
uint64_t relay_take(struct slot *slot);

/* Gives back the relay of a copy that was refused: its signal was not used. */
void relay_untake(struct slot *slot);

/* Harvester: makes more if few are left of those that were needed. */
void relay_grow(void);

/* Harvester: completes what the runtime's handler thread has not got round to since the last time.
 */
void relay_rescue(void);

/* Harvester, once: finds out which thread is the runtime's. */
void relay_find_thread(void);

/* Whether the calling thread is the runtime's handler thread, as far as known. */
bool relay_is_runtime_thread(void);

/* The runtime has ended: its signals are gone. */
void relay_forget(void);

#endif
