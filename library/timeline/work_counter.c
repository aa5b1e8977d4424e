/* SPDX-License-Identifier: MIT */
/*
 * work_counter.c: how much work a GPU has been given that has not ended. Work is known when it
 * ends, so a moment is told of HELD_NS later; what was longer under way is counted from there on.
 * Changes wait in a heap, and what changes within APART_NS is told once.
 */
#include <stdlib.h>

#include "work.h"

#define HELD_NS  UINT64_C(1000000000)
#define APART_NS UINT64_C(20000)
#define HELD     ((size_t)1 << 20) /* changes; 16 MiB */

static void sift_up(struct work_flight_change *heap, size_t at)
{
	const struct work_flight_change it = heap[at];

	for (; at && heap[(at - 1) / 2].time_ns > it.time_ns; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = it;
}

static void sift_down(struct work_flight_change *heap, size_t count)
{
	const struct work_flight_change it = heap[count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && heap[child + 1].time_ns < heap[child].time_ns)
			child++;
		if (heap[child].time_ns >= it.time_ns)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = it;
}

static void write_now(struct work *work, struct work_gpu *gpu, uint64_t time_ns)
{
	struct work_flight *f = &gpu->flight;

	if (f->now == f->written)
		return;
	if (!f->track)
		f->track = timeline_add_counter(work->timeline, gpu->process, 0,
						"kernels in flight", "kernels");
	if (f->track)
		timeline_counter(work->timeline, f->track, time_ns, (double)f->now);
	f->written = f->now;
}

/* Takes all changes before that time. */
static void drain(struct work *work, struct work_gpu *gpu, uint64_t until_ns, size_t keep)
{
	struct work_flight *f = &gpu->flight;

	while (f->count && (f->heap[0].time_ns < until_ns || f->count > keep)) {
		const struct work_flight_change first = f->heap[0];

		if (first.time_ns >= f->written_ns + APART_NS) {
			write_now(work, gpu, f->written_ns);
			f->written_ns = first.time_ns;
		}
		f->now += first.change;
		f->count--;
		if (f->count)
			sift_down(f->heap, f->count);
	}
}

static void add(struct work *work, struct work_flight *f, uint64_t time_ns, int32_t change)
{
	if (f->count == f->size) {
		const size_t size = f->size ? 2 * f->size : 1024;
		struct work_flight_change *heap = reallocarray(f->heap, size, sizeof(*heap));

		if (!heap) {
			work->timeline->out_of_memory = true;
			return;
		}
		f->heap = heap;
		f->size = size;
	}
	f->heap[f->count] = (struct work_flight_change){time_ns, change};
	sift_up(f->heap, f->count++);
}

void work_in_flight(struct work *work, struct work_gpu *gpu, uint64_t from_ns, uint64_t to_ns)
{
	struct work_flight *f = &gpu->flight;

	/* what has been told stays */
	add(work, f, from_ns > f->written_ns ? from_ns : f->written_ns, 1);
	add(work, f, to_ns > f->written_ns ? to_ns : f->written_ns, -1);
	if (to_ns > f->newest_ns)
		f->newest_ns = to_ns;
	if (f->count > HELD)
		drain(work, gpu, 0, HELD / 2);
}

void work_flush(struct work *work, bool end)
{
	for (struct work_gpu *gpu = work->gpus; gpu; gpu = gpu->next) {
		struct work_flight *f = &gpu->flight;

		if (end)
			drain(work, gpu, UINT64_MAX, 0);
		else if (f->newest_ns > HELD_NS)
			drain(work, gpu, f->newest_ns - HELD_NS, HELD);
		if (end)
			write_now(work, gpu, f->written_ns);
	}
}

void work_counters_fini(struct work_gpu *gpu)
{
	free(gpu->flight.heap);
	gpu->flight = (struct work_flight){0};
}
