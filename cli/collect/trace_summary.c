/* SPDX-License-Identifier: MIT */
/* See collect.h: sums up databases. */
#include "collect.h"

#include "cli.h"
#include "convert.h"
#include "database.h"
#include "summary.h"

/* row: name, duration */
static void add_group(void *summary, const char *const *row)
{
	struct summary_section *section = cli_need(
		summary_section(summary, RTL_STREAM_SYCL, "group", "Command groups, on the GPU"));

	summary_group_add(
		cli_need(summary_group(section, row[0] && *row[0] ? row[0] : "(unnamed)")),
		row[1] ? strtoull(row[1], NULL, 10) : 0);
}

struct faults {
	struct summary *summary;
	size_t count;
};

static void add_memory(void *user, const char *const *row)
{
	struct faults *faults = user;

	summary_fault_memory(faults->summary, faults->count++, row[0]);
}

int database_summarize_more(struct database *database, struct summary *summary)
{
	char *writer = database_fact(database, "writer");
	struct faults faults = {.summary = summary};

	if (writer)
		summary_set_unfinished(summary);
	free(writer);
	if (database_query(database, "SELECT memory FROM rtl_faults ORDER BY id", add_memory,
			   &faults))
		return -1;
	return database_has_table(database, "rtl_node_ops") > 0 &&
			       database_query(database,
					      "SELECT name, end_ns - begin_ns FROM rtl_node_ops"
					      " WHERE end_ns >= begin_ns",
					      add_group, summary)
		       ? -1
		       : 0;
}

int database_summarize(struct database *database, struct summary *summary)
{
	char *const path = (char *)(uintptr_t)database->path;

	return convert_feed(NULL, &path, 1, NULL, summary) ||
			       database_summarize_more(database, summary)
		       ? -1
		       : 0;
}
