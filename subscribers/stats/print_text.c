/* SPDX-License-Identifier: MIT */
/* See summary.h: the text. Where lines are short, numbers have a digit less and stand closer, and those that do not fit
 * are left out. */
#include "model.h"

#define SHORT_COLUMNS 104u /* lines shorter than that are short */

/* KEY only where a table is broken down, BYTES and RATE where bytes are moved, GAP and PATH of nodes of graphs. */
enum { KEY, SHARE, COUNT, TOTAL, MEAN, MIN, P50, P99, MAX, GAP, PATH, BYTES, RATE };
/* Of collectives. */
enum { BUS = RATE + 1, SKEW, LATE, ORIGIN = LATE /* of nodes */, CELLS };

#define GRAPHS_SHOWN 10u /* with their nodes */

#define KEY_SHOWN 32 /* bytes of its name */

/* What is left out first; MAX only of nodes. */
static const uint8_t dispensable[] = {MIN, BYTES, P50, SHARE, RATE, P99};
static const uint8_t dispensable_of_nodes[] = {MIN, BYTES, P50, ORIGIN, SHARE, RATE, MAX, P99};

void summary_set_ns(char text[SUMMARY_DURATION_SIZE], uint64_t ns, int digits)
{
	static const char *const units[] = {"us", "ms", "s"};
	/* A value within half of the last digit of a power of ten is shown as that power. */
	const double round = digits == 4 ? 0.99995 : 0.9995;
	double value = (double)ns / 1e3;
	unsigned unit = 0;

	if (ns < 1000) {
		snprintf(text, SUMMARY_DURATION_SIZE, "%uns", (unsigned)ns);
		return;
	}
	for (; value >= 1000 * round && unit < 2; unit++)
		value /= 1e3;
	int before = 1;
	for (double limit = 10; before < 4 && value >= limit * round; limit *= 10)
		before++;
	snprintf(text, SUMMARY_DURATION_SIZE, "%.*f%s", digits > before ? digits - before : 0,
		 value, units[unit]);
}

const char *summary_duration(char text[SUMMARY_DURATION_SIZE], uint64_t ns)
{
	summary_set_ns(text, ns, 4);
	return text;
}

/* Bytes in 4 digits, decimal units. */
static void set_bytes(char cell[SUMMARY_CELL], double bytes, const char *after)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	unsigned unit = 0;

	for (; bytes >= 999.95 && unit < 4; unit++)
		bytes /= 1e3;
	summary_set(cell, unit ? "%.4g%s%s" : "%.3g%s%s", bytes, units[unit], after);
}

/* How far apart ranks come on average, and for which one the others waited longest: "rank 3, 92%". */
static void fill_skew(struct summary_row *row, const struct summary_skew *skew, int digits)
{
	int32_t late = 0;

	for (int32_t i = 1; i < skew->ranks; i++)
		late = skew->late[i].ns > skew->late[late].ns ? i : late;
	summary_set_ns(row->cells[SKEW], skew->ns / skew->count, digits);
	if (skew->ns)
		summary_set(row->cells[LATE], "rank %" PRId32 ", %.0f%%", late,
			    100.0 * (double)skew->late[late].ns / (double)skew->ns);
}

/* The call that captured or added a node: "hipLaunchKernel, thread 4711, in forward". */
static void fill_origin(char cell[SUMMARY_CELL], const struct summary_origin *origin)
{
	const struct summary_group *range = origin && origin->range ? *origin->range : NULL;
	const char *in = range ? ", in " : origin && origin->range ? ", unknown range" : "";
	char thread[16] = "unknown";

	if (!origin)
		return (void)strcpy(cell, "unknown");
	if (origin->tid)
		snprintf(thread, sizeof(thread), "%" PRIu32, origin->tid);
	summary_set(cell, "%s, thread %s%s%.*s",
		    origin->function ? origin->function : "several calls", thread, in, KEY_SHOWN,
		    range ? range->name : "");
}

