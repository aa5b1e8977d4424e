/* SPDX-License-Identifier: MIT */
/* See model.h: in the text, the gaps of the GPUs, and what processes and ranks have done. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define GAPS_SHOWN 8u
/* A gap is worth a line if it is so large a part of its GPU's span. */
#define GAP_PART 1000u

#define CELLS 8u
#define CELL  24u

/* Cells of numbers, right-aligned, and a text behind them. */
struct line {
	char cells[CELLS][CELL];
	char *text;
};

static void print_lines(FILE *file, const struct line *lines, size_t count, size_t cells,
			unsigned columns)
{
	int widths[CELLS] = {0};
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < cells; k++) {
			const int width = (int)strlen(lines[i].cells[k]);

			widths[k] = width > widths[k] ? width : widths[k];
		}
	}
	for (size_t k = 0; k < cells; k++)
		used += (size_t)widths[k] + 2;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < cells; k++)
			fprintf(file, "%s%*s", k ? "  " : "", widths[k], lines[i].cells[k]);
		if (lines[i].text && *lines[i].text) {
			fputs("  ", file);
			summary_print_name(file, lines[i].text,
					   columns > used + 20 ? columns - used : 20, 0);
		}
		fputc('\n', file);
	}
}

static void free_lines(struct line *lines, size_t count)
{
	for (size_t i = 0; lines && i < count; i++)
		free(lines[i].text);
	free(lines);
}

__attribute__((format(printf, 2, 3))) static void set(char cell[CELL], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(cell, CELL, format, arguments);
	va_end(arguments);
}

static void set_ns(char cell[CELL], uint64_t ns)
{
	char text[SUMMARY_DURATION_SIZE];

	set(cell, "%s", summary_duration(text, ns));
}

/* ---- gaps ---- */

static const struct summary_device *find_device(const struct summary *summary, uint32_t number)
{
	const struct summary_device *device = summary->devices;

	while (device && device->number != number)
		device = device->next;
	return device;
}

static uint64_t span_of(const struct summary_device *device)
{
	return device->busy.last - device->busy.first;
}

void summary_print_gaps(FILE *file, struct summary *summary, unsigned columns, unsigned top)
{
	const size_t most = top && top < GAPS_SHOWN ? top : top ? GAPS_SHOWN : SIZE_MAX;
	struct line *lines;
	size_t count = 1;

	if (!summary->gaps && summary_find_gaps(summary))
		return;
	lines = calloc(summary->gap_count + 1, sizeof(*lines));
	for (const struct summary_device *d = summary->devices; d; d = d->next)
		summary_begins(summary, d->busy.first);
	for (size_t i = 0; lines && i < summary->gap_count && count <= most; i++) {
		const struct summary_gap *gap = &summary->gaps[i];
		const uint64_t span = span_of(find_device(summary, gap->device));
		const uint64_t ns = gap->time.end - gap->time.begin;
		struct line *line = &lines[count];

		if (ns < span / GAP_PART)
			continue;
		set(line->cells[0], "%.1f%%", 100.0 * (double)ns / (double)span);
		set_ns(line->cells[1], ns);
		set_ns(line->cells[2], gap->time.begin - summary->begin_ns);
		set(line->cells[3], "%" PRIu32, gap->device);
		count++;
	}
	if (lines && count > 1) {
		static const char *const heads[] = {"share", "idle", "at", "GPU"};

		for (size_t k = 0; k < 4; k++)
			set(lines[0].cells[k], "%s", heads[k]);
		fputs("\nLargest idle gaps of the GPUs\n", file);
		print_lines(file, lines, count, 4, columns);
	}
	free_lines(lines, summary->gap_count + 1);
}

/* ---- processes ---- */

static bool has_deed(const struct summary_process *list, size_t count, enum summary_deed deed)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i].deeds[deed].count)
			return true;
	}
	return false;
}

static void fill(struct line *line, const struct summary_process *process, bool has_ranks,
		 bool by_rank, enum summary_deed calls)
{
	static const enum summary_deed shown[] = {SUMMARY_KERNELS, SUMMARY_COPIES};
	const char *program = by_rank || !process->program ? "" : process->program;
	const char *host = process->host_name ? process->host_name : "";

	if (process->rank >= 0)
		set(line->cells[0], "%" PRId32, process->rank);
	else if (has_ranks)
		set(line->cells[0], "-");
	set(line->cells[1], "%" PRId64, by_rank ? (int64_t)process->processes : process->pid);
	for (size_t k = 0; k < 3; k++) {
		const struct summary_deeds *deeds = &process->deeds[k < 2 ? shown[k] : calls];

		set(line->cells[2 + 2 * k], "%" PRIu64, deeds->count);
		set_ns(line->cells[3 + 2 * k], deeds->total_ns);
	}
	if (asprintf(&line->text, "%s%s%s", host, *host && *program ? ": " : "", program) < 0)
		line->text = NULL;
}

static void print_processes(FILE *file, const struct summary_process *list, size_t count,
			    bool by_rank, unsigned columns, unsigned top)
{
	const enum summary_deed calls =
		has_deed(list, count, SUMMARY_HIP_CALLS) ? SUMMARY_HIP_CALLS : SUMMARY_OTHER_CALLS;
	const size_t shown = top && top < count ? top : count;
	struct line *lines = calloc(shown + 1, sizeof(*lines));
	bool has_ranks = false;

	if (!lines)
		return;
	for (size_t i = 0; i < shown; i++)
		has_ranks |= list[i].rank >= 0;
	for (size_t i = 0; i < shown; i++)
		fill(&lines[i + 1], &list[i], has_ranks, by_rank, calls);
	const char *const heads[CELLS] = {has_ranks ? "rank" : "",
					  by_rank ? "processes" : "pid",
					  "kernels",
					  "on GPUs",
					  "copies",
					  "copying",
					  calls == SUMMARY_HIP_CALLS ? "HIP calls" : "calls",
					  "in calls"};
	for (size_t k = 0; k < CELLS; k++)
		set(lines[0].cells[k], "%s", heads[k]);
	lines[0].text = strdup(by_rank ? "host" : "host: program");
	fprintf(file, "\n%s: %zu%s\n", by_rank ? "Ranks" : "Processes", count,
		shown < count ? ", the first ones" : "");
	print_lines(file, lines, shown + 1, CELLS, columns);
	free_lines(lines, shown + 1);
}

void summary_print_processes(FILE *file, const struct summary *summary, unsigned columns,
			     unsigned top)
{
	struct summary_process *list;
	size_t count, ranks, with_rank = 0;

	if (summary_list_processes(summary, &list, &count))
		return;
	if (count > 1)
		print_processes(file, list, count, false, columns, top);
	for (size_t i = 0; i < count; i++)
		with_rank += list[i].rank >= 0;
	/* where a rank is a process, that was said */
	ranks = summary_join_ranks(list, count);
	if (ranks > 1 && ranks < with_rank)
		print_processes(file, list, ranks, true, columns, top);
	free(list);
}
