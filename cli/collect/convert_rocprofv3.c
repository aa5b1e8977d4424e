/* SPDX-License-Identifier: MIT */
/*
 * convert_rocprofv3.c: JSON as rocprofv3 writes it, which TraceLens reads: an element of
 * "rocprofiler-sdk-tool" for each process, with numbers for names of kernels, functions and kinds.
 * What rtl does not know is 0 or empty. SQL makes the text.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "convert.h"
#include "convert_rows.h"
#include "embed.h"
#include "file.h"
#include "json.h"

EMBED(convert_rocprofv3_sql, RTL_CLI "/collect/convert_rocprofv3.sql");
extern const char convert_rocprofv3_sql[];

/* rtl_json(text): as JSON has it between quotes. */
static void escape(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);
	const size_t length = (size_t)sqlite3_value_bytes(values[0]);
	char *room = malloc(JSON_ESCAPED_MAX * length + 1);

	(void)count;
	if (room)
		sqlite3_result_text64(context, room,
				      (sqlite3_uint64)(json_escape(room, text, length) - room),
				      free, SQLITE_UTF8);
	else
		sqlite3_result_error_nomem(context);
}

static void put(struct file *file, const char *text, size_t length)
{
	char *to = file_room(file, length);

	if (!to)
		return;
	memcpy(to, text, length);
	file_take(file, length);
}

static int take_text(void *user, sqlite3_stmt *row, uint64_t count)
{
	const char *text = (const char *)sqlite3_column_text(row, 0);
	struct file *file = user;

	put(file, count ? ",\n" : "\n", count ? 2 : 1);
	put(file, text, (size_t)sqlite3_column_bytes(row, 0));
	return file->error ? CLI_FAILED : CLI_OK; /* of which the file's owner tells */
}

/* Readers look at the first process only: that is the one with the most kernels. */
static int put_processes(struct convert_rows *rows, const struct part *part, struct file *file)
{
	const struct convert_taker taker = {take_text, file};
	sqlite3_stmt *process = NULL;
	long long first_pid = 0;
	int status = CLI_OK, count = 0, result = SQLITE_DONE;

	if (sqlite3_prepare_v2(rows->db,
			       "SELECT process, pid FROM c_process AS p LEFT JOIN (SELECT process,"
			       " sum(kernels) AS kernels FROM c_seen GROUP BY process)"
			       " USING (process) ORDER BY kernels DESC, process",
			       -1, &process, NULL) != SQLITE_OK)
		return convert_rows_refuse(rows);
	while (!status && (result = sqlite3_step(process)) == SQLITE_ROW) {
		if (count++)
			put(file, ",", 1);
		else
			first_pid = sqlite3_column_int64(process, 1);
		status = convert_rows_script(rows, part, convert_rocprofv3_sql, process, &taker);
	}
	sqlite3_finalize(process);
	if (!status && result != SQLITE_DONE)
		status = convert_rows_refuse(rows);
	if (!status && count > 1)
		cli_error("there are %d processes, of which TraceLens reads the first, pid %lld; "
			  "--process chooses another",
			  count, first_pid);
	return status;
}

static int write_all(struct convert_rows *rows, const struct part *part, struct file *file)
{
	static const char head[] = "{\"producer\":\"rtl\",\"rocprofiler-sdk-tool\":[",
			  tail[] = "\n]}\n";
	int status = convert_rows_objects(rows);

	convert_rows_function(rows, "rtl_json", 1, escape);
	put(file, head, sizeof(head) - 1);
	if (!status)
		status = put_processes(rows, part, file);
	put(file, tail, sizeof(tail) - 1);
	file_finish(file, "", 0);
	return file->error ? part_failed(part, file->error) : status;
}

int convert_rocprofv3(const struct part *part, bool compressed, const char *input,
		      const struct convert_selection *selection)
{
	struct convert_rows rows;
	struct file file = {0};
	int status = convert_rows_open(&rows, input, selection);

	if (!status)
		status = convert_rows_check(&rows);

	const int fd = status ? -1 : open(part->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (!status && fd < 0)
		status = part_failed(part, errno);
	if (!status && !file_open(&file, compressed, fd))
		status = cli_failed("out of memory");
	if (!status) {
		status = write_all(&rows, part, &file);
		file_close(&file);
	}
	convert_rows_close(&rows);
	return status;
}
