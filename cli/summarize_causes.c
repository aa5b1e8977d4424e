/* SPDX-License-Identifier: MIT */
/* See summarize_causes.h. What is shown is what subscribers/stats/track.c counts live. */
#include "summarize_causes.h"

#include <rtl/events.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cli.h"
#include "database.h"
#include "summary.h"

struct target {
	struct summary *summary;
	const char *stream, *kind, *title;
	struct summary_section *section;
	bool failed; /* no memory */
};

static struct summary_section *section_of(struct target *target)
{
	if (!target->section)
		target->section = summary_section(target->summary, target->stream, target->kind,
						  target->title);
	return target->section;
}

/* name, duration */
static void add_duration(void *user, const char *const *row)
{
	struct target *target = user;
	struct summary_section *section = section_of(target);
	struct summary_group *group =
		section ? summary_group(section, row[0] && *row[0] ? row[0] : "(unnamed)") : NULL;

	if (group)
		summary_group_add(group, row[1] ? strtoull(row[1], NULL, 10) : 0);
	else
		target->failed = true;
}

/* name, thread, duration */
static void add_open(void *user, const char *const *row)
{
	struct target *target = user;
	struct summary_section *section = section_of(target);

	if (!section || summary_section_add_open(section, row[0] && *row[0] ? row[0] : "(unnamed)",
						 (uint32_t)strtoul(row[1] ? row[1] : "0", NULL, 10),
						 row[2] ? strtoull(row[2], NULL, 10) : 0))
		target->failed = true;
}

/* how many */
static void add_unlinked(void *user, const char *const *row)
{
	struct target *target = user;
	const uint64_t count = row[0] ? strtoull(row[0], NULL, 10) : 0;

	if (!count)
		return;
	if (section_of(target))
		summary_section_add_unlinked(target->section, count);
	else
		target->failed = true;
}

#define HAS_CALLS                                                                                  \
	" AND EXISTS (SELECT 1 FROM rtl_ledger WHERE stream LIKE 'rtl.hip.call%' AND published)"

struct part {
	const char *sql, *stream, *kind, *title;
	void (*add)(void *user, const char *const *row);
};

static int summarize(struct database *database, struct summary *summary, const struct part *parts,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct target target = {.summary = summary,
					.stream = parts[i].stream,
					.kind = parts[i].kind,
					.title = parts[i].title};
		const int error = database_query(database, parts[i].sql, parts[i].add, &target);

		if (error)
			return error;
		if (target.failed)
			return cli_failed("out of memory");
	}
	return 0;
}

static void note_some(void *user, const char *const *row)
{
	(void)row;
	*(bool *)user = true;
}

#define SUBMISSIONS "Command groups, handed to the device"
#define WAITS       "Waits of SYCL"
#define UR_CALLS    "Calls of Unified Runtime"

/* Where streams of XPTI were recorded. */
static int summarize_xpti(struct database *database, struct summary *summary)
{
	static const struct part parts[] = {
		{"SELECT name, end_ns - begin_ns FROM rtl_node_ops WHERE end_ns >= begin_ns",
		 RTL_STREAM_SYCL, "group", "Command groups, on the GPU", add_duration},
		{"SELECT name, duration_ns FROM rtl_spans WHERE type = 'task' AND NOT unfinished",
		 RTL_STREAM_SYCL, "submission", SUBMISSIONS, add_duration},
		{"SELECT name, tid, duration_ns FROM rtl_spans WHERE type = 'task' AND unfinished",
		 RTL_STREAM_SYCL, "submission", SUBMISSIONS, add_open},
		{"SELECT text, duration_ns FROM rtl_spans WHERE type IN ('wait', 'barrier')"
		 " AND NOT unfinished",
		 RTL_STREAM_SYCL, "wait", WAITS, add_duration},
		{"SELECT text, tid, duration_ns FROM rtl_spans WHERE type IN ('wait', 'barrier')"
		 " AND unfinished",
		 RTL_STREAM_SYCL, "wait", WAITS, add_open},
		{"SELECT name, duration_ns FROM rtl_spans WHERE type = 'call' AND NOT unfinished",
		 RTL_STREAM_UR_CALL, "function", UR_CALLS, add_duration},
		{"SELECT name, tid, duration_ns FROM rtl_spans WHERE type = 'call' AND unfinished",
		 RTL_STREAM_UR_CALL, "function", UR_CALLS, add_open},
	};
	bool has_spans = false;
	const int error =
		database_query(database, "SELECT 1 FROM sqlite_master WHERE name = 'rtl_spans'",
			       note_some, &has_spans);

	return error || !has_spans
		       ? error
		       : summarize(database, summary, parts, sizeof(parts) / sizeof(*parts));
}

int summarize_causes(struct database *database, struct summary *summary)
{
	static const struct part parts[] = {
		{"SELECT kernel, launch_ns FROM rtl_dispatches WHERE call_ns NOT NULL AND NOT "
		 "flags "
		 "& 2",
		 RTL_STREAM_HSA, "launch", SUMMARY_LAUNCHES, add_duration},
		{"SELECT name, duration_ns FROM rtl_markers WHERE is_range AND NOT flags & 4",
		 RTL_STREAM_ROCTX, "region", SUMMARY_RANGES, add_duration},
		{"SELECT name, tid, duration_ns FROM rtl_markers WHERE is_range AND flags & 4",
		 RTL_STREAM_ROCTX, "region", SUMMARY_RANGES, add_open},
		{"SELECT count(*) FROM rtl_dispatch WHERE correlation = 0" HAS_CALLS,
		 RTL_STREAM_HSA, "task", "GPU kernels", add_unlinked},
		{"SELECT count(*) FROM rtl_copy WHERE correlation = 0 AND NOT flags & 16" HAS_CALLS,
		 RTL_STREAM_HSA_COPY, "transfer", "GPU copies", add_unlinked},
	};

	const int error = summarize(database, summary, parts, sizeof(parts) / sizeof(*parts));

	return error ? error : summarize_xpti(database, summary);
}
