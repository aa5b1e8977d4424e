/* SPDX-License-Identifier: MIT */
/* convert_csv.c: tables as text, in the files and with the columns of rocprofv3. Headers and texts are in quotes (a
 * quote in a text is doubled), numbers bare. What rtl does not know is 0. Streams of programs have a file for each
 * type, as they have a table in the database. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "convert_rows.h"
#include "embed.h"

EMBED(convert_csv_sql, RTL_CLI "/collect/convert_csv.sql");

/* Of a table of events by their description: what its file's name begins with. */
#define OWN_PREFIX "rtl_e_"

static void write_text(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void write_row(FILE *out, sqlite3_stmt *row, bool header)
{
	const int columns = sqlite3_column_count(row);

	for (int i = 0; i < columns; i++) {
		if (i)
			putc(',', out);
		if (header)
			write_text(out, sqlite3_column_name(row, i));
		else if (sqlite3_column_type(row, i) == SQLITE_INTEGER)
			fprintf(out, "%" PRId64, (int64_t)sqlite3_column_int64(row, i));
		else if (sqlite3_column_type(row, i) == SQLITE_FLOAT)
			fprintf(out, "%.6f", sqlite3_column_double(row, i));
		else
			write_text(out, sqlite3_column_text(row, i)
						? (const char *)sqlite3_column_text(row, i)
						: "");
	}
	putc('\n', out);
}

/* The rows from the first one on, at which the statement stands. */
static int write_rows(struct convert_rows *rows, const struct part *part, sqlite3_stmt *row)
{
	FILE *out = fopen(part->path, "we");
	uint64_t count = 0;
	int result = SQLITE_ROW, status = CLI_OK;

	if (!out)
		return part_failed(part, errno);
	write_row(out, row, true);
	for (; result == SQLITE_ROW && !ferror(out); result = sqlite3_step(row)) {
		write_row(out, row, false);
		if (++count % CONVERT_TELL_EVERY == 0)
			convert_rows_tell(rows, CONVERT_TELL_EVERY);
	}
	if (ferror(out) | fclose(out))
		status = part_failed(part, errno ? errno : ENOSPC);
	else if (result != SQLITE_DONE)
		status = convert_rows_refuse(rows);
	return status;
}

struct tables {
	struct convert_rows rows;
	const char *folder;
	unsigned files;
};

/* A table whose name and query a row has, and whether it may be the only one. One with no rows has no file, as with
 * rocprofv3; what is there stays where there is nothing to put into its place. */
static int write_table(void *user, sqlite3_stmt *table, uint64_t before)
{
	struct tables *tables = user;
	struct convert_rows *rows = &tables->rows;
	const char *sql = (const char *)sqlite3_column_text(table, 1);
	sqlite3_stmt *row = NULL;
	struct part part;
	char *path = NULL;
	int result, status = CLI_OK;

	if (!tables->files && !sqlite3_column_int(table, 2))
		return CLI_OK;
	if (sqlite3_prepare_v2(rows->db, sql, -1, &row, NULL) != SQLITE_OK)
		return convert_rows_refuse_sql(rows);
	result = sqlite3_step(row);
	if (result == SQLITE_ROW && !tables->files)
		status = convert_prepare_csv(tables->folder);
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		status = convert_rows_refuse(rows);
	if (!status && result == SQLITE_ROW) {
		path = cli_format("%s/%s.csv", tables->folder,
				  (const char *)sqlite3_column_text(table, 0));
		tables->files++;
		status = part_begin(&part, path);
		if (!status)
			status = part_end(&part, write_rows(rows, &part, row));
	}
	sqlite3_finalize(row);
	free(path);
	return status;
}

bool convert_csv_is_empty(const char *input)
{
	const struct convert_selection all = {.unfinished = true};
	struct convert_rows rows;
	/* a table is made with its first event */
	const bool empty = !convert_rows_open(&rows, input, &all) && convert_rows_are_none(&rows) &&
			   !convert_rows_script(&rows, NULL, convert_csv_sql, NULL, NULL) &&
			   !convert_rows_number(&rows, "SELECT count(*) FROM c_own");

	convert_rows_close(&rows);
	return empty;
}

/* ---- the folder ---- */

static bool ends_as_ours(const char *end)
{
	return strcmp(end, ".csv") == 0 || strcmp(end, ".csv.part") == 0;
}

/* A table, or a part of one that a killed conversion has left. */
static bool is_ours(const char *name)
{
	char view[64];

	if (!strncmp(name, OWN_PREFIX, sizeof(OWN_PREFIX) - 1) && strchr(name, '.'))
		return ends_as_ours(strchr(name, '.'));
	/* those that begin with c_ are no tables */
	if (strncmp(name, "c_", 2) &&
	    snprintf(view, sizeof(view), "VIEW %.*s AS", (int)strcspn(name, "."), name) <
		    (int)sizeof(view) &&
	    strstr(convert_csv_sql, view) && ends_as_ours(name + strcspn(name, ".")))
		return true;
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Whether nothing else is there than files of an earlier conversion; `takes_away`: these go. */
static bool holds_ours_alone(const char *folder, bool takes_away)
{
	DIR *dir = opendir(folder);
	bool alone = dir != NULL;

	for (struct dirent *e; dir && (e = readdir(dir));)
		if (!is_ours(e->d_name))
			alone = false;
		else if (takes_away)
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	return alone;
}

int convert_check_csv(const char *folder)
{
	if (part_check_place(folder))
		return CLI_FAILED;
	if (access(folder, F_OK) || holds_ours_alone(folder, false))
		return CLI_OK; /* if it cannot be made, who makes it says so */
	return cli_failed("output %s exists and holds something else, so it is not written to; "
			  "choose another folder with -o",
			  folder);
}

/* Files of an earlier conversion are replaced; nothing else may be there. */
int convert_prepare_csv(const char *folder)
{
	if (convert_check_csv(folder))
		return CLI_FAILED;
	if (mkdir(folder, 0777) == 0)
		return CLI_OK;
	if (errno != EEXIST)
		return cli_failed("output %s: %s; choose another folder with -o", folder,
				  strerror(errno));
	holds_ours_alone(folder, true);
	return CLI_OK;
}

/* Tables that are whole, but not all of them, would mislead. */
void convert_drop_csv(const char *folder)
{
	holds_ours_alone(folder, true);
	rmdir(folder);
}

int convert_csv(const char *output, const char *input, const struct convert_selection *selection)
{
	struct tables tables = {.folder = output};
	struct convert_rows *rows = &tables.rows;
	const struct convert_taker taker = {write_table, &tables};
	int status = convert_rows_open(rows, input, selection);

	if (!status)
		status = convert_rows_objects(rows);
	if (!status)
		status = convert_check_csv(output);
	if (!status)
		status = convert_rows_script(rows, NULL, convert_csv_sql, NULL, NULL);
	if (!status)
		status = convert_rows_script(rows, NULL, "SELECT * FROM c_file", NULL, &taker);
	if (status && tables.files)
		convert_drop_csv(output);
	if (!status && !tables.files)
		status = convert_selects(selection)
				 ? convert_refuse_empty(selection)
				 : cli_failed("%s was not written: %s has no rows for tables",
					      output, input);
	convert_rows_close(rows);
	return status;
}
