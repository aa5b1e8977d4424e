/* SPDX-License-Identifier: MIT */
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#define MAX_INSTANCES 32u
#define MAX_SLOTS     8u
#define ENGINE_MHZ    1725u
#define DIGITS        21u /* of a number, and a separator */
#define NO_EVENT      0xffffu

/* GRBM_GFX_INDEX: which copies of a register are meant. */
#define GRBM_GFX_INDEX     0xc200u
#define BROADCAST_INSTANCE (1u << 30)
#define BROADCAST_ENGINE   (1u << 31)

#define CP_PERFMON_CNTL 0xd808u /* [3:0]: what to do; bit 10: sample */
#define PERFMON_RESET   0u
#define PERFMON_COUNT   1u
#define PERFMON_STOP    2u

#define SQ_EVENTS    0x1ffu /* the part of its select register that is the event */
#define OTHER_EVENTS 0x3ffu

/* Select registers and low halves of the counters; hi tells where the high half is. */
struct block {
	const char *name;
	unsigned int slots, instances;
	bool per_engine;
	int hi;
	uint16_t select[MAX_SLOTS], low[MAX_SLOTS];
};

enum { SPI_BLOCK = 3, SQ_BLOCK = 4 };
#define GRBM_BLOCK 2u
#define TCC_BLOCK  8u
#define TCA_BLOCK  9u

static const struct block blocks[] = {
	{"CPC", 2, 1, false, 1, {0xd809, 0xd803}, {0xd006, 0xd004}},
	{"CPF", 2, 1, false, 1, {0xd807, 0xd805}, {0xd00a, 0xd008}},
	[GRBM_BLOCK] = {"GRBM", 2, 1, false, 1, {0xd840, 0xd841}, {0xd040, 0xd043}},
	[SPI_BLOCK] = {"SPI",
		       6,
		       1,
		       true,
		       -1,
		       {0xd980, 0xd981, 0xd982, 0xd983, 0xd984, 0xd985},
		       {0xd181, 0xd183, 0xd185, 0xd187, 0xd189, 0xd18b}},
	[SQ_BLOCK] = {"SQ",
		      8,
		      1,
		      true,
		      1,
		      {0xd9c0, 0xd9c1, 0xd9c2, 0xd9c3, 0xd9c4, 0xd9c5, 0xd9c6, 0xd9c7},
		      {0xd1c0, 0xd1c2, 0xd1c4, 0xd1c6, 0xd1c8, 0xd1ca, 0xd1cc, 0xd1ce}},
	{"TA", 2, 16, true, 1, {0xdac0, 0xdac2}, {0xd2c0, 0xd2c2}},
	{"TD", 2, 16, true, 1, {0xdb00, 0xdb02}, {0xd300, 0xd302}},
	{"TCP", 4, 16, true, 1, {0xdb40, 0xdb42, 0xdb44, 0xdb45}, {0xd340, 0xd342, 0xd344, 0xd346}},
	[TCC_BLOCK] = {"TCC",
		       4,
		       32,
		       false,
		       1,
		       {0xdb80, 0xdb82, 0xdb84, 0xdb85},
		       {0xd380, 0xd382, 0xd384, 0xd386}},
	[TCA_BLOCK] = {"TCA",
		       4,
		       32,
		       false,
		       1,
		       {0xdb90, 0xdb92, 0xdb94, 0xdb95},
		       {0xd390, 0xd392, 0xd394, 0xd396}},
};
#define BLOCKS (sizeof(blocks) / sizeof(*blocks))

struct counter {
	uint16_t event;
	uint64_t value;
};

struct perf {
	uint32_t index; /* GRBM_GFX_INDEX */
	uint32_t state; /* of CP_PERFMON_CNTL */
	/* Selected since the last stop: older selections count on, but nobody reads them. */
	bool used[BLOCKS][MAX_SLOTS];
	struct counter counters[BLOCKS][MAX_SLOTS][SG_MAX_ENGINES][MAX_INSTANCES];
};

static struct perf *perfs[SG_MAX_GPUS + 1][SG_MAX_XCCS];

struct factor {
	char kernel[128], block[16];
	unsigned int event;
	uint64_t per_wave;
};

static struct factor *factors;
static size_t factor_count;

void sg_perf_load(const char *path)
{
	FILE *file = path && !factors ? fopen(path, "r") : NULL;
	struct factor f;

	if (!file) {
		if (path && !factors)
			fprintf(stderr, "softgpu: SOFTGPU_COUNTERS=%s cannot be read\n", path);
		return;
	}
	while (fscanf(file, "%127s %15s %u %lu", f.kernel, f.block, &f.event, &f.per_wave) == 4) {
		struct factor *more = realloc(factors, (factor_count + 1) * sizeof(f));

		if (!more)
			break;
		factors = more;
		factors[factor_count++] = f;
	}
	if (!feof(file))
		fprintf(stderr,
			"softgpu: SOFTGPU_COUNTERS=%s: line %zu is not KERNEL BLOCK EVENT FACTOR\n",
			path, factor_count + 1);
	fclose(file);
}

