/* SPDX-License-Identifier: MIT */
#include "pm4.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "config.h"
#include "perf.h"
#include "space.h"

/* Type 3 packets: [31:30] 3, [29:16] dwords that follow less 1, [15:8] opcode. */
#define OP_PRED_EXEC       0x23u
#define OP_INDIRECT_BUFFER 0x3fu
#define OP_COPY_DATA       0x40u
#define OP_SET_SH_REG      0x76u
#define OP_SET_UCONFIG_REG 0x79u

#define SH_BASE      0x2c00u
#define UCONFIG_BASE 0xc000u

#define MAX_DEPTH 4u /* of indirect buffers */

/* Register, or what a register stands for here. */
static void write_register(struct sg_queue *queue, unsigned int xcc, uint64_t reg, uint32_t value)
{
	if (reg == SG_COMPUTE_PERFCOUNT_ENABLE)
		queue->counted = value & 1; /* a register of the queue, not of the GPU */
	else
		sg_perf_write(queue->gpu, xcc, (uint32_t)reg, value);
}

/* COPY_DATA's selectors. */
enum place {
	REGISTER = 0,
	MEMORY = 1,
	L2 = 2,
	PERFCOUNTER = 4,
	IMMEDIATE_OR_MEMORY = 5,
	CLOCK = 9
};

static void copy_data(struct sg_queue *queue, unsigned int xcc, const uint32_t *b)
{
	unsigned int from = b[0] & 0xf, to = b[0] >> 8 & 0xf;
	bool wide = b[0] >> 16 & 1;
	uint64_t source = b[1] | (uint64_t)b[2] << 32, target = b[3] | (uint64_t)b[4] << 32;
	uint64_t value = 0;

	switch (from) {
	case REGISTER:
	case PERFCOUNTER:
		value = sg_perf_read(queue->gpu, xcc, (uint32_t)source);
		break;
	case MEMORY:
	case L2:
		memcpy(&value, sg_host(source), wide ? 8 : 4);
		break;
	case IMMEDIATE_OR_MEMORY:
		value = source;
		break;
	case CLOCK:
		value = sg_clock_ticks(sg_now_ns());
		break;
	default:
		break;
	}
	if (to == REGISTER || to == PERFCOUNTER)
		write_register(queue, xcc, target, (uint32_t)value);
	else if (to == MEMORY || to == L2 || to == IMMEDIATE_OR_MEMORY)
		memcpy(sg_host(target & ~(uint64_t)(wide ? 7 : 3)), &value, wide ? 8 : 4);
}

static void run(struct sg_queue *queue, unsigned int xcc, const uint32_t *p, size_t count,
		unsigned int depth);

static void indirect(struct sg_queue *queue, unsigned int xcc, const uint32_t *b,
		     unsigned int depth)
{
	uint64_t address = (b[0] & ~3u) | (uint64_t)(b[1] & 0xffff) << 32;

	if (depth < MAX_DEPTH)
		run(queue, xcc, sg_host(address), b[2] & 0xfffff, depth + 1);
}

static void run(struct sg_queue *queue, unsigned int xcc, const uint32_t *p, size_t count,
		unsigned int depth)
{
	for (size_t i = 0; i < count;) {
		const uint32_t *b = &p[i + 1];
		unsigned int op = p[i] >> 8 & 0xff, body = (p[i] >> 16 & 0x3fff) + 1;

		if (p[i] >> 30 != 3 || i + 1 + body > count) {
			static bool said;

			if (!said)
				fprintf(stderr,
					"softgpu: not a PM4 packet: %08x at dword %zu of %zu\n",
					p[i], i, count);
			said = true;
			return;
		}
		i += 1 + body;
		switch (op) {
		case OP_SET_UCONFIG_REG:
			for (unsigned int k = 1; k < body; k++)
				write_register(queue, xcc, UCONFIG_BASE + (b[0] & 0xffff) + k - 1,
					       b[k]);
			break;
		case OP_SET_SH_REG:
			for (unsigned int k = 1; k < body; k++)
				write_register(queue, xcc, SH_BASE + (b[0] & 0xffff) + k - 1, b[k]);
			break;
		case OP_COPY_DATA:
			copy_data(queue, xcc, b);
			break;
		case OP_PRED_EXEC: /* the next so many dwords are for these XCCs only */
			if (!(b[0] >> 24 >> xcc & 1))
				i += b[0] & 0x3fff;
			break;
		case OP_INDIRECT_BUFFER:
			indirect(queue, xcc, b, depth);
			break;
		default: /* EVENT_WRITE, ACQUIRE_MEM, NOP, ...: no effect that can be seen here */
			break;
		}
	}
}

void sg_pm4_run(struct sg_queue *queue, const void *packet)
{
	uint32_t d[5];

	memcpy(d, packet, sizeof(d)); /* header and format, then an INDIRECT_BUFFER */
	for (unsigned int xcc = 0; xcc < sg_config.xccs; xcc++)
		run(queue, xcc, &d[1], 4, 0);
}
