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

/* row: number, memory */
static void add_memory(void *summary, const char *const *row)
{
	summary_fault_memory(summary, strtoul(row[0], NULL, 10), row[1]);
}

int database_summarize_more(struct database *database, struct summary *summary)
{
	char *writer = database_fact(database, "writer");

	if (writer)
		summary_set_unfinished(summary);
	free(writer);
	if (database_query(database,
			   "SELECT row_number() OVER (ORDER BY id) - 1, memory FROM rtl_faults",
			   add_memory, summary) ||
	    database_query(database,
			   "SELECT group_concat(line, char(10)), json_group_array(json_object("
			   "'line', line, 'ranks', ranks, 'open', open, 'kernel', kernel,"
			   " 'age_ns', age_ns)) FROM rtl_ranks",
			   summary_set_ranks, summary))
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
	return convert_feed(NULL, &(char *){(char *)(uintptr_t)database->path}, 1, NULL, summary) ||
			       database_summarize_more(database, summary)
		       ? -1
		       : 0;
}