static void fill_row(struct summary_row *row, const struct summary_group *group, uint64_t total_ns,
		     int digits)
{
	const struct {
		int cell;
		uint64_t ns;
	} times[] = {
		{TOTAL, group->total_ns},
		{MEAN, group->count ? (group->total_ns + group->count / 2) / group->count : 0},
		{MIN, group->min_ns},
		{P50, summary_group_quantile(group, 0.5)},
		{P99, summary_group_quantile(group, 0.99)},
		{MAX, group->max_ns},
	};

	row->name = group->name;
	summary_set(row->cells[COUNT], "%" PRIu64, group->count + group->untimed);
	summary_set_share(row->cells[SHARE], group->total_ns, total_ns);
	if (group->section->has_bytes)
		set_bytes(row->cells[BYTES], (double)group->bytes, "");
	if (group->section->has_bytes && group->total_ns)
		set_bytes(row->cells[RATE], summary_group_rate(group) * 1e9, "/s");
	else if (group->section->has_bytes)
		strcpy(row->cells[RATE], "-");
	if (group->bus > 0 && group->total_ns)
		set_bytes(row->cells[BUS], summary_group_rate(group) * group->bus * 1e9, "/s");
	if (group->skew && group->skew->count)
		fill_skew(row, group->skew, digits);
	if (group->gaps)
		summary_set_ns(row->cells[GAP], group->gap_ns / group->gaps, digits);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (group->count)
			summary_set_ns(row->cells[times[i].cell], times[i].ns, digits);
		else
			strcpy(row->cells[times[i].cell], "-");
	}
	if (!strcmp(group->section->kind, "launch"))
		*row->cells[SHARE] = *row->cells[TOTAL] = '\0';
}

/* The row that stands for all from the n-th on, of that total. */
static void fill_rest(struct summary_row *row, const struct summary_view *view, size_t n,
		      uint64_t total_ns, int digits, char name[SUMMARY_CELL])
{
	uint64_t count = 0, total = 0;

	for (size_t i = n; i < view->count; i++) {
		count += view->groups[i]->count + view->groups[i]->untimed;
		total += view->groups[i]->total_ns;
	}
	summary_set(name, "(%zu more)", view->count - n);
	row->name = name;
	summary_set(row->cells[COUNT], "%" PRIu64, count);
	summary_set_share(row->cells[SHARE], total, total_ns);
	summary_set_ns(row->cells[TOTAL], total, digits);
	if (!strcmp(view->groups[n]->section->kind, "launch"))
		*row->cells[SHARE] = *row->cells[TOTAL] = '\0';
}

const char *summary_name_heading(const struct summary_section *section)
{
	if (!strcmp(section->kind, "task") || !strcmp(section->kind, "launch"))
		return "kernel";
	if (!strcmp(section->title, SUMMARY_RANGES))
		return "range";
	return !strcmp(section->kind, "transfer") ? "copy" : section->kind;
}