static struct perf *perf_of(uint32_t gpu, unsigned int xcc)
{
	struct perf **perf = &perfs[gpu][xcc];

	if (!*perf) {
		*perf = calloc(1, sizeof(struct perf));
		if (!*perf)
			abort();
		memset((*perf)->counters, 0xff, sizeof((*perf)->counters));
		(*perf)->index = BROADCAST_ENGINE | BROADCAST_INSTANCE;
	}
	return *perf;
}

static void reset(struct perf *perf)
{
	for (size_t b = 0; b < BLOCKS; b++)
		for (unsigned int s = 0; s < MAX_SLOTS; s++)
			for (unsigned int e = 0; perf->used[b][s] && e < SG_MAX_ENGINES; e++)
				for (unsigned int i = 0; i < MAX_INSTANCES; i++)
					perf->counters[b][s][e][i].value = 0;
}

static void forget_events(struct perf *perf, size_t b, unsigned int slot)
{
	for (unsigned int e = 0; e < SG_MAX_ENGINES; e++)
		for (unsigned int i = 0; i < MAX_INSTANCES; i++)
			perf->counters[b][slot][e][i] = (struct counter){NO_EVENT, 0};
	perf->used[b][slot] = true;
}

static void select_event(struct perf *perf, size_t b, unsigned int slot, uint32_t value)
{
	const uint16_t event = (uint16_t)(value & (b == SQ_BLOCK ? SQ_EVENTS : OTHER_EVENTS));

	if (!perf->used[b][slot])
		forget_events(perf, b, slot);
	for (unsigned int e = 0; e < SG_MAX_ENGINES; e++)
		for (unsigned int i = 0; i < MAX_INSTANCES; i++)
			if ((perf->index & BROADCAST_ENGINE || (perf->index >> 16 & 0xff) == e) &&
			    (perf->index & BROADCAST_INSTANCE || (perf->index & 0xff) == i))
				perf->counters[b][slot][e][i].event = event;
}

static void control(struct perf *perf, uint32_t value)
{
	perf->state = value & 0xf;
	if (perf->state == PERFMON_RESET)
		reset(perf);
	else if (perf->state == PERFMON_STOP)
		memset(perf->used, 0, sizeof(perf->used));
}

void sg_perf_write(uint32_t gpu, unsigned int xcc, uint32_t reg, uint32_t value)
{
	struct perf *perf = perf_of(gpu, xcc);

	if (reg == GRBM_GFX_INDEX)
		perf->index = value;
	else if (reg == CP_PERFMON_CNTL)
		control(perf, value);
	for (size_t b = 0; b < BLOCKS; b++)
		for (unsigned int s = 0; s < blocks[b].slots; s++)
			if (blocks[b].select[s] == reg)
				select_event(perf, b, s, value);
}

uint32_t sg_perf_read(uint32_t gpu, unsigned int xcc, uint32_t reg)
{
	struct perf *perf = perf_of(gpu, xcc);
	unsigned int engine = perf->index & BROADCAST_ENGINE ? 0 : perf->index >> 16 & 0xff;
	unsigned int instance = perf->index & BROADCAST_INSTANCE ? 0 : perf->index & 0xff;

	if (engine >= sg_config.engines || instance >= MAX_INSTANCES)
		return 0;
	for (size_t b = 0; b < BLOCKS; b++)
		for (unsigned int s = 0; s < blocks[b].slots; s++) {
			const struct counter *c = &perf->counters[b][s][engine][instance];

			if (reg == blocks[b].low[s])
				return (uint32_t)c->value;
			if (reg == (uint32_t)(blocks[b].low[s] + blocks[b].hi))
				return (uint32_t)(c->value >> 32);
		}
	return 0;
}

/* --- what is counted ---------------------------------------------------------------- */

static uint64_t groups(uint32_t grid, uint32_t workgroup)
{
	return workgroup ? ((uint64_t)grid + workgroup - 1) / workgroup : 1;
}

static uint64_t waves(const hsa_kernel_dispatch_packet_t *p)
{
	uint64_t items = (uint64_t)p->workgroup_size_x * p->workgroup_size_y * p->workgroup_size_z;

	return groups(p->grid_size_x, p->workgroup_size_x) *
	       groups(p->grid_size_y, p->workgroup_size_y) *
	       groups(p->grid_size_z, p->workgroup_size_z) * ((items + 63) / 64);
}

