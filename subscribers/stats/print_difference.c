/* SPDX-License-Identifier: MIT */
/* See summary.h: what has changed between two runs. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "model.h"

#define SURE 0.99

enum verdict { SAME, SLOWER, FASTER, UNSURE, NEW, GONE };

static const char *const verdicts[] = {
	[SAME] = "same",     [SLOWER] = "slower", [FASTER] = "faster",
	[UNSURE] = "unsure", [NEW] = "new",       [GONE] = "gone",
};

/* One name, before and after; of either, one may have counted nothing. */
struct change {
	const struct summary_group *is[2];
	double mean_ns[2];
	double of_mean, of_median; /* 0.08: 8 % more */
	int64_t total_ns;          /* more than before */
	struct histogram_ranks ranks;
	enum verdict verdict;
};

struct changes {
	struct change *rows;
	size_t count;
	uint64_t total_ns[2];
};

static uint64_t things(const struct summary_group *group)
{
	return group->count + group->untimed;
}

static double growth(double before, double after)
{
	return before > 0 ? after / before - 1 : 0;
}

static enum verdict judge(const struct change *change, double least)
{
	if (!things(change->is[0]))
		return NEW;
	if (!things(change->is[1]))
		return GONE;
	if (fabs(change->of_mean) < least)
		return SAME;
	/* Where few of many take long, the mean may go up while most take less. */
	if (change->ranks.confidence < SURE ||
	    (change->of_mean > 0) != (change->ranks.greater > 0.5))
		return UNSURE;
	return change->of_mean > 0 ? SLOWER : FASTER;
}

static void compare(struct change *change, double least)
{
	uint64_t median_ns[2];

	for (int i = 0; i < 2; i++) {
		const struct summary_group *group = change->is[i];

		change->mean_ns[i] =
			group->count ? (double)group->total_ns / (double)group->count : 0;
		median_ns[i] = group->count ? summary_group_quantile(group, 0.5) : 0;
	}
	change->total_ns = (int64_t)(change->is[1]->total_ns - change->is[0]->total_ns);
	change->of_mean = growth(change->mean_ns[0], change->mean_ns[1]);
	change->of_median = growth((double)median_ns[0], (double)median_ns[1]);
	change->ranks = histogram_compare(&change->is[0]->histogram, &change->is[1]->histogram);
	change->verdict = judge(change, least);
}

/* Those by which the total changed most first. */
static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	const int64_t of_x = llabs(x->total_ns), of_y = llabs(y->total_ns);

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return strcmp(x->is[0]->name, y->is[0]->name);
}

static int add_change(struct changes *changes, const struct summary_group *before,
		      const struct summary_group *after, double least)
{
	struct change *row = &changes->rows[changes->count];

	if (!before || !after)
		return -1;
	row->is[0] = before;
	row->is[1] = after;
	compare(row, least);
	changes->count++;
	return 0;
}

/* The rows of both; a section gets a row that only the other one has, with nothing counted. */
static int pair_groups(struct summary_section *const sections[2],
		       const struct summary_view views[2], double least, struct changes *changes)
{
	changes->rows = calloc(views[0].count + views[1].count + 1, sizeof(*changes->rows));
	if (!changes->rows)
		return -1;
	for (size_t i = 0; i < views[0].count; i++) {
		const struct summary_group *before = views[0].groups[i];

		if (add_change(changes, before, summary_group(sections[1], before->name), least))
			return -1;
	}
	for (size_t i = 0; i < views[1].count; i++) {
		const struct summary_group *after = views[1].groups[i];
		const struct summary_group *before = summary_group(sections[0], after->name);

		if ((!before || !things(before)) && add_change(changes, before, after, least))
			return -1;
	}
	return 0;
}

static int find_changes(struct summary_section *const sections[2], double least,
			struct changes *changes)
{
	struct summary_view views[2] = {0};
	int rc = -1;

	*changes = (struct changes){0};
	if (!summary_view(sections[0], SUMMARY_BY_TOTAL, &views[0]) &&
	    !summary_view(sections[1], SUMMARY_BY_TOTAL, &views[1]))
		rc = pair_groups(sections, views, least, changes);
	for (int i = 0; i < 2; i++) {
		changes->total_ns[i] = views[i].total_ns;
		free(views[i].groups);
	}
	if (rc) {
		free(changes->rows);
		return rc;
	}
	qsort(changes->rows, changes->count, sizeof(*changes->rows), compare_changes);
	return 0;
}

static int count_slower(const struct changes *changes, double fail)
{
	int count = 0;

	for (size_t i = 0; fail >= 0 && i < changes->count; i++)
		count += changes->rows[i].verdict == SLOWER && changes->rows[i].of_mean > fail;
	return count;
}

/* ---- text ---- */

enum { TOTAL, DELTA, COUNT, MEAN, MEDIAN, SURENESS, VERDICT };

