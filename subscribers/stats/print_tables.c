/* SPDX-License-Identifier: MIT */
/* See model.h: in the text, why GPUs were idle, and what processes and ranks have done. */
#include "model.h"

/* Columns of idle causes. */
enum { SHARE, IDLE, PIECES, LONGEST, WHY };

#define GAPS_SHOWN 8u
/* Of so many ranges the critical path, and of each so many rows. */
#define PATHS_SHOWN 4u
#define PATH_SHOWN  6u
/* A gap is worth a line if it is so large a part of its GPU's span. */
#define GAP_PART 1000u
/* A cause is worth a word of so large a part of its gap. */
#define GAP_SHARE 0.05
/* Of a line, what stands before them. */
#define GAP_COLUMNS 34u
/* Of a heading, what stands beside the name of a range. */
#define HEADING_COLUMNS 60u

/* ---- idle time ---- */

#define NOT_SUBMITTED "no work submitted"
#define NOT_STARTED   "submitted, not started"
#define NO_STATEMENT  "not recorded"

static const struct {
	const char *key, *group, *text;
} causes[] = {
	[IDLE_OUTSIDE] = {"outside_hip", NOT_SUBMITTED, "host outside HIP"},
	[IDLE_CALL] = {"in_call", NOT_SUBMITTED, "host in several calls of HIP"},
	[IDLE_WAIT] = {"in_wait", NOT_SUBMITTED, "host waiting for nothing"},
	[IDLE_UNSEEN] = {"not_submitted", NOT_SUBMITTED, "host not recorded"},
	[IDLE_LATENCY] = {"launch_latency", NOT_STARTED, "launch latency"},
	[IDLE_COPY] = {"behind_copy", NOT_STARTED, "behind a copy"},
	[IDLE_QUEUE] = {"behind_queue", NOT_STARTED, "behind another queue"},
	[IDLE_EVENT] = {"behind_barrier", NOT_STARTED, "behind a barrier or event"},
	[IDLE_GRAPH] = {"in_graph", NOT_STARTED, "between nodes of a graph"},
	[IDLE_UNKNOWN] = {"unknown", "not known", "no time of submission"},
	[IDLE_PAUSED] = {"paused", NO_STATEMENT, "recording was paused"},
	[IDLE_FILTERED] = {"filtered", NO_STATEMENT, "work was left out"},
	[IDLE_LOST] = {"lost", NO_STATEMENT, "events were lost"},
	[PATH_WORK] = {"work", "work", "work"},
};

const char *summary_cause_key(enum idle_cause cause)
{
	return causes[cause].key;
}

/* To be freed. NULL: out of memory. */
static char *cause_text(const struct idle_row *row)
{
	const char *what = row->what ? row->what->name : NULL;
	char *text = NULL;
	int length;

	if (row->cause == IDLE_OUTSIDE && row->thread)
		length = asprintf(&text, "thread %" PRIu32 " outside HIP%s%s", row->thread->tid,
				  what ? ", in range " : "", what ? what : "");
	else if (row->cause == IDLE_OUTSIDE && what)
		length = asprintf(&text, "host outside HIP, in range %s", what);
	else if (row->cause == IDLE_CALL && what)
		length = asprintf(&text, "host in %s", what);
	else if (row->cause == IDLE_WAIT && what)
		length = asprintf(&text, "host waiting in %s for nothing", what);
	else
		length = asprintf(&text, "%s",
				  row->cause == PATH_WORK && what ? what : causes[row->cause].text);
	return length < 0 ? NULL : text;
}

static void free_names(struct summary_row *rows, size_t count)
{
	for (size_t i = 1; i <= count; i++)
		free((char *)(uintptr_t)rows[i].name);
	free(rows);
}

static int compare_rows(const void *a, const void *b)
{
	const struct idle_row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return (x->cause > y->cause) - (x->cause < y->cause);
}

struct idle_row *summary_idle_rows(const struct idle_rows *rows, size_t *count)
{
	struct idle_rows shown = {0};

	/* those without a thread may have become one cause */
	if (!idle_rows_merge(&shown, rows))
		shown.count = 0;
	map_fini(&shown.of);
	*count = shown.count;
	if (*count)
		qsort(shown.list, *count, sizeof(*shown.list), compare_rows);
	return shown.list;
}

