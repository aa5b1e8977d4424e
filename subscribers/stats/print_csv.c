/* SPDX-License-Identifier: MIT */
/* See summary.h: as CSV (RFC 4180), a line for each row of each section. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

void summary_print_csv_cell(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputs("\",", file);
}

static void print_row(FILE *file, const struct summary_section *section,
		      const struct summary_group *group, uint64_t total_ns)
{
	summary_print_csv_cell(file, section->title);
	summary_print_csv_cell(file, section->stream);
	summary_print_csv_cell(file, section->kind);
	summary_print_csv_cell(file, group->name);
	fprintf(file, "%" PRIu64 ",%" PRIu64 ",", group->count + group->untimed, group->total_ns);
	if (group->count)
		fprintf(file, "%.6f,%.1f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			total_ns ? (double)group->total_ns / (double)total_ns : 0.0,
			(double)group->total_ns / (double)group->count, group->min_ns,
			summary_group_quantile(group, 0.5), summary_group_quantile(group, 0.9),
			summary_group_quantile(group, 0.99), group->max_ns);
	else
		fputs(",,,,,,", file);
	if (section->has_bytes)
		fprintf(file, ",%" PRIu64, group->bytes);
	else
		fputc(',', file);
	fprintf(file, ",%" PRIu64 ",,,,,,\n", group->failed);
}

void summary_print_csv(struct summary *summary, FILE *file, const struct summary_style *style)
{
	fputs("table,stream,kind,name,count,total_ns,share,mean_ns,min_ns,p50_ns,p90_ns,p99_ns,max_"
	      "ns,"
	      "bytes,failed,counter,unit,of,mean,min,max\n",
	      file);
	for (const struct summary_section *s = summary->sections; s; s = s->next) {
		struct summary_view view;

		if (summary_view(s, style->sort, &view))
			return;
		for (size_t i = 0; i < view.count && (!style->top || i < style->top); i++)
			print_row(file, s, view.groups[i], view.total_ns);
		free(view.groups);
	}
	summary_print_counters_csv(file, summary, style->top);
}
