/* SPDX-License-Identifier: MIT */
/*
 * See summarize.h: what threads did, rocpd_api beside the tables that say of a row whether it is a call, a
 * range or a span; and which calls threads were in while GPUs were idle.
 */
#include <rtl/events.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "summarize.h"

#define DOMAINS_MAX 64u
#define STREAMS_MAX 1024u

/* Calls of one domain, or things of one kind of a stream: a table. */
struct kind {
	sqlite3_int64 domain; /* of calls */
	const char *stream;   /* of spans */
	char type[24];
	bool is_hip;
	struct summary_section *section;
	struct summary_ids groups; /* by the id of the name */
};

/* A gap of a GPU, by its begin; and by the id of their name, how long threads were in calls. */
struct gap {
	uint64_t begin_ns, end_ns;
	uint64_t reach_ns; /* the latest end so far */
	size_t number;
	struct map hip, others;
};

struct reading {
	struct summarize *s;
	struct cursor call, marker, span;
	sqlite3_int64 own_domain, marker_name; /* -1: not there */
	bool is_of_rtl;
	struct kind kinds[DOMAINS_MAX];
	size_t kind_count;
	struct {
		sqlite3_int64 number;
		char *name;
	} streams[STREAMS_MAX];
	size_t stream_count;
	struct gap *gaps;
	size_t gap_count;
};

enum { ID, PID, TID, START, END, NAME, ARGS, DOMAIN };
#define COLUMNS "id, pid, tid, start, \"end\", apiName_id, args_id"

/* ---- kinds ---- */

static struct kind *new_kind(struct reading *r)
{
	/* Too many: the rest go with the last. */
	return r->kind_count == DOMAINS_MAX ? &r->kinds[DOMAINS_MAX - 1]
					    : &r->kinds[r->kind_count++];
}

static struct kind *calls_of(struct reading *r, sqlite3_int64 domain)
{
	struct kind *kind = NULL;
	bool is_hip;
	char *name, title[256];

	for (size_t i = 0; i < r->kind_count; i++) {
		if (!r->kinds[i].stream && r->kinds[i].domain == domain)
			return &r->kinds[i];
	}
	name = summarize_text(r->s->string, domain);
	if (!name)
		return NULL;
	is_hip = !strcmp(name, "hip");
	kind = new_kind(r);
	*kind = (struct kind){.domain = domain, .is_hip = is_hip};
	snprintf(title, sizeof(title), "%s calls", *name ? name : "API");
	if (is_hip)
		kind->section = summary_section(r->s->summary, RTL_STREAM_HIP_CALL, "function",
						"HIP calls");
	else if (!strcmp(name, "hsa"))
		kind->section = summary_section(r->s->summary, RTL_STREAM_HSA_CALL, "function",
						"HSA calls");
	else
		kind->section = summary_section(r->s->summary, name, "function", title);
	free(name);
	return kind->section ? kind : NULL;
}

static struct kind *spans_of(struct reading *r, const char *stream, const char *type,
			     const char *title)
{
	struct kind *kind;

	for (size_t i = 0; i < r->kind_count; i++) {
		kind = &r->kinds[i];
		if (kind->stream && !strcmp(kind->stream, stream) && !strcmp(kind->type, type))
			return kind;
	}
	kind = new_kind(r);
	*kind = (struct kind){.stream = stream};
	snprintf(kind->type, sizeof(kind->type), "%s", type);
	kind->section = summary_section(r->s->summary, stream, type, title);
	return kind->section ? kind : NULL;
}

/* The row of a name: a string, or the text of arguments. */
static struct summary_group *find_group(struct kind *kind, sqlite3_stmt *texts, sqlite3_int64 id)
{
	struct summary_group *group = summary_ids_find(&kind->groups, (uint64_t)id);
	char *name;

	if (group)
		return group;
	name = summarize_text(texts, id);
	group = name ? summary_group(kind->section, *name ? name : "(unnamed)") : NULL;
	free(name);
	if (group && id)
		summary_ids_put(&kind->groups, (uint64_t)id, group);
	return group;
}

