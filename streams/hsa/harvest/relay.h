/* SPDX-License-Identifier: MIT */
/*
 * Relays: signals that take the place of an application's signal in a packet, where its times
 * would be overwritten (signal_watch.h). The runtime's handler thread, which waits for all of them
 * at once, completes the application's signal when the GPU has completed the relay's. It does
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
 * lock for all of them, held for some loads and stores and while an application's signal is
 * completed, which takes the lock of signal_watch.h's bucket.
 */
#ifndef STREAMS_HSA_RELAY_H
#define STREAMS_HSA_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include <rtl/rtl.h>

#include "slots.h"

/*
 * Packets of a queue complete their signals in their order. Where one has a relay, those behind it
 * must not overtake it, so they get relays, too, until no relay is under way in the queue's lane:
 * its number. Lanes that share a counter only make for more relays.
 */
#define RELAY_LANES   64
#define RELAY_NO_LANE UINT32_MAX /* of copies: nothing is in order but what waits for signals */

extern uint32_t relay_lanes[RELAY_LANES];

/* Submitting thread: whether a relay is under way there. Acquire: if not, then those that were have
 * completed the application's signals. */
static inline bool relay_in_lane(uint32_t lane)
{
	return __atomic_load_n(&relay_lanes[lane % RELAY_LANES], __ATOMIC_ACQUIRE) != 0;
}

/* A relay for the slot, which signal_watch_enter has made a SLOT_RELAYED: the handle of its signal,
 * or 0 if there is none left. */
uint64_t relay_take(struct slot *slot, uint32_t lane);

/* Gives back the relay of a copy that was refused: its signal was not used. */
void relay_untake(struct slot *slot);

/* Harvester: makes more if few are left of those that were needed. */
void relay_grow(void);

/* Harvester: completes what the runtime's handler thread has not got round to since the last time.
 */
void relay_rescue(void);

/* The runtime has ended: its signals are gone. */
void relay_forget(void);

#endif