static uint64_t per_wave(const char *kernel, const char *block, unsigned int event)
{
	for (size_t i = 0; i < factor_count; i++)
		if (factors[i].event == event && strcmp(factors[i].block, block) == 0 &&
		    (strcmp(factors[i].kernel, "*") == 0 || strstr(kernel, factors[i].kernel)))
			return factors[i].per_wave;
	return 1 + (event * 7 + (unsigned char)block[1]) % 61;
}

/* Of the whole GPU; the time of GRBM each XCC counts for itself. */
static uint64_t total(const struct sg_flight *f, size_t b, unsigned int event)
{
	if (b == SQ_BLOCK && event == 4)
		return waves(&f->packet);
	if (b == GRBM_BLOCK)
		return (f->end_ticks - f->start_ticks) * ENGINE_MHZ * 1000000 / sg_config.clock_hz;
	return waves(&f->packet) * per_wave(f->kernel->name, blocks[b].name, event);
}

/* The share of one of n equal parts of a total. */
static uint64_t share(uint64_t sum, unsigned int n, unsigned int i)
{
	return sum / n + (i < sum % n);
}

static unsigned int instances_of(size_t b)
{
	const bool late = sg_config.arch->major == 9 && sg_config.arch->stepping >= 8;

	if (b == TCC_BLOCK)
		return late ? 32 : 16;
	if (b == TCA_BLOCK)
		return late ? 32 : 2;
	return blocks[b].instances;
}

/* parts: of each XCC */
static void log_count(struct sg_log *log, const struct sg_queue *queue, const struct sg_flight *f,
		      size_t b, unsigned int instance, unsigned int event, const uint64_t *parts)
{
	uint64_t all = 0;
	struct sg_log_row row = {"count",
				 queue->gpu,
				 queue->id,
				 f->index,
				 f->start_ticks,
				 f->end_ticks,
				 f->packet.completion_signal.handle};
	struct sg_line line;

	if (!log->on)
		return;
	for (unsigned int xcc = 0; xcc < sg_config.xccs; xcc++)
		all += parts[xcc];
	line = sg_log_begin(
		log, &row, strlen(blocks[b].name) + strlen(f->kernel->name) + SG_MAX_XCCS * DIGITS);
	sg_line_text(&line, " block=", blocks[b].name);
	sg_line_u64(&line, " instance=", instance);
	sg_line_u64(&line, " event=", event);
	sg_line_u64(&line, " value=", all);
	for (unsigned int xcc = 0; sg_config.xccs > 1 && xcc < sg_config.xccs; xcc++)
		sg_line_u64(&line, xcc ? "," : " xccs=", parts[xcc]);
	sg_line_text(&line, " name=", f->kernel->name);
	sg_log_end(log, &line);
}

/* What one engine of an XCC counts of a dispatch in an instance of a block. */
static uint64_t part(const struct sg_flight *f, size_t b, unsigned int event, unsigned int engine,
		     unsigned int instance)
{
	const unsigned int engines =
		blocks[b].per_engine ? sg_config.engines * sg_config.xccs : sg_config.xccs;
	const uint64_t sum = total(f, b, event);

	if (b == GRBM_BLOCK)
		return sum;
	return share(sum, engines * instances_of(b), engine * instances_of(b) + instance);
}

/* A counter of an instance, in all XCCs and engines: they count the same event. */
static void count(struct sg_log *log, const struct sg_queue *queue, const struct sg_flight *f,
		  size_t b, unsigned int slot, unsigned int instance, bool ended)
{
	const unsigned int engines = blocks[b].per_engine ? sg_config.engines : 1;
	unsigned int event = NO_EVENT;
	uint64_t parts[SG_MAX_XCCS] = {0};

	for (unsigned int xcc = 0; xcc < sg_config.xccs; xcc++) {
		struct perf *perf = perfs[queue->gpu][xcc];

		if (!perf || perf->state != PERFMON_COUNT || !perf->used[b][slot])
			continue;
		for (unsigned int e = 0; e < engines; e++) {
			struct counter *c = &perf->counters[b][slot][e][instance];
			uint64_t value;

			if (c->event == NO_EVENT)
				continue;
			event = c->event;
			value = part(f, b, event, xcc * engines + e, instance);
			parts[xcc] += value;
			c->value += ended ? value - value / 2 : value / 2;
		}
	}
	if (ended && event != NO_EVENT)
		log_count(log, queue, f, b, instance, event, parts);
}

void sg_perf_dispatch(struct sg_log *log, const struct sg_queue *queue, const struct sg_flight *f,
		      bool ended)
{
	const struct perf *first = perfs[queue->gpu][0];

	if (!first || !queue->counted)
		return;
	for (size_t b = 0; b < BLOCKS; b++)
		for (unsigned int s = 0; s < blocks[b].slots; s++)
			for (unsigned int i = 0; first->used[b][s] && i < instances_of(b); i++)
				count(log, queue, f, b, s, i, ended);
}
