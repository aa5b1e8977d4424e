/* SPDX-License-Identifier: MIT */
#include "sdma.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "port.h"
#include "space.h"

/* Packets begin with an opcode, the sub-opcode and flags; lengths are in dwords. */
enum opcode {
	OP_NOP = 0,
	OP_COPY = 1,
	OP_FENCE = 5,
	OP_TRAP = 6,
	OP_POLL_REGMEM = 8,
	OP_ATOMIC = 10,
	OP_CONST_FILL = 11,
	OP_TIMESTAMP = 13,
	OP_GCR = 17,
};

#define SUB_COPY_LINEAR 0u
#define SUB_COPY_RECT   4u

static uint64_t now_ticks(void)
{
	return sg_clock_ticks(sg_now_ns());
}

static uint64_t u64_at(const uint32_t *p)
{
	return p[0] | (uint64_t)p[1] << 32;
}

static void log_copy(struct sg_engine *engine, const struct sg_queue *queue, const char *kind,
		     uint64_t index, uint64_t signal, const struct sg_transfer *t)
{
	struct sg_log_row row = {kind,           queue->gpu,   queue->id, index,
				 t->start_ticks, t->end_ticks, signal};
	struct sg_line line;

	if (!engine->log.on)
		return;
	line = sg_log_begin(&engine->log, &row, 0);
	sg_line_u64(&line, " bytes=", t->bytes);
	sg_line_u64(&line, " packets=", t->packets);
	sg_line_hex(&line, " src=", t->source);
	sg_line_hex(&line, " dst=", t->destination);
	sg_log_end(&engine->log, &line);
}

static void transfer_begin(struct sg_transfer *t, uint64_t ticks)
{
	if (t->begun)
		return;
	*t = (struct sg_transfer){.begun = true, .start_ticks = ticks, .end_ticks = ticks};
}

/* A piece is done: log it, and count it into the transfer it is a piece of. */
static void piece_done(struct sg_engine *engine, struct sg_queue *queue, const char *kind,
		       struct sg_transfer *piece)
{
	struct sg_transfer *t = &queue->sdma.transfer;

	piece->end_ticks = now_ticks();
	piece->packets = 1;
	log_copy(engine, queue, kind, queue->sdma.read, 0, piece);
	transfer_begin(t, piece->start_ticks);
	if (!t->packets) {
		t->source = piece->source;
		t->destination = piece->destination;
	}
	t->end_ticks = piece->end_ticks;
	t->bytes += piece->bytes;
	t->packets++;
}

static void copy_linear(struct sg_engine *engine, struct sg_queue *queue, const uint32_t *p)
{
	struct sg_transfer piece = {
		.start_ticks = now_ticks(),
		.bytes = (uint64_t)(p[1] & 0x3fffffff) + 1,
		.source = u64_at(p + 3),
		.destination = u64_at(p + 5),
	};

	memmove(sg_host(piece.destination), sg_host(piece.source), piece.bytes);
	piece_done(engine, queue, "copy", &piece);
}

/* One side of a rectangular copy: address, then x, y, z and the two pitches. */
struct window {
	uint64_t address;
	uint64_t x, y, z;
	uint64_t pitch, slice;
};

static struct window window_at(const uint32_t *p)
{
	return (struct window){
		.address = u64_at(p),
		.x = p[2] & 0x3fff,
		.y = p[2] >> 16 & 0x3fff,
		.z = p[3] & 0x7ff,
		.pitch = (uint64_t)(p[3] >> 13) + 1,
		.slice = (uint64_t)(p[4] & 0xfffffff) + 1,
	};
}

static uint64_t window_row(const struct window *w, uint64_t y, uint64_t z, unsigned int log2)
{
	uint64_t element = (w->z + z) * w->slice + (w->y + y) * w->pitch + w->x;

	return w->address + (element << log2);
}

static void copy_rect(struct sg_engine *engine, struct sg_queue *queue, const uint32_t *p)
{
	unsigned int log2 = p[0] >> 29; /* of the element's size */
	struct window from = window_at(p + 1), to = window_at(p + 6);
	uint64_t width = (p[11] & 0x3fff) + 1, height = (p[11] >> 16 & 0x3fff) + 1;
	uint64_t depth = (p[12] & 0x7ff) + 1;
	struct sg_transfer piece = {
		.start_ticks = now_ticks(),
		.bytes = width * height * depth << log2,
		.source = window_row(&from, 0, 0, log2),
		.destination = window_row(&to, 0, 0, log2),
	};

	for (uint64_t z = 0; z < depth; z++)
		for (uint64_t y = 0; y < height; y++)
			memmove(sg_host(window_row(&to, y, z, log2)),
				sg_host(window_row(&from, y, z, log2)), width << log2);
	piece_done(engine, queue, "copy_rect", &piece);
}