static void fill_row(struct summary_row *row, const struct change *change)
{
	const bool both = change->is[0]->count && change->is[1]->count;
	char duration[SUMMARY_DURATION_SIZE];

	summary_set(row->cells[TOTAL], "%s", summary_duration(duration, change->is[1]->total_ns));
	summary_set(row->cells[DELTA], "%c%s", change->total_ns < 0 ? '-' : '+',
		    summary_duration(duration, (uint64_t)llabs(change->total_ns)));
	if (things(change->is[0]) == things(change->is[1]))
		summary_set(row->cells[COUNT], "%" PRIu64, things(change->is[1]));
	else
		summary_set(row->cells[COUNT], "%" PRIu64 " -> %" PRIu64, things(change->is[0]),
			    things(change->is[1]));
	if (both) {
		summary_set(row->cells[MEAN], "%+.1f%%", change->of_mean * 100);
		summary_set(row->cells[MEDIAN], "%+.1f%%", change->of_median * 100);
		/* Rounded down: never 100 %. */
		summary_set(row->cells[SURENESS], "%.1f%%",
			    fmin(floor(change->ranks.confidence * 1000) / 10, 99.9));
	}
	row->name = change->is[0]->name;
	summary_set(row->cells[VERDICT], "%s", verdicts[change->verdict]);
}

static void print_rows(FILE *file, const struct changes *changes, size_t shown, const char *heading,
		       unsigned columns)
{
	struct summary_row *rows = calloc(shown + 1, sizeof(*rows));

	if (!rows)
		return;
	rows[0] = (struct summary_row){{"total", "change", "count", "mean", "median", "sure"},
				       heading};
	for (size_t i = 0; i < shown; i++)
		fill_row(&rows[i + 1], &changes->rows[i]);
	summary_print_table(file, rows, shown + 1,
			    &(struct summary_table){.columns = columns, .gap = 2});
	if (shown < changes->count)
		fprintf(file, "(%zu more)\n", changes->count - shown);
	free(rows);
}

static void print_text(FILE *file, const struct changes *changes,
		       const struct summary_section *section, const struct summary_difference *how)
{
	const size_t shown = how->top && how->top < changes->count ? how->top : changes->count;
	char before[SUMMARY_DURATION_SIZE], after[SUMMARY_DURATION_SIZE];

	if (!changes->count)
		return;
	fprintf(file, "\n%s: %s -> %s", section->title,
		summary_duration(before, changes->total_ns[0]),
		summary_duration(after, changes->total_ns[1]));
	if (changes->total_ns[0])
		fprintf(file, " (%+.1f%%)",
			growth((double)changes->total_ns[0], (double)changes->total_ns[1]) * 100);
	fputc('\n', file);
	print_rows(file, changes, shown, summary_name_heading(section),
		   summary_line_width(file, how->columns));
}

/* ---- JSON ---- */

/* What it was before and after, as "key":[a,b]. */
static void print_both(struct json *json, const char *key, uint64_t before, uint64_t after)
{
	json_array(json, key);
	json_number(json, NULL, before);
	json_number(json, NULL, after);
	json_end(json);
}

static void print_json_row(struct json *json, const struct change *change)
{
	json_object(json, NULL);
	json_text(json, "name", change->is[0]->name);
	print_both(json, "count", things(change->is[0]), things(change->is[1]));
	print_both(json, "total_ns", change->is[0]->total_ns, change->is[1]->total_ns);
	json_array(json, "mean_ns");
	json_real(json, NULL, change->mean_ns[0], 1);
	json_real(json, NULL, change->mean_ns[1], 1);
	json_end(json);
	if (change->is[0]->count && change->is[1]->count) {
		json_real(json, "mean_change", change->of_mean, 6);
		json_real(json, "median_change", change->of_median, 6);
		json_real(json, "greater", change->ranks.greater, 6);
		json_real(json, "confidence", change->ranks.confidence, 9);
	}
	json_text(json, "verdict", verdicts[change->verdict]);
	json_end(json);
}

static void print_json(struct json *json, const struct changes *changes,
		       const struct summary_section *section, const struct summary_difference *how)
{
	json_object(json, NULL);
	json_text(json, "stream", section->stream);
	json_text(json, "kind", section->kind);
	json_text(json, "title", section->title);
	print_both(json, "total_ns", changes->total_ns[0], changes->total_ns[1]);
	json_array(json, "rows");
	for (size_t i = 0; i < changes->count && (!how->top || i < how->top); i++)
		print_json_row(json, &changes->rows[i]);
	json_end(json);
	json_end(json);
}

/* ---- both ---- */

static void print_head(FILE *file, struct json *json, const struct summary_difference *how)
{
	if (!how->json) {
		fprintf(file, "%s -> %s\n", how->titles[0], how->titles[1]);
		return;
	}
	json_object(json, NULL);
	json_text(json, "before", how->titles[0]);
	json_text(json, "after", how->titles[1]);
	json_array(json, "sections");
}

int summary_print_difference(struct summary *before, struct summary *after, FILE *file,
			     const struct summary_difference *how)
{
	struct json json = {.file = file};
	int slower = 0;

	/* Each gets the sections of the other; those of `after` that `before` lacks come last. */
	for (struct summary_section *s = after->sections; s; s = s->next)
		if (!summary_section(before, s->stream, s->kind, s->title))
			return -1;
	print_head(file, &json, how);
	for (struct summary_section *s = before->sections; s; s = s->next) {
		struct summary_section *const both[] = {
			s, summary_section(after, s->stream, s->kind, s->title)};
		struct changes changes;

		if (!both[1] || find_changes(both, how->least, &changes))
			return -1;
		if (how->json)
			print_json(&json, &changes, s, how);
		else
			print_text(file, &changes, s, how);
		slower += count_slower(&changes, how->fail);
		free(changes.rows);
	}
	if (how->json) {
		json_end(&json);
		json_end(&json);
	}
	return slower;
}
