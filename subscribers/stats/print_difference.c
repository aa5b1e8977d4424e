/* SPDX-License-Identifier: MIT */
/* See summary.h: what has changed between two runs. */
#include <math.h>

#include "json.h"
#include "model.h"

/* How often chance may make a row of a table look slower or faster, of all its rows together. */
#define CHANCE 0.01
/* Of one run of each side: so many durations of 100 must be greater, beside one half. */
#define CLEARLY 0.14

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
	double margin;             /* of of_mean, with a confidence of 95 %; negative: not known */
	int64_t total_ns;          /* more than before, of a run */
	struct histogram_ranks ranks;
	double confidence; /* that it is no chance */
	enum verdict verdict;
};

struct changes {
	const struct summary_difference *how;
	const struct summary_section *section;
	struct change *rows;
	size_t count, same;
	uint64_t total_ns[2]; /* of a run */
};

static uint64_t things(const struct summary_group *group)
{
	return group->count + group->untimed;
}

static double growth(double before, double after)
{
	return before > 0 ? after / before - 1 : 0;
}

/* ---- several runs */

struct sample {
	size_t count;
	double mean, variance; /* of the means of runs */
};

/* What the runs of a side say of a name: each that has it says its mean. */
static struct sample sample_runs(const struct changes *changes, int side, const char *name)
{
	const struct summary_difference *how = changes->how;
	const struct summary_section *section = changes->section;
	struct sample sample = {0};
	double squares = 0;

	for (size_t i = 0; i < how->count[side]; i++) {
		struct summary_section *of = summary_section(how->runs[side][i], section->stream,
							     section->kind, section->title);
		const struct summary_group *group = of ? summary_group(of, name) : NULL;
		double mean, before = sample.mean;

		if (!group || !group->count)
			continue;
		mean = (double)group->total_ns / (double)group->count;
		sample.mean += (mean - before) / (double)++sample.count;
		squares += (mean - before) * (mean - sample.mean);
	}
	sample.variance = sample.count > 1 ? squares / (double)(sample.count - 1) : 0;
	return sample;
}

/* How often Student's t lies within -t and t: its density, integrated (Simpson's rule). */
static double student(double t, double freedom)
{
	const double scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) /
			     sqrt(freedom * 3.14159265358979323846);
	const int steps = 2000;
	/* evenly in the angle, so that its tails are reached */
	const double end = atan(t / sqrt(freedom)), width = end / steps;
	double sum = 0;

	for (int i = 0; i <= steps; i++)
		sum += (i % steps ? 2 + i % 2 * 2 : 1) * pow(cos(i * width), freedom - 1);
	return 2 * scale * sqrt(freedom) * sum * width / 3;
}

/* Welch's t-test of the means of runs, if each side has two or more. */
static void compare_runs(const struct changes *changes, struct change *change)
{
	const struct sample a = sample_runs(changes, 0, change->is[0]->name);
	const struct sample b = sample_runs(changes, 1, change->is[0]->name);
	double of_a, of_b, error, freedom, low = 0, high = 1000;

	if (a.count < 2 || b.count < 2)
		return;
	of_a = a.variance / (double)a.count;
	of_b = b.variance / (double)b.count;
	error = sqrt(of_a + of_b);
	change->mean_ns[0] = a.mean;
	change->mean_ns[1] = b.mean;
	change->of_mean = growth(a.mean, b.mean);
	change->margin = 0;
	change->confidence = a.mean < b.mean || a.mean > b.mean;
	if (error <= 0)
		return;
	freedom = (of_a + of_b) * (of_a + of_b) /
		  (of_a * of_a / (double)(a.count - 1) + of_b * of_b / (double)(b.count - 1));
	change->confidence = student(fabs(b.mean - a.mean) / error, freedom);
	for (int i = 0; i < 40; i++) {
		const double middle = (low + high) / 2;

		*(student(middle, freedom) < 0.95 ? &low : &high) = middle;
	}
	change->margin = a.mean > 0 ? high * error / a.mean : 0;
}

/* ---- rows */

/* rows: how many are compared */
static void judge(const struct changes *changes, struct change *change, size_t rows)
{
	const bool is_gpu = !strcmp(changes->section->kind, "task");
	const double greater = change->ranks.greater - 0.5;
	bool is_sure = change->confidence >= 1 - CHANCE / (double)rows;

	if (!things(change->is[0]) || !things(change->is[1])) {
		change->verdict = things(change->is[0]) ? GONE : NEW;
		return;
	}
	if (change->margin < 0)
		/* Where few of many take long, the mean may go up while most take less. */
		is_sure &= is_gpu && fabs(greater) >= CLEARLY &&
			   (change->of_mean > 0) == (greater > 0);
	change->verdict = fabs(change->of_mean) < changes->how->least ? SAME
			  : !is_sure                                  ? UNSURE
			  : change->of_mean > 0                       ? SLOWER
								      : FASTER;
}