/* What a gap's largest parts were, as far as there is room but for the first. To be freed. */
static char *gap_text(const struct summary_gap *gap, unsigned room)
{
	const double length = (double)(gap->is->end - gap->is->begin);
	char *text = NULL;

	for (size_t i = 0; i < GAP_PARTS; i++) {
		const struct gap_part *part = &gap->is->parts[i];
		const double share = (double)part->ns / length;
		char *cause = NULL, *longer = NULL;

		if (part->row && share >= GAP_SHARE)
			cause = cause_text(&gap->device->time.rows.list[part->row - 1]);
		if (cause && share < 1 - GAP_SHARE) {
			if (asprintf(&longer, "%s%s%.0f%% %s", text ? text : "", text ? ", " : "",
				     share * 100, cause) < 0)
				longer = NULL;
			free(cause);
			cause = longer;
		}
		if (!cause || (text && strlen(cause) > room)) {
			free(cause);
			break;
		}
		free(text);
		text = cause;
	}
	return text;
}

static void print_gaps(FILE *file, const struct summary *summary, unsigned columns, unsigned top)
{
	const size_t most = top && top < GAPS_SHOWN ? top : top ? GAPS_SHOWN : SIZE_MAX;
	struct summary_row *rows = calloc(summary->gap_count + 1, sizeof(*rows));
	uint64_t begin_ns = UINT64_MAX;
	size_t count = 0;

	for (const struct summary_device *d = summary->devices; d; d = d->next)
		begin_ns = d->time.first < begin_ns ? d->time.first : begin_ns;
	for (size_t i = 0; rows && i < summary->gap_count && count < most; i++) {
		const struct summary_gap *gap = &summary->gaps[i];
		const uint64_t span = gap->device->time.last - gap->device->time.first;
		const uint64_t ns = gap->is->end - gap->is->begin;
		struct summary_row *row = &rows[count + 1];

		if (ns < span / GAP_PART)
			continue;
		summary_set_share(row->cells[0], ns, span);
		summary_set_ns(row->cells[1], ns, 4);
		summary_set_ns(row->cells[2], gap->is->begin - begin_ns, 4);
		summary_set(row->cells[3], "%" PRIu32, gap->device->number);
		row->name = gap_text(gap, columns - GAP_COLUMNS);
		count++;
	}
	if (rows && count) {
		rows[0] = (struct summary_row){{"share", "idle", "at", "GPU"}, "cause"};
		fputs("\nLargest idle gaps of the GPUs\n", file);
		summary_print_table(file, rows, count + 1,
				    &(struct summary_table){.columns = columns});
	}
	free_names(rows, rows ? count : 0);
}

static void print_causes(FILE *file, const char *heading, const char *what,
			 const struct idle_rows *of, uint64_t whole_ns, unsigned columns,
			 unsigned top)
{
	static const uint8_t dispensable[] = {WHY, LONGEST, PIECES};
	const struct summary_table table = {
		.columns = columns, .left = 1 << WHY, SUMMARY_DISPENSABLE(dispensable)};
	char whole[SUMMARY_DURATION_SIZE];
	size_t count, shown;
	struct idle_row *list = summary_idle_rows(of, &count);
	struct summary_row *rows;

	shown = top && top < count ? top : count;
	rows = calloc(shown + 1, sizeof(*rows));
	if (list && rows && count) {
		rows[0] = (struct summary_row){{"share", "", "pieces", "longest", "why"}, "cause"};
		strcpy(rows[0].cells[IDLE], what);
		for (size_t i = 0; i < shown; i++) {
			struct summary_row *row = &rows[i + 1];

			summary_set_share(row->cells[SHARE], list[i].total_ns, whole_ns);
			summary_set_ns(row->cells[IDLE], list[i].total_ns, 4);
			summary_set(row->cells[PIECES], "%" PRIu64, list[i].count);
			summary_set_ns(row->cells[LONGEST], list[i].longest_ns, 4);
			summary_set(row->cells[WHY], "%s", causes[list[i].cause].group);
			row->name = cause_text(&list[i]);
		}
		fprintf(file, "\n%s %s%s\n", heading, summary_duration(whole, whole_ns),
			shown < count ? ", largest causes" : "");
		summary_print_table(file, rows, shown + 1, &table);
	}
	free_names(rows, rows ? shown : 0);
	free(list);
}

void summary_print_idle(FILE *file, const struct summary *summary, unsigned columns, unsigned top)
{
	char heading[64];

	for (const struct summary_device *d = summary->devices; d; d = d->next) {
		snprintf(heading, sizeof(heading), "Why GPU %" PRIu32 " was not busy for",
			 d->number);
		print_causes(file, heading, "idle", &d->time.rows, d->time.idle_ns, columns, top);
	}
	print_gaps(file, summary, columns, top);
}

