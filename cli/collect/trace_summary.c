/* SPDX-License-Identifier: MIT */
/* See collect.h: sums up what a source reads. */
#include "collect.h"

#include <rtl/events.h>
#include <stdlib.h>

#include "cli.h"
#include "database.h"
#include "sink.h"

/* A subscriber of the command's own gets no settings: what the next one fills. */
static struct summary *filled;

static int create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	struct sink *sink = cli_need(malloc(sizeof(*sink)));

	sink_init(sink, host, filled);
	*instance = sink;
	return 0;
}

static int add_stream(void *instance, const struct rtl_stream_info *stream)
{
	return sink_add_stream(instance, stream);
}

static int finish(void *instance)
{
	return sink_finish(instance);
}

static void destroy(void *instance)
{
	sink_fini(instance);
	free(instance);
}

static const struct rtl_subscriber subscriber = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(subscriber),
	.name = "summary",
	.version = "1",
	.description = "of the command rtl",
	.create = create,
	.stream = add_stream,
	.finish = finish,
	.destroy = destroy,
};

int trace_summarize(const char *path, struct summary *summary)
{
	filled = summary;
	return collect_feed(&(char *){(char *)(uintptr_t)path}, 1, NULL, "", &subscriber) ? -1 : 0;
}

/* ---- databases ---- */

/* row: name, duration */
static void add_group(void *summary, const char *const *row)
{
	struct summary_section *section = cli_need(
		summary_section(summary, RTL_STREAM_SYCL, "group", "Command groups, on the GPU"));

	summary_group_add(
		cli_need(summary_group(section, row[0] && *row[0] ? row[0] : "(unnamed)")),
		row[1] ? strtoull(row[1], NULL, 10) : 0);
}

int database_summarize_more(struct database *database, struct summary *summary)
{
	char *writer = database_fact(database, "writer");

	if (writer)
		summary_set_unfinished(summary);
	free(writer);
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
	return trace_summarize(database->path, summary) ||
			       database_summarize_more(database, summary)
		       ? -1
		       : 0;
}
