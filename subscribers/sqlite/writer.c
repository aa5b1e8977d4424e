/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include "host.h"
#include "sqlite_open.h"

#include <rtl/publish.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- descriptors ---- */

static void find_file(struct descriptors *d, const char *path)
{
	struct stat wanted, st;
	struct dirent *entry;
	DIR *dir;

	if (stat(path, &wanted))
		return;
	dir = opendir("/proc/self/fd");
	while (dir && d->count < DESCRIPTORS_MAX && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !fstat(atoi(entry->d_name), &st) &&
		    st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino)
			d->list[d->count++] =
				(struct descriptor){atoi(entry->d_name), st.st_dev, st.st_ino};
	if (dir)
		closedir(dir);
}

/* Finds those of a database and its write-ahead log among the process's; none without /proc. */
static void descriptors_find(struct descriptors *d, const char *path)
{
	char log[PATH_MAX + 8];

	d->count = 0;
	snprintf(log, sizeof(log), "%s-wal", path);
	find_file(d, path);
	find_file(d, log);
}

/* Whether each still is what it was. */
static bool descriptors_are_ours(const struct descriptors *d)
{
	struct stat st;

	for (size_t i = 0; i < d->count; i++)
		if (fstat(d->list[i].fd, &st) || st.st_dev != d->list[i].device ||
		    st.st_ino != d->list[i].inode)
			return false;
	return true;
}

/* ---- errors ---- */

/* How long somebody else may keep the database locked: as long as one looks at it and edits, say.
 * Meanwhile events wait in the spool. */
#define BUSY_WAIT_MS 20000

/* The reason for a failure, and the remedy. */
struct cause {
	const char *reason, *advice;
};

/* Whether memory was what lacked: where SQLite maps a file it says only that this failed. */
static bool is_no_memory(sqlite3 *db, int result)
{
	return (result & 0xff) == SQLITE_NOMEM || result == SQLITE_IOERR_NOMEM ||
	       ((result & 0xff) == SQLITE_IOERR && db && sqlite3_system_errno(db) == ENOMEM);
}

static struct cause cause_of(sqlite3 *db, int result)
{
	if (is_no_memory(db, result))
		return (struct cause){"out of memory", "trace less, or with less beside it"};
	if (result == SQLITE_IOERR_GETTEMPPATH)
		return (struct cause){"no folder for temporary files can be written",
				      "name one with room by SQLITE_TMPDIR"};
	switch (result & 0xff) {
	case SQLITE_FULL:
		return (struct cause){"the disk is full",
				      "free space there, or choose another file with output="};
	case SQLITE_IOERR:
		return (struct cause){"the disk does not take it",
				      "check the disk, its quota and limits, or choose another "
				      "file with output="};
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return (struct cause){"another program keeps it locked",
				      "end that program, or choose another file with output="};
	default:
		return (struct cause){"the database cannot be written",
				      "check the folder, or choose another file with output="};
	}
}

static int rtl_result(sqlite3 *db, int result)
{
	if (is_no_memory(db, result))
		return RTL_ENOMEM;
	return (result & 0xff) == SQLITE_FULL ? RTL_ENOSPC : RTL_EIO;
}

/* The messages of SQLite and of the system, in `text`. */
static const char *message(sqlite3 *db, char text[256])
{
	const int error = db ? sqlite3_system_errno(db) : 0;
	const bool is_io = db && (sqlite3_extended_errcode(db) & 0xff) == SQLITE_IOERR;

	snprintf(text, 256, "%s%s%s", sqlite3_errmsg(db), is_io && error ? ", " : "",
		 is_io && error ? strerror(error) : "");
	return text;
}

/* Rows that are not committed. */
static uint64_t open_rows(const struct writer *w)
{
	uint64_t count = w->pending_rows;

	for (const struct rows *rows = w->rows; rows; rows = rows->next)
		count += rows->count;
	return count;
}

