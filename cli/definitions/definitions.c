/* SPDX-License-Identifier: MIT */
/* Finds definitions of counters and makes lists of them: see definitions.h. */
#include "definitions.h"

#include <errno.h>
#include <metrics.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "embed.h"
#include "reading.h"
#include "sqlite_open.h"

EMBED(definitions_list_sql, RTL_DEFINITIONS_FOLDER "/list.sql");
EMBED(definitions_needed_sql, RTL_DEFINITIONS_FOLDER "/needed.sql");

enum { PATH_BYTES = 4096 };

bool reading_fail(struct reading *reading, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reading->message, reading->message_size, format, args);
	va_end(args);
	return false;
}

char *reading_text(struct reading *reading, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t length;

	if (!file) {
		reading_fail(reading, "cannot open %s: %s", path, strerror(errno));
		return NULL;
	}
	length = getdelim(&text, &room, '\0', file);
	if (ferror(file) || !text || (length > 0 && !text[length - 1])) {
		reading_fail(reading, "cannot read %s: %s", path,
			     ferror(file) ? strerror(errno) : "it is not text");
		free(text);
		text = NULL;
	} else if (length < 0) {
		*text = '\0';
	}
	fclose(file);
	return text;
}

bool reading_is_number(const char *text)
{
	const size_t length = strspn(text, "0123456789");

	return length && length < 10 && !text[length];
}

bool reading_add(struct reading *reading, const reading_item item)
{
	bool done;

	for (int i = 0; i < ITEM_COLUMNS; i++)
		sqlite3_bind_text(reading->add, i + 1, item[i], -1, SQLITE_STATIC);
	sqlite3_bind_int(reading->add, ITEM_COLUMNS + 1, reading->file);
	done = sqlite3_step(reading->add) == SQLITE_DONE;
	sqlite3_reset(reading->add);
	return done;
}

static bool add_text(struct reading *reading, const char *text)
{
	return reading_add(reading, (reading_item){[ITEM_TEXT] = text});
}

/* ---- where they are ---- */

static bool is_xml(const char *text)
{
	for (;;) {
		text += strspn(text, " \t\r\n");
		if (*text != '#')
			return *text == '<';
		if (!strncmp(text, "#include \"", 10))
			return true;
		text += strcspn(text, "\n");
	}
}

/* goes_on: with the definitions of the file before. */
static bool read_file(struct reading *reading, const char *path, bool goes_on)
{
	char *text = reading_text(reading, path);
	const reading_item source = {[ITEM_GPUS] = "source",
				     [ITEM_NAME] = path,
				     [ITEM_UNIT] = text && is_xml(text) ? "sums" : NULL};
	bool done = false;

	if (text && counter_list_is(text))
		done = add_text(reading, text);
	else if (text && (goes_on || reading_add(reading, source)))
		done = is_xml(text) ? reading_xml(reading, path)
				    : reading_yaml(reading, text, path);
	free(text);
	return done;
}

/* Reads the first of these files that the folder has. */
static bool read_folder(struct reading *reading, const char *folder)
{
	static const char *const names[] = {
		"counter_defs.yaml",
		"config.yaml",
		"derived_counters.xml",
		"metrics.xml",
	};
	char path[PATH_BYTES];
	size_t i = 0;

	for (; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (!access(path, R_OK))
			break;
	}
	if (i == sizeof(names) / sizeof(*names))
		return true;
	if (!read_file(reading, path, false))
		return false;
	/* rocprofiler-sdk's derived ones of ROCm 6 do not include the others. */
	snprintf(path, sizeof(path), "%s/basic_counters.xml", folder);
	if (strcmp(names[i], "derived_counters.xml") != 0 || access(path, R_OK))
		return true;
	return read_file(reading, path, true);
}

static bool read_installed(struct reading *reading)
{
	static const char *const places[] = {
		"share/rocprofiler-sdk",
		"lib/rocprofiler",
		"libexec/rocprofiler/counters",
	};
	const char *roots[] = {getenv("ROCM_PATH"), "/opt/rocm", "/usr"};
	const char *named = getenv("ROCPROFILER_METRICS_PATH");
	char folder[PATH_BYTES];

	if (named && *named && !read_folder(reading, named))
		return false;
	for (size_t r = 0; r < sizeof(roots) / sizeof(*roots); r++) {
		for (size_t p = 0; p < sizeof(places) / sizeof(*places); p++) {
			if (!roots[r] || !*roots[r])
				continue;
			snprintf(folder, sizeof(folder), "%s/%s", roots[r], places[p]);
			if (!read_folder(reading, folder))
				return false;
		}
	}
	return add_text(reading, counter_own_table);
}

static bool read_all(struct reading *reading, const char *file)
{
	static const char *const variables[] = {"RTL_COUNTERS_DEFINITIONS", "ROCP_METRICS"};

	for (size_t i = 0; !file && i < sizeof(variables) / sizeof(*variables); i++) {
		file = getenv(variables[i]);
		file = file && *file ? file : NULL;
	}
	if (!file)
		return read_installed(reading);
	if (counter_list_is(file)) /* handed over by another rtl */
		return add_text(reading, file);
	return read_file(reading, file, false);
}

char *definitions_list(const char *file, char *message, size_t size)
{
	struct reading reading = {.message = message, .message_size = size};
	char *list = NULL;

	snprintf(message, size, "out of memory");
	if (sqlite3_open(":memory:", &reading.db) == SQLITE_OK &&
	    sqlite3_exec(reading.db,
			 "CREATE TABLE item (n INTEGER PRIMARY KEY, text, scope, base, gpus, name,"
			 " block, what, unit, description, file);"
			 "CREATE INDEX item_scope ON item (file, scope); BEGIN",
			 NULL, NULL, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(reading.db,
			       "INSERT INTO item VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
			       &reading.add, NULL) == SQLITE_OK &&
	    add_text(&reading, COUNTER_LIST_HEAD "\n") && read_all(&reading, file))
		(void)sqlite_ask(reading.db, definitions_list_sql, NULL, NULL, &list);
	if (list && !*list) {
		reading_fail(&reading, "scopes inherit from each other too often");
		free(list);
		list = NULL;
	}
	sqlite3_finalize(reading.add);
	sqlite3_close(reading.db);
	return list;
}

char *definitions_needed(const char *list, const char *names)
{
	sqlite3 *db = NULL;
	char *needed = NULL;

	if (sqlite3_open(":memory:", &db) == SQLITE_OK)
		(void)sqlite_ask(db, definitions_needed_sql, list, names, &needed);
	sqlite3_close(db);
	return needed;
}
