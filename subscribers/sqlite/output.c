/* SPDX-License-Identifier: MIT */
/* See output.h. What a dead writer left half done is undone by looking (SQLite's recovery), nothing else is changed. */
#include "output.h"

#include "host.h"
#include "output_writer.h"
#include "sqlite_open.h"

#include <rtl/publish.h>

/* ---- what is there ---- */

/* A text of rtl_meta in `value`, "" if there is none. */
static void read_meta(sqlite3 *db, const char *key, char *value, size_t size)
{
	char *answer;

	(void)sqlite_ask(db, "SELECT value FROM rtl_meta WHERE key = ?", key, NULL, &answer);
	snprintf(value, size, "%s", answer ? answer : "");
	free(answer);
}

/* What is in the file: of rtl's tables the version, "" where there are none, as in one that is `empty`. */
struct inside {
	bool is_file, empty;
	char version[64];
};

static enum look look_into(sqlite3 *db, const char *session, struct inside *inside)
{
	char value[1024], *counts;
	const int rc = sqlite_ask(db,
				  "SELECT count(*) || ' ' || ifnull(sum(name = 'rocpd_metadata'),"
				  " 0) FROM sqlite_master WHERE type = 'table'",
				  NULL, NULL, &counts);
	int tables = -1, ours = 0;

	if (counts)
		sscanf(counts, "%d %d", &tables, &ours);
	free(counts);
	if ((rc & 0xff) == SQLITE_BUSY) /* another connection keeps it locked */
		return LOOK_LIVE;
	if (tables < 0 || (tables && !ours))
		return LOOK_FOREIGN;
	inside->empty = tables == 0;
	if (tables == 0)
		return LOOK_OLD;
	read_meta(db, "schema", inside->version, sizeof(inside->version));
	read_meta(db, OUTPUT_SESSION_KEY, value, sizeof(value));
	if (session && *session && strcmp(value, session) == 0)
		return LOOK_SESSION;
	read_meta(db, OUTPUT_WRITER_KEY, value, sizeof(value));
	return output_writer_lives(value) ? LOOK_LIVE : LOOK_OLD;
}

static enum look look_at(const char *path, const char *session, struct inside *inside)
{
	struct stat st;
	sqlite3 *db;
	enum look found;

	*inside = (struct inside){.empty = true};
	if (lstat(path, &st) != 0)
		return errno == ENOENT || errno == ENAMETOOLONG ? LOOK_NOTHING : LOOK_FOREIGN;
	inside->is_file = S_ISREG(st.st_mode);
	if (!inside->is_file)
		return LOOK_FOREIGN;
	if (st.st_size == 0)
		return LOOK_OLD;
	sqlite_open(path, "SELECT 1 FROM sqlite_master", &db);
	found = db ? look_into(db, session, inside) : LOOK_FOREIGN;
	sqlite3_close(db);
	return found;
}

/* ---- choosing ---- */

int output_check(const struct output_file *file)
{
	const char *which;
	uid_t owner;

	if (!output_has_foreign_companion(file->path, &which, &owner))
		return 0;
	return host_fail(file->host, RTL_EIO, "%s%s: " OUTPUT_FOREIGN, file->path, which,
			 (unsigned)owner);
}

static int find_output(struct output_file *file, const char *pattern,
		       const struct output_names *names)
{
	static const char *const beside[] = {"-wal", "-shm", "-journal", NULL};
	int result;

	file->beside = beside;
	result = output_name(file, pattern, names);
	return result ? result : output_check(file);
}

int output_choose(struct output_file *file, const char *pattern, const struct output_names *names)
{
	const char *session = file->host->property(file->host, "session");
	int fd = find_output(file, pattern, names);
	struct inside inside;

	if (fd == 0)
		fd = output_create(file, look_at(file->path, session, &inside), names->pid,
				   O_WRONLY);
	if (fd < 0) {
		output_fini(file);
		return fd;
	}
	close(fd);
	return 0;
}

/* ---- continuing ---- */

#define NAME_THE_ONE "output= must name the one that the dead host was writing"

static int may_continue(const struct output_file *file, bool *empty)
{
	struct inside inside;
	const enum look found = look_at(file->path, NULL, &inside);

	*empty = inside.empty;
	if (found == LOOK_NOTHING)
		return output_fail(file, RTL_ENOENT, "is not there; " NAME_THE_ONE);
	if (found == LOOK_LIVE)
		return output_fail(file, RTL_EBUSY,
				   "is still being written by another process; end that one first");
	if (found == LOOK_FOREIGN || (!inside.empty && !*inside.version))
		return output_fail(file, RTL_EFORMAT, "is no %s; " NAME_THE_ONE,
				   inside.is_file ? "output of rtl" : "file");
	if (inside.empty || strcmp(inside.version, SCHEMA_RTL_VERSION) == 0)
		return 0;
	return output_fail(
		file, RTL_EFORMAT,
		"was written by another version of rtl: recover to another file, or with that "
		"version; the version of rtl's tables is not " SCHEMA_RTL_VERSION " but %s",
		inside.version);
}

int output_continue(struct output_file *file, const char *pattern, const struct output_names *names,
		    bool *empty)
{
	int result = find_output(file, pattern, names);

	if (result == 0)
		result = may_continue(file, empty);
	if (result != 0)
		output_fini(file);
	return result;
}
