/* SPDX-License-Identifier: MIT */
/* See model.h: in the text, the gaps of the GPUs, and what processes and ranks have done. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define GAPS_SHOWN 8u
/* A gap is worth a line if it is so large a part of its GPU's span. */
#define GAP_PART 1000u

static void set_ns(char cell[SUMMARY_CELL], uint64_t ns)
{
	char text[SUMMARY_DURATION_SIZE];

	summary_set(cell, "%s", summary_duration(text, ns));
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
	struct summary_row *rows;
	uint64_t begin_ns = UINT64_MAX;
	size_t count = 1;

	if (!summary->gaps && summary_find_gaps(summary))
		return;
	rows = calloc(summary->gap_count + 1, sizeof(*rows));
	for (const struct summary_device *d = summary->devices; d; d = d->next)
		begin_ns = d->busy.first < begin_ns ? d->busy.first : begin_ns;
	for (size_t i = 0; rows && i < summary->gap_count && count <= most; i++) {
		const struct summary_gap *gap = &summary->gaps[i];
		const uint64_t span = span_of(find_device(summary, gap->device));
		const uint64_t ns = gap->time.end - gap->time.begin;
		struct summary_row *row = &rows[count];

		if (ns < span / GAP_PART)
			continue;
		summary_set(row->cells[0], "%.1f%%", 100.0 * (double)ns / (double)span);
		set_ns(row->cells[1], ns);
		set_ns(row->cells[2], gap->time.begin - begin_ns);
		summary_set(row->cells[3], "%" PRIu32, gap->device);
		count++;
	}
	if (rows && count > 1) {
		rows[0] = (struct summary_row){{"share", "idle", "at", "GPU"}, NULL};
		fputs("\nLargest idle gaps of the GPUs\n", file);
		summary_print_table(file, rows, count,
				    &(struct summary_table){.columns = columns, .gap = 2});
	}
	free(rows);
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

static void fill(struct summary_row *row, const struct summary_process *process, bool has_ranks,
		 bool by_rank, enum summary_deed calls)
{
	static const enum summary_deed shown[] = {SUMMARY_KERNELS, SUMMARY_COPIES};
	const char *program = by_rank || !process->program ? "" : process->program;
	const char *host = process->host_name ? process->host_name : "";
	char *name;

	if (process->rank >= 0)
		summary_set(row->cells[0], "%" PRId32, process->rank);
	else if (has_ranks)
		summary_set(row->cells[0], "-");
	summary_set(row->cells[1], "%" PRId64,
		    by_rank ? (int64_t)process->processes : process->pid);
	for (size_t k = 0; k < 3; k++) {
		const struct summary_deeds *deeds = &process->deeds[k < 2 ? shown[k] : calls];

		summary_set(row->cells[2 + 2 * k], "%" PRIu64, deeds->count);
		set_ns(row->cells[3 + 2 * k], deeds->total_ns);
	}
	if (asprintf(&name, "%s%s%s", host, *host && *program ? ": " : "", program) >= 0)
		row->name = name;
}

static void print_processes(FILE *file, const struct summary_process *list, size_t count,
			    bool by_rank, unsigned columns, unsigned top)
{
	const enum summary_deed calls =
		has_deed(list, count, SUMMARY_HIP_CALLS) ? SUMMARY_HIP_CALLS : SUMMARY_OTHER_CALLS;
	const size_t shown = top && top < count ? top : count;
	struct summary_row *rows = calloc(shown + 1, sizeof(*rows));
	bool has_ranks = false;

	if (!rows)
		return;
	for (size_t i = 0; i < shown; i++)
		has_ranks |= list[i].rank >= 0;
	for (size_t i = 0; i < shown; i++)
		fill(&rows[i + 1], &list[i], has_ranks, by_rank, calls);
	rows[0] = (struct summary_row){
		{"rank", "", "kernels", "on GPUs", "copies", "copying", "", "in calls"},
		by_rank ? "host" : "host: program"};
	summary_set(rows[0].cells[1], by_rank ? "processes" : "pid");
	summary_set(rows[0].cells[6], calls == SUMMARY_HIP_CALLS ? "HIP calls" : "calls");
	fprintf(file, "\n%s: %zu%s\n", by_rank ? "Ranks" : "Processes", count,
		shown < count ? ", the first ones" : "");
	summary_print_table(file, rows, shown + 1,
			    &(struct summary_table){.columns = columns, .gap = 2});
	for (size_t i = 1; i <= shown; i++)
		free((char *)(uintptr_t)rows[i].name);
	free(rows);
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