/* ---- steps ---- */

/* Of each range of those the kernels that took the greatest shares of its kernels' time. */
static void print_within(FILE *file, const struct summary_view *ranges, unsigned columns,
			 unsigned top)
{
	const struct summary_table table = {.columns = columns, .left = 1};
	struct summary_row *rows = calloc(SUMMARY_WITHIN_SHOWN * ranges->count + 1, sizeof(*rows));
	size_t count = 1;

	for (size_t i = 0; rows && i < ranges->count && (!top || i < top); i++) {
		const struct summary_within *within[SUMMARY_WITHIN_SHOWN];
		uint64_t total_ns;
		const size_t n = summary_top_within(ranges->groups[i], &total_ns, within);

		for (size_t k = 0; k < n; k++, count++) {
			summary_set(rows[count].cells[0], "%.*s", k ? 0 : 32,
				    ranges->groups[i]->name);
			summary_set_share(rows[count].cells[1], within[k]->ns, total_ns);
			summary_set_ns(rows[count].cells[2], within[k]->ns, 4);
			rows[count].name = within[k]->what->name;
		}
	}
	if (count > 1) {
		rows[0] = (struct summary_row){{"range", "share", "total"}, "kernel"};
		fprintf(file, "\nKernels within ranges, of each the %u with most time\n",
			SUMMARY_WITHIN_SHOWN);
		summary_print_table(file, rows, count, &table);
	}
	free(rows);
}

/* A range of several processes side by side, and which one was the slowest. */
static void print_parts(FILE *file, const struct summary_group *range, unsigned columns,
			unsigned top)
{
	size_t count, n = 0;
	const struct summary_part **parts = summary_parts(range, &count);
	const size_t shown = !parts ? 0 : top && top < count ? top : count;
	struct summary_row *rows = calloc(shown + 1, sizeof(*rows));
	char *name = summary_cut_name(range->name, columns, HEADING_COLUMNS);

	for (size_t i = 0; rows && i < shown; i++) {
		const struct summary_part *part = parts[i];
		const bool has_rank = part->process->rank >= 0;
		struct idle_row *list = summary_idle_rows(&part->path, &n);
		const struct idle_row *wait = NULL;
		struct summary_row *row = &rows[i + 1];
		uint64_t work_ns = 0;

		for (size_t k = 0; list && k < n; k++)
			if (list[k].cause == PATH_WORK)
				work_ns += list[k].total_ns;
			else if (!wait)
				wait = &list[k];
		summary_set(row->cells[0], has_rank ? "rank %" PRId32 : "process %" PRId32,
			    has_rank ? part->process->rank : part->process->pid);
		summary_set(row->cells[1], "%" PRIu64, part->count);
		summary_set_ns(row->cells[2], part->total_ns / part->count, 4);
		if (work_ns)
			summary_set_share(row->cells[3], work_ns, part->total_ns);
		if (wait) {
			summary_set_share(row->cells[4], wait->total_ns, part->total_ns);
			row->name = cause_text(wait);
		}
		free(list);
	}
	if (rows && shown) {
		rows[0] = (struct summary_row){{"process", "count", "mean", "work", "waited"},
					       "most of it for"};
		fprintf(file, "\nRange %s by process: slowest %s, %.1f%% above mean\n",
			name ? name : range->name, rows[1].cells[0],
			100.0 * ((double)parts[0]->total_ns / (double)parts[0]->count /
					 ((double)range->total_ns / (double)range->count) -
				 1));
		summary_print_table(file, rows, shown + 1,
				    &(struct summary_table){.columns = columns, .left = 1});
	}
	free_names(rows, rows ? shown : 0);
	free(parts);
	free(name);
}

enum { STEPS, MEAN, BUSY, BUSY_SHARE, NOT_KNOWN_SHARE = BUSY_SHARE + IDLE_GROUPS };