/* One that has ended, or had not when its process did. */
static int add(struct kind *kind, sqlite3_stmt *texts, sqlite3_int64 id, sqlite3_stmt *row,
	       bool open, bool failed)
{
	const sqlite3_int64 start = sqlite3_column_int64(row, START);
	const sqlite3_int64 end = sqlite3_column_int64(row, END);
	const uint64_t duration = end > start ? (uint64_t)(end - start) : 0;
	struct summary_group *group;

	if (open) {
		char *name = summarize_text(texts, id);
		const int error =
			!name || summary_section_add_open(kind->section, *name ? name : "(unnamed)",
							  (uint32_t)sqlite3_column_int64(row, TID),
							  duration);

		free(name);
		return error ? summarize_out_of_memory() : 0;
	}
	group = find_group(kind, texts, id);
	if (!group)
		return summarize_out_of_memory();
	summary_group_add(group, duration);
	if (failed)
		summary_group_add_failed(group);
	return 0;
}

/* ---- gaps ---- */

static int compare_gaps(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int list_gaps(struct reading *r)
{
	struct summary *summary = r->s->summary;
	uint64_t begin_ns, end_ns, reach_ns = 0;

	while (summary_gap(summary, r->gap_count, &begin_ns, &end_ns))
		r->gap_count++;
	r->gaps = calloc(r->gap_count + 1, sizeof(*r->gaps));
	if (!r->gaps)
		return summarize_out_of_memory();
	for (size_t i = 0; i < r->gap_count; i++) {
		summary_gap(summary, i, &begin_ns, &end_ns);
		r->gaps[i] = (struct gap){.begin_ns = begin_ns, .end_ns = end_ns, .number = i};
	}
	qsort(r->gaps, r->gap_count, sizeof(*r->gaps), compare_gaps);
	for (size_t i = 0; i < r->gap_count; i++) {
		if (r->gaps[i].end_ns > reach_ns)
			reach_ns = r->gaps[i].end_ns;
		r->gaps[i].reach_ns = reach_ns;
	}
	return 0;
}

/* The first gap that may reach beyond a time. */
static size_t first_gap(const struct reading *r, uint64_t time_ns)
{
	size_t low = 0, high = r->gap_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (r->gaps[middle].reach_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_to_gaps(struct reading *r, sqlite3_stmt *row, bool is_hip)
{
	const uint64_t start = (uint64_t)sqlite3_column_int64(row, START);
	const uint64_t end = (uint64_t)sqlite3_column_int64(row, END);
	const uint64_t name = (uint64_t)sqlite3_column_int64(row, NAME);

	for (size_t i = first_gap(r, start); i < r->gap_count && r->gaps[i].begin_ns < end; i++) {
		struct gap *gap = &r->gaps[i];
		const uint64_t from = start > gap->begin_ns ? start : gap->begin_ns;
		const uint64_t to = end < gap->end_ns ? end : gap->end_ns;
		struct map *map = is_hip ? &gap->hip : &gap->others;

		if (to > from && !map_set(map, name, map_get(map, name) + to - from))
			return summarize_out_of_memory();
	}
	return 0;
}

/* Calls of HIP, and others only where there are none: they are within these. */
static int tell_gaps(struct reading *r)
{
	summary_gap_calls_known(r->s->summary);
	for (size_t i = 0; i < r->gap_count; i++) {
		const struct gap *gap = &r->gaps[i];
		const struct map *map = gap->hip.hash.count ? &gap->hip : &gap->others;

		for (size_t k = 0; k < map->hash.capacity; k++) {
			const struct map_entry *entry = map_at(map, k);
			char *name;
			int error;

			if (!entry->value)
				continue;
			name = summarize_text(r->s->string, (sqlite3_int64)entry->key);
			error = !name || summary_gap_add_call(r->s->summary, gap->number, name,
							      entry->value);
			free(name);
			if (error)
				return summarize_out_of_memory();
		}
	}
	return 0;
}

/* ---- rows ---- */

static int count_call(struct reading *r, const struct kind *kind, sqlite3_stmt *row,
		      sqlite3_int64 process_number)
{
	const sqlite3_int64 start = sqlite3_column_int64(row, START);
	const sqlite3_int64 end = sqlite3_column_int64(row, END);
	struct summary_process *process = summarize_process(r->s, process_number);

	if (!process)
		return -1;
	if (!r->is_of_rtl)
		summary_process_describe(process, (int32_t)process_number, -1, NULL, NULL);
	summary_process_add(process, kind->is_hip ? SUMMARY_HIP_CALLS : SUMMARY_OTHER_CALLS,
			    end > start ? (uint64_t)(end - start) : 0);
	return add_to_gaps(r, row, kind->is_hip);
}

enum { PROCESS = 1, FLAGS };

static int take_call(struct reading *r, sqlite3_stmt *row)
{
	struct kind *kind = calls_of(r, sqlite3_column_int64(row, DOMAIN));
	const sqlite3_int64 flags = sqlite3_column_int64(r->call.rows, FLAGS); /* NULL: of HSA */

	if (!kind)
		return summarize_out_of_memory();
	return add(kind, r->s->string, sqlite3_column_int64(row, NAME), row,
		   flags & RTL_HIP_CALL_UNFINISHED, flags & RTL_HIP_CALL_FAILED) ||
			       count_call(r, kind, row, sqlite3_column_int64(r->call.rows, PROCESS))
		       ? -1
		       : 0;
}

static int take_range(struct reading *r, sqlite3_stmt *row, bool open)
{
	struct kind *kind = spans_of(r, RTL_STREAM_ROCTX, "region", SUMMARY_RANGES);

	return kind ? add(kind, r->s->ustring, sqlite3_column_int64(row, ARGS), row, open, false)
		    : summarize_out_of_memory();
}

static const char *stream_name(const struct reading *r, sqlite3_int64 number)
{
	for (size_t i = 0; i < r->stream_count; i++) {
		if (r->streams[i].number == number)
			return r->streams[i].name;
	}
	return "";
}

enum { STREAM = 1, TYPE, UNFINISHED };

/* Of XPTI's streams: how each is shown. */
static const struct shown {
	const char *type, *stream, *kind, *title;
	bool by_text;
} xpti[] = {
	{"task", RTL_STREAM_SYCL, "submission", "Command groups, handed to the device", false},
	{"wait", RTL_STREAM_SYCL, "wait", "Waits of SYCL", true},
	{"barrier", RTL_STREAM_SYCL, "wait", "Waits of SYCL", true},
	{"call", RTL_STREAM_UR_CALL, "function", "Calls of Unified Runtime", false},
};

static int take_span(struct reading *r, sqlite3_stmt *row)
{
	sqlite3_stmt *span = r->span.rows;
	const char *type = (const char *)sqlite3_column_text(span, TYPE);
	const char *stream = stream_name(r, sqlite3_column_int64(span, STREAM));
	const bool open = sqlite3_column_int(span, UNFINISHED);
	struct kind *kind = NULL;
	char title[256];

	if (!type)
		return 0;
	if (sqlite3_column_int64(row, NAME) == r->marker_name) {
		snprintf(title, sizeof(title), "%s, %s", stream, type);
		kind = spans_of(r, stream, type, title);
		return kind ? add(kind, r->s->ustring, sqlite3_column_int64(row, ARGS), row, open,
				  false)
			    : summarize_out_of_memory();
	}
	for (size_t i = 0; i < sizeof(xpti) / sizeof(*xpti); i++) {
		if (strcmp(xpti[i].type, type) != 0)
			continue;
		kind = spans_of(r, xpti[i].stream, xpti[i].kind, xpti[i].title);
		if (!kind)
			return summarize_out_of_memory();
		return xpti[i].by_text ? add(kind, r->s->ustring, sqlite3_column_int64(row, ARGS),
					     row, open, false)
				       : add(kind, r->s->string, sqlite3_column_int64(row, NAME),
					     row, open, false);
	}
	return 0;
}

/* A row of which no table of rtl's says more: of RPD, or one that stands for a call that was not
 * recorded. */
static int take_plain(struct reading *r, sqlite3_stmt *row)
{
	struct kind *kind;

	if (r->is_of_rtl)
		return 0;
	if (sqlite3_column_int64(row, NAME) == r->marker_name)
		return sqlite3_column_int64(row, END) > sqlite3_column_int64(row, START)
			       ? take_range(r, row, false)
			       : 0;
	kind = calls_of(r, sqlite3_column_int64(row, DOMAIN));
	if (!kind)
		return summarize_out_of_memory();
	return add(kind, r->s->string, sqlite3_column_int64(row, NAME), row, false, false) ||
			       count_call(r, kind, row, sqlite3_column_int64(row, PID))
		       ? -1
		       : 0;
}

static int take_row(void *user, sqlite3_stmt *row)
{
	struct reading *r = user;
	const sqlite3_int64 id = sqlite3_column_int64(row, ID);
	const sqlite3_int64 start = sqlite3_column_int64(row, START);
	int error = 0;

	/* rtl's own rows only mark the extent of processes */
	if (sqlite3_column_int64(row, DOMAIN) == r->own_domain)
		return 0;
	if (start > 0)
		summary_begins(r->s->summary, (uint64_t)start);
	if (cursor_find(&r->call, r->s, id, &error))
		return take_call(r, row);
	if (cursor_find(&r->marker, r->s, id, &error))
		return sqlite3_column_int(r->marker.rows, 1) /* a range */
			       ? take_range(r, row,
					    sqlite3_column_int64(r->marker.rows, 2) &
						    RTL_ROCTX_UNFINISHED)
			       : 0;
	if (cursor_find(&r->span, r->s, id, &error))
		return take_span(r, row);
	return error ? error : take_plain(r, row);
}

/* ---- what is looked up beforehand ---- */

static void note_stream(void *user, const char *const *row)
{
	struct reading *r = user;

	if (r->stream_count == STREAMS_MAX || !row[0] || !row[1])
		return;
	r->streams[r->stream_count].number = strtoll(row[0], NULL, 10);
	r->streams[r->stream_count].name = strdup(row[1]);
	r->stream_count += r->streams[r->stream_count].name != NULL;
}

static void note_id(void *user, const char *const *row)
{
	*(sqlite3_int64 *)user = row[0] ? strtoll(row[0], NULL, 10) : -1;
}

static int prepare(struct reading *r)
{
	struct database *database = r->s->database;

	r->own_domain = r->marker_name = -1;
	r->is_of_rtl = r->s->database->has_dispatches;
	if (database_query(database, "SELECT id FROM rocpd_string WHERE string = 'rtl'", note_id,
			   &r->own_domain) ||
	    database_query(database, "SELECT id FROM rocpd_string WHERE string = 'UserMarker'",
			   note_id, &r->marker_name) ||
	    database_query(database, "SELECT stream, name FROM rtl_stream", note_stream, r) ||
	    cursor_open(&r->call, r->s, "rtl_call",
			"SELECT api_id, process, flags FROM rtl_call ORDER BY api_id") ||
	    cursor_open(&r->marker, r->s, "rtl_marker",
			"SELECT api_id, is_range, flags FROM rtl_marker ORDER BY api_id") ||
	    cursor_open(&r->span, r->s, "rtl_span",
			"SELECT api_id, stream, type, unfinished FROM rtl_span ORDER BY api_id"))
		return -1;
	return list_gaps(r);
}

static int read_rows(struct reading *r)
{
	bool has_domain;

	if (summarize_ask(r->s,
			  "SELECT 1 FROM pragma_table_info('rocpd_api') WHERE name = 'domain_id'",
			  &has_domain))
		return -1;
	/* the first schemas of RPD have none */
	return summarize_rows(r->s,
			      has_domain ? "SELECT " COLUMNS
					   ", domain_id FROM rocpd_api ORDER BY id"
					 : "SELECT " COLUMNS ", 0 FROM rocpd_api ORDER BY id",
			      take_row, r);
}

/* ---- command groups ---- */

struct target {
	struct summary *summary;
	bool failed;
};

/* row: name, duration */
static void add_group(void *user, const char *const *row)
{
	struct target *target = user;
	struct summary_section *section = summary_section(target->summary, RTL_STREAM_SYCL, "group",
							  "Command groups, on the GPU");
	struct summary_group *group =
		section ? summary_group(section, row[0] && *row[0] ? row[0] : "(unnamed)") : NULL;

	if (group)
		summary_group_add(group, row[1] ? strtoull(row[1], NULL, 10) : 0);
	else
		target->failed = true;
}

/* Where streams of XPTI were recorded. */
static int summarize_groups(struct summarize *s)
{
	struct target target = {s->summary, false};

	if (database_query(s->database,
			   "SELECT name, end_ns - begin_ns FROM rtl_node_ops"
			   " WHERE end_ns >= begin_ns",
			   add_group, &target))
		return -1;
	return target.failed ? summarize_out_of_memory() : 0;
}

int summarize_calls(struct summarize *s)
{
	const int has = database_has_table(s->database, "rocpd_api");
	struct reading *r;
	int error;

	if (has <= 0)
		return has;
	r = calloc(1, sizeof(*r));
	if (!r)
		return summarize_out_of_memory();
	r->s = s;
	error = prepare(r) || read_rows(r) || tell_gaps(r) || summarize_groups(s) ? -1 : 0;
	cursor_close(&r->call);
	cursor_close(&r->marker);
	cursor_close(&r->span);
	for (size_t i = 0; i < r->kind_count; i++)
		summary_ids_fini(&r->kinds[i].groups);
	for (size_t i = 0; i < r->stream_count; i++)
		free(r->streams[i].name);
	for (size_t i = 0; r->gaps && i < r->gap_count; i++) {
		map_fini(&r->gaps[i].hip);
		map_fini(&r->gaps[i].others);
	}
	free(r->gaps);
	free(r);
	return error;
}
