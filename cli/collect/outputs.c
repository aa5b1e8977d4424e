/* SPDX-License-Identifier: MIT */
#include "outputs.h"

#include <unistd.h>

#include "cli.h"
#include "convert.h"
#include "database.h"

int outputs_add(void *into, const char *name)
{
	struct outputs *outputs = into;

	if (!*name)
		return cli_usage("-o: the name of the file is empty");
	if (outputs->count == OUTPUTS_MOST)
		return cli_usage("-o %s: at most %u files at once", name, OUTPUTS_MOST);
	for (size_t i = 0; i < outputs->count; i++)
		if (!strcmp(outputs->names[i], name))
			return cli_usage("-o %s: given twice; give each file once", name);
	outputs->names[outputs->count++] = name;
	return CLI_OK;
}

static bool is_rpd(const char *path)
{
	return output_ends_in(path, ".rpd");
}

static const char *subscriber_of(const char *name)
{
	const char *base = cli_base_name(name), *dot = strrchr(base, '.');
	enum timeline_format format;

	if (!dot || dot == base || !strcmp(dot, ".db") || is_rpd(base) ||
	    output_ends_in(base, ".csv"))
		return "libsqlite_sub.so";
	return timeline_format_of(base, &format) ? "libjson_sub.so" : NULL;
}

char *outputs_subscribers(const struct outputs *outputs, int *status)
{
	char *list = NULL;
	size_t size;
	FILE *file = cli_need(open_memstream(&list, &size));

	*status = CLI_OK;
	for (size_t i = 0; !*status && i < outputs->count; i++) {
		const char *subscriber = subscriber_of(outputs->names[i]);

		if (subscriber)
			fprintf(file, "%s%s", i ? ":" : "", subscriber);
		else
			*status = cli_usage("-o %s: unknown suffix; known are " OUTPUTS_SUFFIXES,
					    outputs->names[i]);
	}
	cli_need(fclose(file) ? NULL : list);
	if (!*status)
		return list;
	free(list);
	return NULL;
}

int outputs_pattern(const char *name, char **pattern)
{
	struct output_names_room room;
	const struct output_names names = output_names_here(&room);

	*pattern = NULL;
	if (!output_pattern(name, &names, pattern))
		return CLI_OK;
	cli_usage("-o %s: %s is not set in the environment", name, cli_text(*pattern));
	free(*pattern);
	*pattern = NULL;
	return CLI_USAGE;
}

/* ---- what is made of a database ---- */

static bool would_be_empty(const struct outputs_tables *tables)
{
	return !is_rpd(tables->folder) && convert_csv_is_empty(tables->database);
}

int outputs_place(struct outputs *outputs, char **path)
{
	struct outputs_tables *tables = &outputs->tables[outputs->table_count];

	if (!output_ends_in(*path, ".csv") && !is_rpd(*path))
		return CLI_OK;
	if (!outputs->makes_tables)
		return cli_usage("-o %s: cannot be written live; write a .db and convert that with "
				 "`rtl convert`",
				 *path);
	if (output_needs_process(*path))
		return cli_usage("-o %s: %%p and %%e cannot be in a name that ends in .csv or .rpd",
				 *path);
	if (is_rpd(*path) ? database_check_replaceable(*path) : convert_check_csv(*path))
		return CLI_FAILED;
	tables->folder = *path;
	tables->database = cli_format("%s.db", *path);
	outputs->table_count++;
	*path = cli_need(strdup(tables->database));
	return CLI_OK;
}

const char *outputs_shown(const struct outputs *outputs, const char *database)
{
	for (size_t i = 0; i < outputs->table_count; i++)
		if (!strcmp(outputs->tables[i].database, database))
			return would_be_empty(&outputs->tables[i]) ? NULL
								   : outputs->tables[i].folder;
	return database;
}

/* With what SQLite leaves beside it where it had no room to copy that in. */
static void remove_database(const char *path)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char file[PATH_MAX];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (snprintf(file, sizeof(file), "%s%s", path, suffixes[i]) < (int)sizeof(file))
			unlink(file);
}

int outputs_make_tables(const struct outputs *outputs, const char *said, bool quiet)
{
	const struct convert_selection all = {.unfinished = true};
	int status = CLI_OK;

	for (size_t i = 0; i < outputs->table_count; i++) {
		const struct outputs_tables *tables = &outputs->tables[i];
		const bool is_said = said && !strcmp(said, tables->database);

		if (is_said && access(tables->database, F_OK)) {
			status = CLI_FAILED;
			continue;
		}
		if (would_be_empty(tables)) {
			status = cli_failed("%s was not written: its tables would be empty",
					    tables->folder);
			remove_database(tables->database);
			continue;
		}
		if (is_rpd(tables->folder) ? convert_rpd(tables->folder, tables->database, true)
					   : convert_csv(tables->folder, tables->database, &all)) {
			status = CLI_FAILED;
			continue;
		}
		remove_database(tables->database);
		if (!quiet && !is_said)
			cli_error("trace: %s", tables->folder);
	}
	return status;
}

void outputs_say_left(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->table_count; i++)
		if (!access(outputs->tables[i].database, F_OK))
			cli_error("%s has the events for %s; write that with `rtl convert`",
				  outputs->tables[i].database, outputs->tables[i].folder);
}

void outputs_drop_tables(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->table_count; i++)
		remove_database(outputs->tables[i].database);
}

void outputs_fini(struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->table_count; i++) {
		free(outputs->tables[i].folder);
		free(outputs->tables[i].database);
	}
	outputs->table_count = 0;
}