void summary_print_steps(FILE *file, const struct summary *summary,
			 const struct summary_section *ranges, unsigned columns,
			 const struct summary_style *style)
{
	static const uint8_t dispensable[] = {MEAN, STEPS, NOT_KNOWN_SHARE};
	const struct summary_table table = {.columns = columns, SUMMARY_DISPENSABLE(dispensable)};
	struct summary_view view;
	struct summary_row *rows;
	size_t count = 0;

	if (!summary->devices || summary_view(ranges, style->sort, &view))
		return;
	rows = calloc(view.count + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < view.count && (!style->top || count < style->top); i++) {
		const struct summary_group *group = view.groups[i];
		struct summary_row *row = &rows[count + 1];
		uint64_t whole = group->busy_ns;

		for (int k = 0; k < IDLE_GROUPS; k++)
			whole += group->idle_ns[k];
		if (!whole || !group->count)
			continue;
		summary_set(row->cells[STEPS], "%" PRIu64, group->count);
		summary_set_ns(row->cells[MEAN], group->total_ns / group->count, 4);
		summary_set_ns(row->cells[BUSY], group->busy_ns / group->count, 4);
		summary_set_share(row->cells[BUSY_SHARE], group->busy_ns, whole);
		for (int k = 0; k < IDLE_GROUPS; k++)
			if (k != IDLE_NOT_KNOWN || group->idle_ns[k])
				summary_set_share(row->cells[BUSY_SHARE + 1 + k], group->idle_ns[k],
						  whole);
		row->name = group->name;
		count++;
	}
	if (rows && count) {
		rows[0] = (struct summary_row){
			{"count", "mean", "busy", "busy", "no work", "not started", "not known"},
			"range"};
		fputs("\nGPUs within ranges, on average: busy, or no work submitted or started\n",
		      file);
		summary_print_table(file, rows, count + 1, &table);
	}
	for (size_t i = 0, paths = 0; i < view.count && (!style->top || paths < PATHS_SHOWN); i++) {
		const struct summary_group *group = view.groups[i];
		char *name = summary_cut_name(group->name, columns, HEADING_COLUMNS);
		char *heading = NULL;

		if (group->path.count && name &&
		    asprintf(&heading, "Critical path of range %s, %" PRIu64 " times,", name,
			     group->count) > 0) {
			print_causes(file, heading, "time", &group->path, group->total_ns, columns,
				     style->top ? PATH_SHOWN : 0);
			paths++;
		}
		free(heading);
		free(name);
		if (!style->top || i < PATHS_SHOWN)
			print_parts(file, group, columns, style->top);
	}
	print_within(file, &view, columns, style->top);
	free(rows);
	free(view.groups);
}

/* ---- processes ---- */

static void fill(struct summary_row *row, const struct summary_process *process, bool has_ranks,
		 bool by_rank, enum summary_deed calls)
{
	const enum summary_deed shown[] = {SUMMARY_KERNELS, SUMMARY_COPIES, calls};
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
		const struct summary_deeds *deeds = &process->deeds[shown[k]];

		summary_set(row->cells[2 + 2 * k], "%" PRIu64, deeds->count);
		summary_set_ns(row->cells[3 + 2 * k], deeds->total_ns, 4);
	}
	if (asprintf(&name, "%s%s%s", host, *host && *program ? ": " : "", program) >= 0)
		row->name = name;
}

static void print_processes(FILE *file, const struct summary_process *list, size_t count,
			    bool by_rank, unsigned columns, unsigned top)
{
	static const uint8_t dispensable[] = {5, 4, 7};
	const struct summary_table table = {.columns = columns, SUMMARY_DISPENSABLE(dispensable)};
	enum summary_deed calls = SUMMARY_OTHER_CALLS;
	const size_t shown = top && top < count ? top : count;
	struct summary_row *rows = calloc(shown + 1, sizeof(*rows));
	bool has_ranks = false;

	if (!rows)
		return;
	for (size_t i = 0; i < count; i++) {
		has_ranks |= i < shown && list[i].rank >= 0;
		if (list[i].deeds[SUMMARY_HIP_CALLS].count)
			calls = SUMMARY_HIP_CALLS;
	}
	for (size_t i = 0; i < shown; i++)
		fill(&rows[i + 1], &list[i], has_ranks, by_rank, calls);
	rows[0] = (struct summary_row){
		{"rank", "", "kernels", "on GPUs", "copies", "copying", "", "in calls"},
		by_rank ? "host" : "host: program"};
	summary_set(rows[0].cells[1], by_rank ? "processes" : "pid");
	summary_set(rows[0].cells[6], calls == SUMMARY_HIP_CALLS ? "HIP calls" : "calls");
	fprintf(file, "\n%s: %zu%s\n", by_rank ? "Ranks" : "Processes", count,
		shown < count ? ", the first ones" : "");
	summary_print_table(file, rows, shown + 1, &table);
	free_names(rows, shown);
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
