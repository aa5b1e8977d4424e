/* SPDX-License-Identifier: MIT */
/* convert_rpd.c: RPD's schema as tables, for tools that change a file. RTL_CONVERT_RPD is the path of its SQL, by the build. */
#include "cli.h"
#include "convert.h"
#include "convert_rows.h"
#include "database.h"
#include "embed.h"

EMBED(convert_rpd_sql, RTL_CONVERT_RPD);
extern const char convert_rpd_sql[];

/* One statement after the other, each with its progress. */
static int run(struct convert_rows *rows, const struct part *part, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	int result = SQLITE_OK;

	while (*sql && result == SQLITE_OK) {
		result = sqlite3_prepare_v2(rows->db, sql, -1, &statement, &sql);
		if (!statement)
			continue;
		sqlite3_step(statement);
		result = sqlite3_finalize(statement);
		convert_rows_tell(rows, (uint64_t)sqlite3_changes(rows->db));
	}
	return result == SQLITE_OK ? CLI_OK : convert_rows_failed(rows, part);
}

static int make(const struct part *part, const char *input, bool unfinished)
{
	const struct convert_selection all = {.unfinished = unfinished};
	struct convert_rows rows;
	char *begin = sqlite3_mprintf("ATTACH %Q AS o; PRAGMA o.journal_mode = OFF;"
				      "PRAGMA o.synchronous = OFF; BEGIN",
				      part->path);
	int status = convert_rows_open(&rows, input, &all);

	if (!status)
		status = begin ? run(&rows, part, begin) : cli_failed("out of memory");
	if (!status)
		status = run(&rows, part, convert_rpd_sql);
	if (!status)
		status = run(&rows, part, "COMMIT; DETACH o");
	convert_rows_close(&rows);
	sqlite3_free(begin);
	return status;
}

int convert_check_rpd(const char *output)
{
	return database_replaceable(output) ? CLI_OK
					    : cli_failed("output %s exists and is no trace, so it "
							 "is not written over; move "
							 "it away, or choose another file with -o",
							 output);
}

int convert_rpd(const char *output, const char *input, bool unfinished)
{
	struct part part;
	int status = convert_check_rpd(output);

	if (!status)
		status = part_begin(&part, output);
	return status ? status : part_end(&part, make(&part, input, unfinished));
}