static void compare(const struct changes *changes, struct change *change, size_t rows)
{
	uint64_t median_ns[2], total_ns[2];

	for (int i = 0; i < 2; i++) {
		const struct summary_group *group = change->is[i];

		change->mean_ns[i] =
			group->count ? (double)group->total_ns / (double)group->count : 0;
		median_ns[i] = group->count ? summary_group_quantile(group, 0.5) : 0;
		total_ns[i] = group->total_ns / changes->how->count[i];
	}
	change->total_ns = (int64_t)(total_ns[1] - total_ns[0]);
	change->of_mean = growth(change->mean_ns[0], change->mean_ns[1]);
	change->of_median = growth((double)median_ns[0], (double)median_ns[1]);
	change->ranks = histogram_compare(&change->is[0]->histogram, &change->is[1]->histogram);
	change->confidence = change->ranks.confidence;
	change->margin = -1;
	compare_runs(changes, change);
	judge(changes, change, rows);
}

/* What is the same last; else those by which the total changed most first. */
static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	const int64_t of_x = llabs(x->total_ns), of_y = llabs(y->total_ns);

	if ((x->verdict == SAME) != (y->verdict == SAME))
		return x->verdict == SAME ? 1 : -1;
	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return strcmp(x->is[0]->name, y->is[0]->name);
}

static int add_change(struct changes *changes, const struct summary_group *before,
		      const struct summary_group *after, size_t rows)
{
	struct change *row = &changes->rows[changes->count];

	if (!before || !after)
		return -1;
	row->is[0] = before;
	row->is[1] = after;
	compare(changes, row, rows);
	changes->count++;
	changes->same += row->verdict == SAME;
	return 0;
}

/* The rows of both; a section gets a row that only the other one has, with nothing counted. */
static int pair_groups(struct summary_section *const sections[2],
		       const struct summary_view views[2], struct changes *changes)
{
	const size_t rows = views[0].count + views[1].count;

	changes->rows = calloc(rows + 1, sizeof(*changes->rows));
	if (!changes->rows)
		return -1;
	for (size_t i = 0; i < views[0].count; i++) {
		const struct summary_group *before = views[0].groups[i];

		if (add_change(changes, before, summary_group(sections[1], before->name), rows))
			return -1;
	}
	for (size_t i = 0; i < views[1].count; i++) {
		const struct summary_group *after = views[1].groups[i];
		const struct summary_group *before = summary_group(sections[0], after->name);

		if ((!before || !things(before)) && add_change(changes, before, after, rows))
			return -1;
	}
	return 0;
}

