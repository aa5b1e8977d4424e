/* SPDX-License-Identifier: MIT */
/*
 * stepper.h: a thread that steps statements, one job after the other, while its owner makes the rows of
 * the next ones.
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

#define STEPPER_JOBS 128u

struct stepper_job {
	int (*run)(void *user); /* a result of SQLite's */
	void *user;
};

struct stepper {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;  /* for the thread */
	pthread_cond_t finished; /* for the owner */
	bool runs, failed_to_start;
	/* Under the lock: */
	bool ends;
	uint64_t added, done; /* jobs */
	uint64_t awaited;     /* the owner sleeps until so many are done; UINT64_MAX: it does not */
	bool idle;            /* the thread sleeps until there is one */
	struct stepper_job jobs[STEPPER_JOBS];
	int result; /* of the first that has failed; those after it are not run */
};

/* Whether jobs of the calling thread go there at present. Starts the thread. */
bool stepper_ready(struct stepper *stepper);
/* Has a job run; its number. */
uint64_t stepper_add(struct stepper *stepper, struct stepper_job job);
/* Whether those up to that number have been run. */
bool stepper_has_done(struct stepper *stepper, uint64_t number);
/* Waits until they have been. */
void stepper_wait(struct stepper *stepper, uint64_t number);
/* Waits for all; a result of SQLite's, once. */
int stepper_settle(struct stepper *stepper);
/* Ends the thread when all have been run. */
void stepper_fini(struct stepper *stepper);

#endif
