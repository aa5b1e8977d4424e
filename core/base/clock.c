/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <stdlib.h>
#include <string.h>

#include <rtl/publish.h>

#include "files.h"

enum clock_kind clock_kind = CLOCK_KIND_NS;
#ifdef __x86_64__
uint32_t clock_calls = 1;
#else
uint32_t clock_calls; /* no code has a reading inline there, so a test of it costs nothing */
#endif

/* The kernel has checked what we would have to: constant, nonstop, the same on all CPUs. */
__attribute__((constructor(101))) static void clock_choose(void)
{
#ifdef __x86_64__
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	const char *force = secure_getenv("RTL_CLOCK");
	char text[16];

	if (force && !strcmp(force, "boottime"))
		return;
	if (read_text(path, text, sizeof(text)) >= 3 && !strncmp(text, "tsc", 3))
		clock_kind = CLOCK_KIND_TSC;
	clock_calls = clock_kind != CLOCK_KIND_TSC;
#endif
}

void clock_pair_take(struct clock_pair *pair)
{
	uint64_t best = UINT64_MAX;

	if (clock_kind == CLOCK_KIND_NS) {
		pair->ticks = pair->ns = clock_ns();
		pair->error_ticks = 0;
		return;
	}
	for (int i = 0; i < 5; i++) {
		uint64_t before = clock_ticks_ordered();
		uint64_t ns = clock_ns();
		uint64_t after = clock_ticks_ordered();

		if (after - before < best) {
			best = after - before;
			pair->ticks = before + best / 2;
			pair->ns = ns;
			pair->error_ticks = best / 2 + 1;
		}
	}
}

static uint64_t slope(const struct clock_pair *a, const struct clock_pair *b)
{
	return (uint64_t)(((unsigned __int128)(b->ns - a->ns) << 48) / (b->ticks - a->ticks));
}

void clock_line_add(struct clock_line *line, const struct clock_pair *pair)
{
	uint32_t kept;

	if (line->count) {
		struct clock_pair *last = &line->pairs[line->count - 1];

		if (pair->ticks <= last->ticks || pair->ns < last->ns)
			return; /* would fold the line back */
	}
	if (line->count == CLOCK_LINE_PAIRS) {
		kept = 0;
		for (uint32_t i = 0; i < CLOCK_LINE_PAIRS; i++)
			if (i == 0 || i >= CLOCK_LINE_PAIRS / 2 || i % 2 == 0)
				line->pairs[kept++] = line->pairs[i];
		for (uint32_t i = 1; i < kept; i++)
			line->pairs[i].slope = slope(&line->pairs[i - 1], &line->pairs[i]);
		line->count = kept;
	}
	line->pairs[line->count] = *pair;
	if (line->count)
		line->pairs[line->count].slope =
			slope(&line->pairs[line->count - 1], &line->pairs[line->count]);
	line->count++;
	line->taken++;
}

uint64_t clock_line_ns(const struct clock_line *line, uint64_t ticks)
{
	const struct clock_pair *a, *b;
	uint32_t i = line->count - 1, middle;

	if (line->count < 2)
		return clock_kind == CLOCK_KIND_NS ? ticks : line->pairs[0].ns;
	/* mostly in the last stretch, or just behind it; of a backlog or a recording anywhere */
	for (uint32_t low = 1; low < i && line->pairs[i - 1].ticks > ticks;) {
		middle = (low + i) / 2;
		if (line->pairs[middle].ticks > ticks)
			i = middle;
		else
			low = middle + 1;
	}
	a = &line->pairs[i - 1];
	b = &line->pairs[i];
	if (ticks < a->ticks) /* before the line: as steep as its first stretch */
		return a->ns - (uint64_t)((unsigned __int128)(a->ticks - ticks) * b->slope >> 48);
	return a->ns + (uint64_t)((unsigned __int128)(ticks - a->ticks) * b->slope >> 48);
}

uint64_t rtl_clock_ns(void)
{
	return clock_ns();
}
