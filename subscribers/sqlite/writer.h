/* SPDX-License-Identifier: MIT */
/* writer.h: the connection: transactions, the rows on their way, and what happens when the disk does not take them.
 *
 * The first error ends the writing: what was committed stays, the open transaction is rolled back, the host is told
 * once. Everything after that does nothing. One thread. */
#pragma once

#include "rows.h"

#include <sys/types.h>

#include <rtl/subscriber.h>

/* The numbers under which SQLite has our files open. In somebody's process, which may close any number and open a file
 * of its own under it: SQLite would write into that. One thread. */
#define DESCRIPTORS_MAX 8

struct descriptors {
	struct descriptor {
		int fd;
		dev_t device;
		ino_t inode;
	} list[DESCRIPTORS_MAX];
	size_t count;
};

/* Called before each commit, for rows that depend on what the transaction holds. */
typedef void (*writer_before_commit_fn)(void *user);

struct writer {
	const struct rtl_host *host;
	sqlite3 *db;
	const char *path; /* not owned */
	struct rows *rows;
	bool in_transaction;
	bool started; /* the host is to be told of a failure by fail() */
	bool failed;
	bool lost; /* the program has our descriptors: the connection is not touched any more */
	struct descriptors descriptors;
	int failed_result;     /* enum rtl_error */
	uint64_t pending_rows; /* inserted since the last commit */
	uint64_t committed_rows;
	writer_before_commit_fn before_commit;
	void *before_commit_user;
};

/* Opens a database file that exists already, or is empty, for writing. 0 or an enum rtl_error;
 * nothing has been reported. */
int writer_open(struct writer *w, const struct rtl_host *host, const char *path);
/* Runs statements outside of the hot path. False: the writer has failed. */
bool writer_exec(struct writer *w, const char *sql);
/* Same, with printf of SQLite (%Q, %w, %lld). */
bool writer_execf(struct writer *w, const char *format, ...);
/* Begins a question to the database; NULL: the writer has failed. */
sqlite3_stmt *writer_ask(struct writer *w, const char *format, ...);
/* Its next row. False: there is none, or the writer has failed; the question is over then. */
bool writer_next(struct writer *w, sqlite3_stmt *question);
/* The answer to one that has one row and column; 0 if it has none. */
int64_t writer_ask_int(struct writer *w, const char *format, ...);
bool writer_begin(struct writer *w);
/* Inserts all rows in memory and commits. */
bool writer_commit(struct writer *w);
/* Runs statements in a transaction of their own when the writer has failed, which it stays. */
bool writer_try_again(struct writer *w, const char *sql);
/* Notes an error: always returns false. */
bool writer_error(struct writer *w, int sqlite_result, const char *what);
void writer_register(struct writer *w, struct rows *rows);
/* What is not committed is not wanted: writer_close rolls it back. */
void writer_abandon(struct writer *w);
/* Ends the journal, so that the database is one file, and closes. Also after a failure. */
void writer_close(struct writer *w);
