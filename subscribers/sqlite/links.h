/* SPDX-License-Identifier: MIT */
/*
 * links.h: which call of HIP made a GPU do what: rocpd_api_ops.
 *
 * A call and what it caused come from different threads' rings, in any order. So a call's row of
 * rocpd_api has its id as soon as either is there: links_op gives one out for a call that is yet to
 * come, and links_call finds it. A call is forgotten when all that it has submitted has come, or
 * when too many are kept; what then comes after all is put right at the end, in the database.
 *
 * One thread.
 */
#ifndef RTL_SQLITE_LINKS_H
#define RTL_SQLITE_LINKS_H

#include "hash.h"

struct sub;
struct process;

/* Calls that are kept at a time: 16 MiB when that many ever were. */
#define LINKS_KEPT 262144u

/* A call that has come, some of its operations not; or the reverse. */
struct link {
	uint64_t number;  /* the call's correlation; 0: a free place */
	int64_t api;      /* its row in rocpd_api */
	uint32_t process; /* in the database */
	uint32_t came : 1;
	uint32_t kernel : 1; /* one of its operations was a kernel */
	uint32_t count : 30; /* operations: yet to come if the call came, else those that have */
};

/* All zeros is an empty one. */
struct links {
	struct hash hash;
	size_t came;    /* of them, calls that came: those can be forgotten */
	bool unsettled; /* some were forgotten, or are of an earlier host: the database knows */
};

/* The view of links. False: the writer has failed. */
bool links_init(struct sub *sub);
/* An operation: links it. Returns the id of the call's row; 0: no call of HIP caused it. `first`: NULL,
 * or for a kernel, becomes whether it is the first of that row. */
int64_t links_op(struct sub *sub, const struct process *process, uint64_t correlation, int64_t op,
		 bool *first);
/* A call's work is not known: all that comes is its. */
#define LINKS_WORK_UNKNOWN 0x3fffffffu
/* A call of HIP whose thread has submitted so much; *work becomes what has come, if that is more.
 * Returns the id for its row. */
int64_t links_call(struct sub *sub, const struct process *process, uint64_t number, uint32_t *work);
/* At the end: links of calls that were forgotten are corrected, and their work; for a call that
 * never came the submission stands, as where there are no calls. */
void links_settle(struct sub *sub);
void links_fini(struct links *links);

#endif