static int find_changes(struct summary_section *const sections[2], struct changes *changes)
{
	struct summary_view views[2] = {0};
	int rc = -1;

	if (!summary_view(sections[0], SUMMARY_BY_TOTAL, &views[0]) &&
	    !summary_view(sections[1], SUMMARY_BY_TOTAL, &views[1]))
		rc = pair_groups(sections, views, changes);
	for (int i = 0; i < 2; i++) {
		changes->total_ns[i] = views[i].total_ns / changes->how->count[i];
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

static void fill_row(const struct changes *changes, struct summary_row *row,
		     const struct change *change)
{
	const bool both = change->is[0]->count && change->is[1]->count;
	const size_t *runs = changes->how->count;
	const uint64_t counts[] = {things(change->is[0]) / runs[0],
				   things(change->is[1]) / runs[1]};
	char duration[SUMMARY_DURATION_SIZE];

	summary_set_ns(row->cells[TOTAL], change->is[1]->total_ns / runs[1], 4);
	summary_set(row->cells[DELTA], "%c%s", change->total_ns < 0 ? '-' : '+',
		    summary_duration(duration, (uint64_t)llabs(change->total_ns)));
	if (counts[0] == counts[1])
		summary_set(row->cells[COUNT], "%" PRIu64, counts[1]);
	else
		summary_set(row->cells[COUNT], "%" PRIu64 " -> %" PRIu64, counts[0], counts[1]);
	if (both) {
		summary_set(row->cells[MEAN], change->margin >= 0 ? "%+.1f +-%.1f%%" : "%+.1f%%",
			    change->of_mean * 100, change->margin * 100);
		summary_set(row->cells[MEDIAN], "%+.1f%%", change->of_median * 100);
		/* Rounded down: never 100 %. */
		summary_set(row->cells[SURENESS], "%.1f%%",
			    fmin(floor(change->confidence * 1000) / 10, 99.9));
	}
	row->name = change->is[0]->name;
	summary_set(row->cells[VERDICT], "%s", verdicts[change->verdict]);
}

static void print_rows(FILE *file, const struct changes *changes)
{
	const size_t changed = changes->count - changes->same, top = changes->how->top;
	const size_t shown = top && top < changed ? top : changed;
	struct summary_row *rows = calloc(shown + 1, sizeof(*rows));

	if (!rows)
		return;
	rows[0] = (struct summary_row){{"total", "change", "count", "mean", "median", "sure"},
				       summary_name_heading(changes->section)};
	for (size_t i = 0; i < shown; i++)
		fill_row(changes, &rows[i + 1], &changes->rows[i]);
	if (shown)
		summary_print_table(file, rows, shown + 1,
				    &(struct summary_table){.columns = summary_line_width(
								    file, changes->how->columns)});
	if (shown < changed)
		fprintf(file, "(%zu more)\n", changed - shown);
	if (changes->same)
		fprintf(file, "same: %zu of %zu\n", changes->same, changes->count);
	free(rows);
}

static void print_text(FILE *file, const struct changes *changes)
{
	char before[SUMMARY_DURATION_SIZE], after[SUMMARY_DURATION_SIZE];

	if (!changes->count)
		return;
	fprintf(file, "\n%s: %s -> %s", changes->section->title,
		summary_duration(before, changes->total_ns[0]),
		summary_duration(after, changes->total_ns[1]));
	if (changes->total_ns[0])
		fprintf(file, " (%+.1f%%)",
			growth((double)changes->total_ns[0], (double)changes->total_ns[1]) * 100);
	fputc('\n', file);
	print_rows(file, changes);
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

static void print_json_row(struct json *json, const struct changes *changes,
			   const struct change *change)
{
	const size_t *runs = changes->how->count;

	json_object(json, NULL);
	json_text(json, "name", change->is[0]->name);
	print_both(json, "count", things(change->is[0]) / runs[0], things(change->is[1]) / runs[1]);
	print_both(json, "total_ns", change->is[0]->total_ns / runs[0],
		   change->is[1]->total_ns / runs[1]);
	json_array(json, "mean_ns");
	json_real(json, NULL, change->mean_ns[0], 1);
	json_real(json, NULL, change->mean_ns[1], 1);
	json_end(json);
	if (change->is[0]->count && change->is[1]->count) {
		json_real(json, "mean_change", change->of_mean, 6);
		if (change->margin >= 0)
			json_real(json, "mean_margin", change->margin, 6);
		json_real(json, "median_change", change->of_median, 6);
		json_real(json, "greater", change->ranks.greater, 6);
		json_real(json, "confidence", change->confidence, 9);
	}
	json_text(json, "verdict", verdicts[change->verdict]);
	json_end(json);
}

static void print_json(struct json *json, const struct changes *changes)
{
	const struct summary_section *section = changes->section;
	const unsigned top = changes->how->top;

	json_object(json, NULL);
	json_text(json, "stream", section->stream);
	json_text(json, "kind", section->kind);
	json_text(json, "title", section->title);
	print_both(json, "total_ns", changes->total_ns[0], changes->total_ns[1]);
	json_array(json, "rows");
	for (size_t i = 0; i < changes->count && (!top || i < top); i++)
		print_json_row(json, changes, &changes->rows[i]);
	json_end(json);
	json_end(json);
}

/* ---- both ---- */

static void print_titles(FILE *file, struct json *json, const struct summary_difference *how,
			 int side)
{
	const char *key = side ? "after" : "before";
	const bool several = how->json && how->count[side] > 1;

	if (several)
		json_array(json, key);
	for (size_t i = 0; i < how->count[side]; i++) {
		if (how->json)
			json_text(json, several ? NULL : key, how->titles[side][i]);
		else
			fprintf(file, "%s%s", i ? " " : side ? " -> " : "", how->titles[side][i]);
	}
	if (several)
		json_end(json);
}

/* Both sides, each with its runs together and with the sections of the other. 0, or -1. */
static int merge_sides(struct summary *sides[2], const struct summary_difference *how)
{
	for (int i = 0; i < 2; i++) {
		sides[i] = summary_create();
		for (size_t k = 0; sides[i] && k < how->count[i]; k++)
			if (summary_merge_sections(sides[i], how->runs[i][k]))
				return -1;
	}
	if (!sides[0] || !sides[1])
		return -1;
	for (struct summary_section *s = sides[1]->sections; s; s = s->next)
		if (!summary_section(sides[0], s->stream, s->kind, s->title))
			return -1;
	return 0;
}

static int print_sections(FILE *file, struct json *json, struct summary *sides[2],
			  const struct summary_difference *how)
{
	int slower = 0;

	for (struct summary_section *s = sides[0]->sections; s; s = s->next) {
		struct summary_section *const both[] = {
			s, summary_section(sides[1], s->stream, s->kind, s->title)};
		struct changes changes = {.how = how, .section = s};

		if (how->only && strcmp(how->only, s->kind) != 0)
			continue;
		if (!both[1] || find_changes(both, &changes))
			return -1;
		if (how->json)
			print_json(json, &changes);
		else
			print_text(file, &changes);
		slower += count_slower(&changes, how->fail);
		free(changes.rows);
	}
	return slower;
}

int summary_print_difference(FILE *file, const struct summary_difference *how)
{
	struct json json = {.file = file};
	struct summary *sides[2] = {NULL, NULL};
	int slower = -1;

	if (how->json)
		json_object(&json, NULL);
	print_titles(file, &json, how, 0);
	print_titles(file, &json, how, 1);
	if (how->json)
		json_array(&json, "sections");
	else
		fputc('\n', file);
	if (!merge_sides(sides, how))
		slower = print_sections(file, &json, sides, how);
	if (how->json) {
		json_end(&json);
		json_end(&json);
	}
	summary_destroy(sides[0]);
	summary_destroy(sides[1]);
	return slower;
}
