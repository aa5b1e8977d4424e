/* SPDX-License-Identifier: MIT */
/*
 * stepper.h: a thread that steps statements, one after the other, while its owner makes the rows of the
 * next ones.
 *
 * Where the owner has a priority of its own to give up (a consumer of low priority), or is in somebody's
 * process, there is none: it would take a core from the program.
 *
 * Two threads: the owner, and that one. Statements, and the connection that they are of, are the
 * stepper's until stepper_wait has returned.
 */
#ifndef RTL_SQLITE_STEPPER_H
#define RTL_SQLITE_STEPPER_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define STEPPER_JOBS 64u

struct stepper {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool runs, failed_to_start;
	/* Under the lock: */
	bool ends;
	uint64_t added, done; /* statements */
	sqlite3_stmt *jobs[STEPPER_JOBS];
	int result; /* of the first that has failed; those after it are not stepped */
};

/* Whether statements of the calling thread go there at present. Starts the thread. */
bool stepper_ready(struct stepper *stepper);
/* Has a statement stepped that returns no rows; its number. */
uint64_t stepper_add(struct stepper *stepper, sqlite3_stmt *stmt);
/* Waits until those up to that number have been stepped. */
void stepper_wait(struct stepper *stepper, uint64_t number);
/* Waits for all; a result of SQLite's, once. */
int stepper_settle(struct stepper *stepper);
/* Ends the thread when all have been stepped. */
void stepper_fini(struct stepper *stepper);

#endif
