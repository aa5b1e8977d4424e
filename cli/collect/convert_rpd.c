/* SPDX-License-Identifier: MIT */
/* convert_rpd.c: RPD's schema as tables, for tools that change a file. RTL_CLI "/collect/convert_rpd.sql" is the path of its SQL, by the build. */
#include "cli.h"
#include "convert.h"
#include "convert_rows.h"
#include "database.h"
#include "embed.h"

EMBED(convert_rpd_sql, RTL_CLI "/collect/convert_rpd.sql");
extern const char convert_rpd_sql[];

static int make(const struct part *part, const char *input, bool unfinished)
{
	const struct convert_selection all = {.unfinished = unfinished};
	struct convert_rows rows;
	int status = convert_rows_open(&rows, input, &all);

	if (!status)
		status = convert_rows_begin(&rows, part, 0);
	if (!status)
		status = convert_rows_script(&rows, part, convert_rpd_sql, NULL, NULL);
	if (!status)
		status = convert_rows_script(&rows, part, "COMMIT;\nDETACH o", NULL, NULL);
	convert_rows_close(&rows);
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
