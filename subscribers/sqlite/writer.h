/* SPDX-License-Identifier: MIT */
/*
 * writer.h: the connection: transactions, the rows on their way, and what happens when the
 * disk does not take them.
 *
 * The first error ends the writing: what was committed stays, the open transaction is rolled
 * back, the host is told once. Everything after that does nothing. One thread, and the stepper's.
 */
#ifndef RTL_SQLITE_WRITER_H
#define RTL_SQLITE_WRITER_H

#include "descriptors.h"
#include "rows.h"
#include "stepper.h"

#include <rtl/subscriber.h>

/* Called before each commit, for rows that depend on what the transaction holds. */
typedef void (*writer_before_commit_fn)(void *user);

/* Why something failed, and what to do. */
struct cause {
	const char *reason, *advice;
};

struct writer {
	const struct rtl_host *host;
	sqlite3 *db;
	const char *path; /* not owned */
	struct rows *rows;
	uint32_t modules; /* virtual tables so far */
	struct image image;
	struct stepper stepper;
	bool may_step;  /* not in somebody's process: rows may be copied on a thread of their own */
	uint32_t batch; /* rows of a transaction, where writer_commit_if_full is called */
	bool in_transaction;
	bool started; /* the host is to be told of a failure by fail() */
	bool failed;
	bool lost; /* the program has our descriptors: the connection is not touched any more */
	struct descriptors descriptors;
	struct cause tried; /* why writer_try has failed */
	char tried_message[256];
	int failed_result;     /* enum rtl_error */
	uint64_t pending_rows; /* inserted since the last commit */
	uint64_t committed_rows;
	writer_before_commit_fn before_commit;
	void *before_commit_user;
};

/* Opens a database file that exists already, or is empty, for writing. 0 or an enum rtl_error;
 * nothing has been reported. */
int writer_open(struct writer *w, const struct rtl_host *host, const char *path, uint32_t page_size,
		uint32_t batch);
/* Runs statements outside of the hot path. False: the writer has failed. */
bool writer_exec(struct writer *w, const char *sql);
/* Same, with printf of SQLite (%Q, %w, %lld). */
bool writer_execf(struct writer *w, const char *format, ...);
/* Begins a question to the database; NULL: the writer has failed. */
sqlite3_stmt *writer_ask(struct writer *w, const char *format, ...);
/* Its next row. False: there is none, or the writer has failed; the question is over then. */
bool writer_next(struct writer *w, sqlite3_stmt *question);
/* The answer to one that has one row and column; 0 if it has none. */
int64_t writer_ask_int(struct writer *w, const char *sql);
bool writer_begin(struct writer *w);
/* Inserts all rows in memory and commits. */
bool writer_commit(struct writer *w);
/* Commits if a batch is full. To be called between events. */
static inline bool writer_commit_if_full(struct writer *w)
{
	return w->pending_rows < w->batch || writer_commit(w);
}
/* Runs a statement that the output can do without, in a transaction of its own, after a commit.
 * False: it has failed, and left nothing; the writer goes on. */
bool writer_try(struct writer *w, const char *sql);
/* The same when the writer has failed, which it stays. */
bool writer_try_again(struct writer *w, const char *sql);
/* Says what that means, and why. */
void writer_warn(struct writer *w, const char *effect);
/* Notes an error: always returns false. */
bool writer_error(struct writer *w, int sqlite_result, const char *what);
void writer_register(struct writer *w, struct rows *rows);
/* Waits until the stepper has nothing of ours any more. False: the writer has failed. What uses the
 * connection calls it first. */
bool writer_settle(struct writer *w);
/* From here on the rows that are registered go by an image, as far as that can be. Outside of a
 * transaction. False: the writer has failed. */
bool writer_make_image(struct writer *w);
/* Before tables get indexes: from here on rows go by the tables' own names (append.h). */
void writer_never_append(struct writer *w);
/* Outside of a transaction: ends the write-ahead log, and keeps others out of the file until it is closed. False:
 * somebody reads it just now. */
bool writer_keep_alone(struct writer *w);
/* What is not committed is not wanted: writer_close rolls it back. */
void writer_abandon(struct writer *w);
/* Ends the journal, so that the database is one file, and closes. Also after a failure. */
void writer_close(struct writer *w);

#endif