/* Which functions have failed, how often: "failed: hipMalloc 2, hipModuleLoad 1". */
static void print_failed(FILE *file, const struct summary_view *view)
{
	const char *before = "failed: ";

	for (size_t i = 0; i < view->count; i++) {
		const struct summary_group *group = view->groups[i];

		if (!group->failed)
			continue;
		fputs(before, file);
		summary_print_bytes(file, group->name, strlen(group->name));
		fprintf(file, " %" PRIu64, group->failed);
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', file);
}

/* "open when the process ended: hipDeviceSynchronize (thread 4711, for 10.21s), and 3 more" */
static void print_open(FILE *file, const struct summary_section *section)
{
	const bool on_gpu = !strcmp(section->kind, "task") || !strcmp(section->kind, "transfer");
	char duration[SUMMARY_DURATION_SIZE];
	uint32_t i;

	for (i = 0; i < SUMMARY_OPEN_SHOWN && section->open[i].name; i++) {
		const struct summary_open *open = &section->open[i];

		fputs(i ? ",\n  " : on_gpu ? "under way" : "open", file);
		fputs(i ? "" : " when the process ended: ", file);
		summary_print_bytes(file, open->name, strlen(open->name));
		fprintf(file, " (thread %" PRIu32 ", for %s)", open->tid,
			summary_duration(duration, open->duration_ns));
	}
	if (section->open_count > i)
		fprintf(file, ", and %" PRIu64 " more", section->open_count - i);
	if (section->open_count)
		fputc('\n', file);
}

/* The title with what the rows add up to. Latencies overlap, so their sum would say nothing. */
static void print_heading(FILE *file, const struct summary_section *section,
			  const struct summary_view *view)
{
	const bool overlap = !strcmp(section->kind, "launch");
	struct histogram all = {0};
	char text[SUMMARY_DURATION_SIZE];

	for (size_t i = 0; overlap && i < view->count; i++)
		(void)histogram_merge(&all, &view->groups[i]->histogram);
	fprintf(file, overlap ? "\n%s: %" PRIu64 ", median %s" : "\n%s: %" PRIu64 ", %s in total",
		section->title, view->operations,
		summary_duration(text, overlap ? histogram_quantile(&all, 0.5) : view->total_ns));
	histogram_fini(&all);
}

/* The first row is for the headings. */
static void print_table(FILE *file, struct summary_row *rows, size_t count, const char *key,
			const char *heading, bool nodes, unsigned columns)
{
	const struct summary_table table = {.columns = columns,
					    .is_close = columns < SHORT_COLUMNS,
					    .left = 1 << KEY | (unsigned)nodes << ORIGIN,
					    .dispensable =
						    nodes ? dispensable_of_nodes : dispensable,
					    .dispensable_count = sizeof(dispensable) + 2 * nodes};

	rows[0] = (struct summary_row){{"", "share", "count", "total", "mean", "min", "p50", "p99",
					"max", "gap", "path", "bytes", "rate", "bus", "skew",
					"waited for"},
				       heading};
	summary_set(rows[0].cells[KEY], "%s", key);
	if (nodes)
		strcpy(rows[0].cells[ORIGIN], "captured or added by");
	summary_print_table(file, rows, count, &table);
}

/* Fills rows with the first ones and the rest. Returns how many these are. */
static size_t fill_rows(struct summary_row *rows, const struct summary_view *view,
			uint64_t total_ns, unsigned top, int digits, char more[SUMMARY_CELL])
{
	const size_t shown = top && top < view->count ? top : view->count;

	for (size_t i = 0; i < shown; i++)
		fill_row(&rows[i], view->groups[i], total_ns, digits);
	if (shown < view->count)
		fill_rest(&rows[shown], view, shown, total_ns, digits, more);
	return shown + (shown < view->count);
}

/* path_ns: of all launches of a graph; 0: rows are no nodes. */
static void print_rows(FILE *file, const struct summary_view *view, const char *heading,
		       uint64_t path_ns, unsigned columns, unsigned top)
{
	struct summary_row *rows = calloc(view->count + 1, sizeof(*rows));
	char more[SUMMARY_CELL];
	const size_t count = rows ? fill_rows(rows + 1, view, view->total_ns, top,
					      columns < SHORT_COLUMNS ? 3 : 4, more)
				  : 0;

	for (size_t i = 0; path_ns && i < count && i < view->count && (!top || i < top); i++) {
		fill_origin(rows[i + 1].cells[ORIGIN], view->groups[i]->origin);
		if (view->groups[i]->path_ns)
			summary_set_share(rows[i + 1].cells[PATH], view->groups[i]->path_ns,
					  path_ns);
	}
	if (count)
		print_table(file, rows, count + 1, "", heading, path_ns, columns);
	free(rows);
}

/* Of each key all that it was, if that is more than one name, and names. Of many keys the first, and of these a quarter
 * as many names. */
static void print_keys(FILE *file, const struct summary_section *section, uint64_t total_ns,
		       unsigned columns, const struct summary_style *style)
{
	const int digits = columns < SHORT_COLUMNS ? 3 : 4;
	const unsigned names = style->top && style->top < 8 ? 2 : style->top / 4;
	size_t count, shown, n = 1, room = 2;
	struct summary_key *keys = summary_keys(section, style->sort, &count);
	struct summary_view all = {.groups = calloc(count + 1, sizeof(struct summary_group *)),
				   .count = count};
	char(*more)[SUMMARY_CELL] = calloc(count + 1, sizeof(*more));
	struct summary_row *rows;

	for (size_t i = 0; i < count && all.groups; i++) {
		all.groups[i] = keys[i].all;
		room += keys[i].view.count + 1;
	}
	rows = calloc(room, sizeof(*rows));
	if (!rows || !more || !all.groups)
		goto out;
	shown = style->top && style->top < count ? style->top : count;
	for (size_t i = 0; i < shown; i++) {
		const size_t first = n;

		if (keys[i].view.count > 1) {
			fill_row(&rows[n], keys[i].all, total_ns, digits);
			rows[n++].name = "(all)";
		}
		n += fill_rows(&rows[n], &keys[i].view, total_ns, names, digits, more[i]);
		for (size_t k = first; k < n; k++)
			summary_set(rows[k].cells[KEY], "%.*s%s", KEY_SHOWN, keys[i].all->name,
				    strlen(keys[i].all->name) > KEY_SHOWN ? "..." : "");
	}
	if (shown < count)
		fill_rest(&rows[n++], &all, shown, total_ns, digits, more[shown]);
	print_table(file, rows, n, summary_by_name(section->summary), summary_name_heading(section),
		    false, columns);
out:
	free(rows);
	free(more);
	free(all.groups);
	summary_keys_free(keys, count);
}

/* Of the first graphs their nodes, in their order. */
static void print_graphs(FILE *file, const struct summary_view *view, unsigned columns,
			 unsigned top)
{
	size_t shown = 0;

	for (size_t i = 0; i < view->count; i++) {
		const struct summary_graph *graph = view->groups[i]->graph;

		if (!graph || (shown++ >= GRAPHS_SHOWN && top))
			continue;
		fprintf(file, "\nNodes of %s (process %" PRId32 ", executable 0x%" PRIx64 ")\n",
			view->groups[i]->name, graph->pid, graph->executable);
		print_rows(file, &graph->nodes, "node", view->groups[i]->total_ns, columns, top);
	}
	if (shown > GRAPHS_SHOWN && top)
		fprintf(file, "\n(nodes of %zu more graphs)\n", shown - GRAPHS_SHOWN);
}

static void print_section(FILE *file, const struct summary_section *section, unsigned columns,
			  const struct summary_style *style)
{
	struct summary_view view;

	if (summary_view(section, style->sort, &view))
		return;
	if (!(view.count || section->unpaired || section->refused || section->open_count))
		goto out;
	print_heading(file, section, &view);
	if (view.untimed)
		fprintf(file, ", %" PRIu64 " without times", view.untimed);
	if (section->unlinked)
		fprintf(file, ", %" PRIu64 " linked to no call", section->unlinked);
	if (section->refused)
		fprintf(file, ", %" PRIu64 " more refused", section->refused);
	if (section->open_count)
		fprintf(file, ", %" PRIu64 " more had not ended", section->open_count);
	if (section->unpaired)
		fprintf(file, ", %" PRIu64 " more without begin or end", section->unpaired);
	fputc('\n', file);
	if (!section->keys && section->summary->by && !strcmp(section->kind, "function"))
		fprintf(file, "(not by %s, which these calls do not have)\n",
			summary_by_name(section->summary));
	if (section->keys)
		print_keys(file, section, view.total_ns, columns, style);
	else
		print_rows(file, &view, summary_name_heading(section), 0, columns, style->top);
	print_failed(file, &view);
	print_graphs(file, &view, columns, style->top);
out:
	free(view.groups);
}

/* " (gfx906, Vega 20, 0000:03:00.0)", with what is known; the UUID where there is no place. */
static void print_device_name(FILE *file, const struct summary *summary, uint32_t number)
{
	const char *texts[DEVICE_TEXTS], *before = " (";

	for (unsigned i = 0; i < DEVICE_TEXTS; i++)
		texts[i] = summary_device_text(summary, number, i);
	if (texts[DEVICE_BUS_ID])
		texts[DEVICE_UUID] = NULL;
	for (unsigned i = 0; i < DEVICE_TEXTS; i++) {
		if (!texts[i])
			continue;
		fputs(before, file);
		summary_print_bytes(file, texts[i], strlen(texts[i]));
		before = ", ";
	}
	if (*before == ',')
		fputc(')', file);
}

/* Goes on in another line behind a comma where there is no room. Frees it. */
static void print_wrapped(FILE *file, char *line, unsigned columns)
{
	char *rest = line, *part;
	size_t at = 0;

	while ((part = strsep(&rest, ","))) {
		part += *part == ' ';
		if (at) {
			const bool fits = at + 2 + strlen(part) < columns;

			fputs(fits ? ", " : ",\n  ", file);
			at = fits ? at + 2 : 2;
		}
		fputs(part, file);
		at += strlen(part);
	}
	free(line);
}

static void print_device(FILE *out, const struct summary *summary, const struct summary_device *d,
			 unsigned columns)
{
	const struct gpu_time *time = &d->time;
	const uint64_t paused = gpu_time_unknown(time, true),
		       unknown = gpu_time_unknown(time, false);
	const uint64_t span = d->kernels + d->copies && time->last ? time->last - time->first : 0;
	const uint64_t recorded = span - paused;
	const uint64_t apart = time->kernels_ns + time->copies_ns;
	char text[6][SUMMARY_DURATION_SIZE], *line = NULL;
	size_t size;
	FILE *file = open_memstream(&line, &size);

	if (!file)
		return;
	fprintf(file, "GPU %" PRIu32, d->number);
	print_device_name(file, summary, d->number);
	fprintf(file, ": busy %s%s of %s%s (%.1f%%)",
		time->uncertain_ns > time->busy_ns / 1000 || unknown > paused ? "at least " : "",
		summary_duration(text[0], time->busy_ns), summary_duration(text[1], recorded),
		paused ? " recorded" : "",
		recorded ? 100.0 * (double)time->busy_ns / (double)recorded : 0.0);
	if (unknown > paused)
		fputs(", the rest is not known", file);
	else
		fprintf(file, ", idle %s", summary_duration(text[2], time->idle_ns - unknown));
	if (paused)
		fprintf(file, ", paused %s", summary_duration(text[5], paused));
	if (d->kernels || !d->copies)
		fprintf(file, ", %" PRIu64 " dispatches", d->kernels);
	if (d->copies)
		fprintf(file, ", %" PRIu64 " copies", d->copies);
	fclose(file);
	print_wrapped(out, line, columns);
	if (time->copies_ns)
		fprintf(out, "\n  kernels %s, copies %s, both at once %s",
			summary_duration(text[2], time->kernels_ns),
			summary_duration(text[3], time->copies_ns),
			summary_duration(text[4],
					 apart > time->busy_ns ? apart - time->busy_ns : 0));
	fputc('\n', out);
}

static void print_stream(FILE *file, const struct summary_stream *stream, bool unfinished)
{
	const struct rtl_ledger *l = &stream->ledger;
	const uint64_t all = summary_stream_lost(stream);
	const uint64_t lost = all > stream->unfinished ? all - stream->unfinished : 0;
	const struct {
		const char *what;
		uint64_t count;
	} parts[] = {
		{"discarded", l->discarded},
		{"abandoned", l->abandoned},
		{"missed", l->missed > stream->unfinished ? l->missed - stream->unfinished : 0}};
	const char *comma = ": ";

	if (unfinished && !lost)
		return;
	summary_print_bytes(file, stream->name, strlen(stream->name));
	if (!unfinished)
		fprintf(file, ": %" PRIu64 " of %" PRIu64 " events recorded", l->delivered,
			l->published + l->missed);
	if (l->left_out)
		fprintf(file, "%s%" PRIu64 " left out", unfinished ? ": " : ", ", l->left_out);
	if (stream->unfinished && !unfinished)
		fprintf(file, ", %" PRIu64 " had not ended when the process did",
			stream->unfinished);
	if (!lost) {
		fputs(", 0 lost\n", file);
		return;
	}
	fprintf(file, "%s%" PRIu64 " LOST%s", unfinished ? ": " : ", ", lost,
		unfinished ? " so far" : "");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!parts[i].count)
			continue;
		fprintf(file, "%s%" PRIu64 " %s", comma, parts[i].count, parts[i].what);
		comma = ", ";
	}
	comma = " (";
	for (const struct summary_loss *loss = stream->losses; loss; loss = loss->next) {
		if (!strcmp(loss->cause, RTL_CAUSE_UNDER_WAY))
			continue;
		fputs(comma, file);
		summary_print_bytes(file, loss->cause, strlen(loss->cause));
		fprintf(file, ": %" PRIu64, loss->count);
		comma = ", ";
	}
	fputs(*comma == ',' ? ")\n" : "\n", file);
}

