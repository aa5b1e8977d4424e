/* SPDX-License-Identifier: MIT */
/* What GPUs are called: by the tracepoints of kind "agent" that a trace has. */
#include <stdlib.h>

#include "cli.h"
#include "database.h"
#include "summary.h"

struct naming {
	struct summary *summary;
	int error;
};

/* row: node, key, value */
static void describe(void *user, const char *const *row)
{
	struct naming *naming = user;

	if (!naming->error && row[0] && row[1] && row[2])
		naming->error = summary_device_describe(
			naming->summary, (uint32_t)strtoul(row[0], NULL, 10), row[1], row[2]);
}

int database_name_gpus(struct database *database, struct summary *summary)
{
	struct naming naming = {summary, 0};
	int error = database_query(database,
				   "WITH gpu AS (SELECT t.process, t.uid, t.name, n.value AS node "
				   "FROM rtl_tracepoint AS t "
				   "JOIN rtl_tracepoint_metadata AS n USING (process, uid) "
				   "WHERE t.kind = 'agent' AND n.key = 'node') "
				   "SELECT node, 'name', name FROM gpu "
				   "UNION ALL SELECT node, key, value FROM gpu "
				   "JOIN rtl_tracepoint_metadata USING (process, uid)",
				   describe, &naming);

	if (naming.error)
		cli_error("out of memory");
	return error || naming.error ? -1 : 0;
}