/* What becomes of the rows. */
static void write_fate(const struct writer *w, char *text, size_t size)
{
	if (host_is(w->host, "replay"))
		snprintf(text, size, "nothing of it is kept");
	else
		snprintf(text, size, "%llu rows are stored and can be read, %llu are %s",
			 (unsigned long long)w->committed_rows, (unsigned long long)open_rows(w),
			 host_is(w->host, "recover") ? "left for another recovery"
						     : "lost, and the trace ends there");
}

bool writer_error(struct writer *w, int result, const char *what)
{
	struct cause cause = cause_of(w->db, result);
	char line[1024], text[256], fate[128];

	if (w->failed)
		return false;
	w->failed = true;
	w->failed_result = rtl_result(w->db, result);
	write_fate(w, fate, sizeof(fate));
	snprintf(line, sizeof(line), "%s: %s (%s: %s); %s; %s", w->path, cause.reason, what,
		 message(w->db, text), fate, cause.advice);
	if (!sqlite3_get_autocommit(w->db))
		sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
	w->in_transaction = false;
	w->pending_rows = 0;
	w->host->report(w->host, RTL_LEVEL_ERROR, line);
	if (w->started)
		w->host->fail(w->host, cause.reason);
	return false;
}

bool writer_exec(struct writer *w, const char *sql)
{
	int rc;

	if (w->failed)
		return false;
	rc = sqlite3_exec(w->db, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK || writer_error(w, rc, "statement");
}

bool writer_execf(struct writer *w, const char *format, ...)
{
	va_list args;
	char *sql;
	bool done;

	if (w->failed)
		return false;
	va_start(args, format);
	sql = sqlite3_vmprintf(format, args);
	va_end(args);
	if (!sql)
		return writer_error(w, SQLITE_NOMEM, "statement");
	done = writer_exec(w, sql);
	sqlite3_free(sql);
	return done;
}

static sqlite3_stmt *ask(struct writer *w, const char *format, va_list args)
{
	sqlite3_stmt *question = NULL;
	char *sql = w->failed ? NULL : sqlite3_vmprintf(format, args);
	const int rc = sql ? sqlite3_prepare_v2(w->db, sql, -1, &question, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (rc != SQLITE_OK)
		writer_error(w, rc, "question");
	return question;
}

sqlite3_stmt *writer_ask(struct writer *w, const char *format, ...)
{
	sqlite3_stmt *question;
	va_list args;

	va_start(args, format);
	question = ask(w, format, args);
	va_end(args);
	return question;
}

bool writer_next(struct writer *w, sqlite3_stmt *question)
{
	int rc = question && !w->failed ? sqlite3_step(question) : SQLITE_DONE;

	if (rc == SQLITE_ROW)
		return true;
	sqlite3_finalize(question);
	if (rc != SQLITE_DONE)
		writer_error(w, rc, "question");
	return false;
}

int64_t writer_ask_int(struct writer *w, const char *format, ...)
{
	sqlite3_stmt *question;
	int64_t answer = 0;
	va_list args;

	va_start(args, format);
	question = ask(w, format, args);
	va_end(args);
	while (writer_next(w, question))
		answer = sqlite3_column_int64(question, 0);
	return answer;
}

/* Whether the journal is of that kind now. */
static bool set_journal(sqlite3 *db, const char *kind)
{
	char sql[64], *answer;
	bool is;

	snprintf(sql, sizeof(sql), "PRAGMA main.journal_mode=%s", kind);
	(void)sqlite_ask(db, sql, NULL, NULL, &answer);
	is = answer && !strcmp(answer, kind);
	free(answer);
	return is;
}

/* With locking for readers beside us; without, where the file system has no shared memory. New pages need not be
 * cleared, as some libraries would (secure_delete). */
static int set_up(sqlite3 *db)
{
	static const char sql[] =
		"PRAGMA page_size=16384; PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF;"
		"PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384; PRAGMA secure_delete=OFF";
	int rc;

	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, BUSY_WAIT_MS);
	rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	if (rc != SQLITE_OK || set_journal(db, "wal"))
		return rc;
	rc = sqlite3_exec(db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
	if (rc == SQLITE_OK && !set_journal(db, "wal"))
		rc = sqlite3_errcode(db);
	return rc;
}

/* A database in somebody's process: no shared settings of SQLite are touched. */
int writer_open(struct writer *w, const struct rtl_host *host, const char *path)
{
	int rc;

	*w = (struct writer){.host = host, .path = path};
	rc = sqlite3_open_v2(path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc == SQLITE_OK)
		rc = set_up(w->db);
	if (rc == SQLITE_OK)
		descriptors_find(&w->descriptors, path);
	return rc == SQLITE_OK ? 0 : rtl_result(w->db, rc);
}

void writer_register(struct writer *w, struct rows *rows)
{
	struct rows **end = &w->rows;

	while (*end)
		end = &(*end)->next;
	*end = rows;
}

/* Whether the files are still under their numbers; if not, that was the last of them. */
static bool still_ours(struct writer *w)
{
	if (w->lost || descriptors_are_ours(&w->descriptors))
		return !w->lost;
	w->lost = w->failed = true;
	w->failed_result = RTL_EIO;
	host_say(
		w->host, RTL_LEVEL_ERROR,
		"%s: the program has closed the descriptor of this file, and may have another file "
		"under its number; %llu rows are stored, %llu are lost; `rtl trace` keeps the "
		"file out of the program",
		w->path, (unsigned long long)w->committed_rows, (unsigned long long)open_rows(w));
	if (w->started)
		w->host->fail(w->host, "its file was closed");
	return false;
}

/* At once for writing: a transaction that has read first cannot go on once another program has written. */
#define BEGIN "BEGIN IMMEDIATE"

bool writer_begin(struct writer *w)
{
	if (w->in_transaction || w->failed)
		return !w->failed;
	w->in_transaction = still_ours(w) && writer_exec(w, BEGIN);
	return w->in_transaction;
}

static bool insert_all(struct writer *w)
{
	for (struct rows *rows = w->rows; rows; rows = rows->next)
		rows_insert(rows);
	return !w->failed;
}

bool writer_commit(struct writer *w)
{
	if (w->failed || !still_ours(w) || !insert_all(w))
		return false;
	if (!w->in_transaction)
		return true;
	if (w->before_commit)
		w->before_commit(w->before_commit_user);
	if (!insert_all(w) || !writer_exec(w, "COMMIT"))
		return false;
	w->in_transaction = false;
	w->committed_rows += w->pending_rows;
	w->pending_rows = 0;
	return true;
}

bool writer_try_again(struct writer *w, const char *sql)
{
	if (!w->failed || w->lost || !sql)
		return false;
	if (sqlite3_exec(w->db, BEGIN, NULL, NULL, NULL) == SQLITE_OK &&
	    sqlite3_exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK &&
	    sqlite3_exec(w->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
		return true;
	if (!sqlite3_get_autocommit(w->db))
		sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

void writer_abandon(struct writer *w)
{
	if (!w->failed)
		w->failed_result = RTL_EPLUGIN;
	w->failed = true;
}

void writer_close(struct writer *w)
{
	if (!w->db || w->lost || (!w->failed && !still_ours(w)))
		return; /* what is lost stays open: closing would write, too */
	if (!w->failed)
		writer_commit(w);
	if (w->lost)
		return;
	for (struct rows *rows = w->rows, *next; rows; rows = next) {
		next = rows->next;
		rows_fini(rows);
	}
	w->rows = NULL;
	if (!w->failed) { /* refused while somebody reads along: then the last reader's close does it */
		sqlite3_busy_timeout(w->db, 200);
		sqlite3_exec(w->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
		(void)set_journal(w->db, "delete");
	}
	sqlite3_close_v2(w->db);
	w->db = NULL;
}