/* "GPU 1: memory access fault at 0x7f0000001000: page not present" */
static void print_faults(FILE *file, const struct summary *summary)
{
	const size_t shown = summary->fault_count < SUMMARY_FAULTS_KEPT ? summary->fault_count
									: SUMMARY_FAULTS_KEPT;

	for (size_t i = 0; i < shown; i++) {
		const struct summary_fault *fault = &summary->faults[i];
		const char *colon;

		fprintf(file, "GPU %" PRIu32, fault->is.gpu);
		if (fault->is.queue)
			fprintf(file, ", queue %" PRIu32, fault->is.queue);
		fprintf(file, " (process %" PRId32 "): %s", fault->pid,
			rtl_hsa_fault_kind_text(fault->is.kind));
		if (fault->is.address)
			fprintf(file, " at 0x%" PRIx64, fault->is.address);
		colon = strstr(fault->reason, ": "); /* of hsa_status_string: name and text */
		fputs(colon ? "\n  " : ": ", file);
		if (colon) {
			summary_print_bytes(file, fault->reason, (size_t)(colon - fault->reason));
			fputs(":\n  ", file);
		}
		colon = colon ? colon + 2 : fault->reason;
		summary_print_bytes(file, colon, strlen(colon));
		fputc('\n', file);
		if (fault->memory) {
			fputs("  ", file);
			summary_print_bytes(file, fault->memory, strlen(fault->memory));
			fputc('\n', file);
		}
	}
	if (shown < summary->fault_count)
		fprintf(file, "and %zu more faults\n", summary->fault_count - shown);
}