static void const_fill(struct sg_engine *engine, struct sg_queue *queue, const uint32_t *p)
{
	uint64_t dwords = ((p[4] & 0x3fffff) + 4) / 4;
	struct sg_transfer piece = {
		.start_ticks = now_ticks(),
		.bytes = dwords * 4,
		.destination = u64_at(p + 1),
	};
	uint32_t *to = sg_host(piece.destination);

	for (uint64_t i = 0; i < dwords; i++)
		to[i] = p[3];
	piece_done(engine, queue, "fill", &piece);
}

static void timestamp(struct sg_queue *queue, const uint32_t *p)
{
	struct sg_transfer *t = &queue->sdma.transfer;
	uint64_t ticks = now_ticks();

	transfer_begin(t, ticks);
	t->end_ticks = ticks;
	__atomic_store_n((uint64_t *)sg_host(u64_at(p + 1)), ticks, __ATOMIC_RELEASE);
}

/* ROCr's only atomic is the 64-bit addition that completes a signal. */
static void atomic_add(struct sg_engine *engine, struct sg_queue *queue, const uint32_t *p)
{
	struct sg_transfer *t = &queue->sdma.transfer;
	uint64_t address = u64_at(p + 1);

	if (t->packets)
		log_copy(engine, queue, "transfer", queue->sdma.read,
			 address - offsetof(amd_signal_t, value), t);
	t->begun = false;
	t->packets = 0;
	__atomic_add_fetch((uint64_t *)sg_host(address), u64_at(p + 3), __ATOMIC_ACQ_REL);
}

/* Without the memory bit it flushes the host data path: nothing to do. */
static bool poll_met(const uint32_t *p)
{
	uint32_t value;

	if (!(p[0] >> 31))
		return true;
	value = __atomic_load_n((uint32_t *)sg_host(u64_at(p + 1)), __ATOMIC_ACQUIRE) & p[4];
	switch (p[0] >> 28 & 7) {
	case 1:
		return value < p[3];
	case 2:
		return value <= p[3];
	case 3:
		return value == p[3];
	case 4:
		return value != p[3];
	case 5:
		return value >= p[3];
	case 6:
		return value > p[3];
	default:
		return true;
	}
}

static uint32_t run_copy(struct sg_engine *engine, struct sg_queue *queue, const uint32_t *p)
{
	switch (p[0] >> 8 & 0xff) {
	case SUB_COPY_LINEAR:
		copy_linear(engine, queue, p);
		return 7;
	case SUB_COPY_RECT:
		copy_rect(engine, queue, p);
		return 13;
	default:
		return 0;
	}
}

/* Executes one packet. Its length in dwords, 0 if it is not known. */
static uint32_t run(struct sg_engine *engine, struct sg_queue *queue, const uint32_t *p)
{
	switch (p[0] & 0xff) {
	case OP_NOP:
		return 1 + (p[0] >> 16 & 0x3fff);
	case OP_COPY:
		return run_copy(engine, queue, p);
	case OP_FENCE:
		__atomic_store_n((uint32_t *)sg_host(u64_at(p + 1)), p[3], __ATOMIC_RELEASE);
		return 4;
	case OP_TRAP:
		sg_port.set_event(p[1] & 0xfffffff);
		return 2;
	case OP_POLL_REGMEM:
		return 6;
	case OP_ATOMIC:
		atomic_add(engine, queue, p);
		return 8;
	case OP_CONST_FILL:
		const_fill(engine, queue, p);
		return 5;
	case OP_TIMESTAMP:
		timestamp(queue, p);
		return 3;
	case OP_GCR:
		return 5;
	default:
		return 0;
	}
}

bool sg_sdma_step(struct sg_engine *engine, struct sg_queue *queue,
		  uint64_t *wake_ns __attribute__((unused)))
{
	uint64_t limit = sg_queue_limit(queue), begin = queue->sdma.read;

	while (queue->sdma.read < limit) {
		const uint32_t *p =
			(const void *)(queue->ring + queue->sdma.read % queue->ring_bytes);
		uint32_t dwords;

		if ((p[0] & 0xff) == OP_POLL_REGMEM && !poll_met(p))
			break;
		dwords = run(engine, queue, p);
		if (!dwords) {
			fprintf(stderr, "softgpu: SDMA packet %#x is not known\n", p[0]);
			abort();
		}
		queue->sdma.read += dwords * sizeof(*p);
		atomic_store_explicit(queue->read_index, queue->sdma.read, memory_order_release);
	}
	return queue->sdma.read != begin;
}
