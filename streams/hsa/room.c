/* SPDX-License-Identifier: MIT */
/* Room in the GPU's ring of a queue: see room.h. */
#include "room.h"

#include "collector.h"
#include "harvest.h"
#include "relay.h"

#define SHORT_WAIT_NS 100000000u
#define LONG_WAIT_NS  30000000000u

/*
 * Looks at the marks: the harvester may be waiting for a subscriber. A slot that holds another
 * packet by now was given back, so its packet has ended; one that was given back and waits is
 * in the harvester's `taken`.
 */
static void look_at_marks(struct queue *queue)
{
	for (uint32_t i = 0; i < QUEUE_MARKS && i < queue->mark_count; i++) {
		const struct queue_mark *mark = &queue->marks[i];
		const amd_signal_t *signal = (const amd_signal_t *)mark->slot->signal;

		if (mark->index >= queue->taken_seen &&
		    (mark->slot->packet_id != mark->index ||
		     __atomic_load_n(&signal->value, __ATOMIC_RELAXED) < 1))
			queue->taken_seen = mark->index + 1;
	}
}

void room_see_barrier(struct queue *queue, const hsa_barrier_and_packet_t *barrier, uint64_t id)
{
	for (int i = 0; i < 5; i++) {
		const amd_signal_t *signal =
			(const amd_signal_t *)(uintptr_t)barrier->dep_signal[i].handle;

		if (signal && __atomic_load_n(&signal->value, __ATOMIC_RELAXED) != 0)
			queue->gate = id + 1;
	}
}

/* Whether the end of a packet under way will tell that there is room for that one. */
static bool will_be_told(const struct queue *queue, uint64_t id)
{
	return queue->expected + queue->packets > id + ROOM_LEAST;
}

static uint64_t longest_wait_ns(const struct queue *queue)
{
	return queue->gate > room_taken(queue) || relay_is_runtime_thread() ? SHORT_WAIT_NS
									    : LONG_WAIT_NS;
}

__attribute__((cold, noinline)) void room_wait(struct queue *queue, uint64_t id)
{
	const bool told = will_be_told(queue, id);
	const uint64_t begin = rtl_clock_ns();

	for (;;) {
		look_at_marks(queue);
		if (!room_may_lack(queue, id)) {
			queue->no_room_known = false;
			return;
		}
		if (!told || queue->no_room_known || !collector_on() ||
		    rtl_clock_ns() - begin >= longest_wait_ns(queue))
			break;
		harvest_wait_pass();
	}
	queue->no_room_known = true;
}
