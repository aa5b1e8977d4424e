/* SPDX-License-Identifier: MIT */
/* convert_rocprofv3.c: JSON as rocprofv3 writes it, which TraceLens reads: an element of "rocprofiler-sdk-tool" for
 * each process, with numbers for names of kernels, functions and kinds. What rtl does not know is 0 or empty. SQL makes
 * the text. */
#include <errno.h>
#include <fcntl.h>

#include "cli.h"
#include "convert_rows.h"
#include "embed.h"
#include "json.h"

EMBED(convert_rocprofv3_sql, RTL_CLI "/collect/convert_rocprofv3.sql");

/* rtl_json(text): as JSON has it between quotes. */
static void escape(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);
	const size_t length = (size_t)sqlite3_value_bytes(values[0]);
	char *room = malloc(JSON_ESCAPED_MAX * length + 1);

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

struct output {
	struct convert_rows rows;
	const struct part *part;
	struct file file;
	uint64_t processes;
	long long first_pid;
};

/* Readers look at the first process only: that is the one with the most kernels. */
static int put_process(void *user, sqlite3_stmt *process, uint64_t before)
{
	struct output *out = user;
	const struct convert_taker taker = {take_text, &out->file};

	out->processes = before + 1;
	if (before)
		put(&out->file, ",", 1);
	else
		out->first_pid = sqlite3_column_int64(process, 1);
	return convert_rows_script(&out->rows, out->part, convert_rocprofv3_sql, process, &taker);
}

static int write_all(struct output *out)
{
	static const char head[] = "{\"producer\":\"rtl\",\"rocprofiler-sdk-tool\":[",
			  tail[] = "\n]}\n";
	const struct convert_taker taker = {put_process, out};
	struct file *file = &out->file;
	int status = convert_rows_objects(&out->rows);

	convert_rows_function(&out->rows, "rtl_json", 1, escape);
	put(file, head, sizeof(head) - 1);
	if (!status)
		status = convert_rows_script(
			&out->rows, out->part,
			"SELECT process, pid FROM c_process AS p LEFT JOIN (SELECT process,"
			" sum(kernels) AS kernels FROM c_seen GROUP BY process)"
			" USING (process) ORDER BY kernels DESC, process",
			NULL, &taker);
	put(file, tail, sizeof(tail) - 1);
	file_finish(file, "", 0);
	if (file->error)
		return part_failed(out->part, file->error);
	if (!status && out->processes > 1)
		cli_error("TraceLens reads only the first of %llu processes, pid %lld; "
			  "--process chooses another",
			  (unsigned long long)out->processes, out->first_pid);
	return status;
}

int convert_rocprofv3(const struct part *part, bool compressed, const char *input,
		      const struct convert_selection *selection)
{
	struct output out = {.part = part};
	int status = convert_rows_open(&out.rows, input, selection), fd = -1;

	if (!status)
		status = convert_rows_check(&out.rows);
	if (!status)
		fd = open(part->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (!status && fd < 0)
		status = part_failed(part, errno);
	if (!status && !file_open(&out.file, compressed, fd))
		status = cli_failed("out of memory");
	if (!status) {
		status = write_all(&out);
		file_close(&out.file);
	}
	convert_rows_close(&out.rows);
	return status;
}