/* What went wrong comes first: where ranks were, how the command ended, faults of GPUs, what was open. */
static void print_ending(FILE *file, const struct summary *summary)
{
	for (const char *at = summary->ranks, *end; at; at = *end ? end + 1 : NULL) {
		end = strchrnul(at, '\n');
		summary_print_bytes(file, at, (size_t)(end - at));
		fputc('\n', file);
	}
	if (summary->ended && strcmp(summary->ended, "with status 0") != 0)
		fprintf(file, "The command ended %s\n", summary->ended);
	print_faults(file, summary);
	for (const struct summary_section *s = summary->sections; s; s = s->next)
		print_open(file, s);
}

void summary_print_text(struct summary *summary, FILE *file, const struct summary_style *style)
{
	unsigned columns = summary_line_width(file, style->columns);

	if (*style->title) {
		summary_print_bytes(file, style->title, strlen(style->title));
		fputc('\n', file);
	}
	print_ending(file, summary);
	for (const struct summary_section *s = summary->sections; s; s = s->next) {
		print_section(file, s, columns, style);
		if (!strcmp(s->title, SUMMARY_RANGES))
			summary_print_steps(file, summary, s, columns, style);
	}
	summary_print_counters(file, summary, columns, style->top);
	summary_print_processes(file, summary, columns, style->top);
	if (summary->devices)
		fputc('\n', file);
	for (const struct summary_device *d = summary->devices; d; d = d->next)
		print_device(file, summary, d, columns);
	summary_print_idle(file, summary, columns, style->top);
	if (summary->devices)
		fputc('\n', file);
	for (const struct summary_stream *s = summary->streams; s; s = s->next) {
		/* A stream of which nothing was wanted has nothing to say. */
		if (s->ledger.published || s->ledger.missed)
			print_stream(file, s, summary->unfinished);
	}
}
