/* SPDX-License-Identifier: MIT */
/* See trace_summary.h. */
#include "trace_summary.h"

#include <rtl/events.h>
#include <stdlib.h>

#include "cli.h"
#include "collect.h"
#include "database.h"
#include "database_sql.h"
#include "sink.h"

/* A subscriber of the command's own gets no settings: what the next one fills. */
static struct summary *filled;

static int create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	struct sink *sink = malloc(sizeof(*sink));

	(void)settings, (void)count;
	if (!sink)
		return RTL_ENOMEM;
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

int database_summarize(struct database *database, struct summary *summary)
{
	struct target target = {summary, false};
	char *writer = database_fact(database, "writer");

	if (writer)
		summary_set_unfinished(summary);
	free(writer);
	if (trace_summarize(database->path, summary) ||
	    (database_has_table(database, "rtl_node_ops") > 0 &&
	     database_query(database,
			    "SELECT name, end_ns - begin_ns FROM rtl_node_ops"
			    " WHERE end_ns >= begin_ns",
			    add_group, &target)))
		return -1;
	if (target.failed)
		cli_error("out of memory");
	return target.failed ? -1 : 0;
}
