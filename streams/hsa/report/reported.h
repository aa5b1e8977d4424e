/* SPDX-License-Identifier: MIT */
/* Work that HIP has reported, as events; and its ledger. See README.md.
 *
 * Threads: any. */
#pragma once

#include "submitters.h"

enum reported_op { REPORTED_DISPATCH, REPORTED_COPY, REPORTED_BARRIER, REPORTED_OPS };

/* How it came about, of a copy. */
enum reported_copy {
	REPORTED_READ,
	REPORTED_WRITE,
	REPORTED_INNER, /* between buffers of HIP, which may be of the host's memory */
	REPORTED_FILL,
};

struct reported {
	enum reported_op op;
	enum reported_copy how;
	bool is_rect, has_addresses;
	bool ends;     /* in the ledger: a piece that has begun, not a further part of one */
	uint32_t node; /* KFD's */
	struct work_times times;    /* rtl's clock */
	struct submitter submitter; /* tid 0: not known */
	/* By op: as far as it is known, the kernel, sizes and bytes; or addresses and bytes. */
	union {
		struct dispatch dispatch;
		struct copy copy;
	};
};

/* Starts the thread, once in a process; poll: as in a struct report_way. 0 or RTL_ENOMEM. */
int reported_start(void (*poll)(void));

/* Whether somebody wants work of that kind that the thread submits. */
bool reported_is_wanted(enum reported_op op);
/* Before or after the thread has submitted: it waits, if much waits for rtl-hip. */
void reported_hold_back(void);

/* So much has been submitted: whether the user's selection, or the mode, leaves it out. Then it is counted. */
bool reported_leave_out(enum reported_op op, uint64_t count);

/* In the ledger: so much has begun, in the stream that the thread's call is for. It has ended when it is published. */
void reported_begin(enum reported_op op, uint64_t count);
/* So much that had begun is not published, as nobody wants it any more. */
void reported_forget(enum reported_op op, uint64_t count, uint64_t stream);
/* Whether work of the thread's stream is under way, or has not been reported; of any, where streams are not known. */
bool reported_is_behind(void);
/* A command that nobody wants and that HIP reports all the same, or works with what is gone: it has begun, in that
 * stream; it has ended. */
#define REPORTED_NO_STREAM UINT64_MAX /* not known */
void reported_count_unwanted(uint64_t stream, bool ended);
/* How much has begun and not ended. */
uint64_t reported_under_way(void);

/* Whether one more piece can wait. If not, what is waiting is published: as far as there is room in the thread's ring,
 * or all, if it may wait for that. */
bool reported_has_room(bool may_wait);

/* A piece of work, which is to become an event. */
void reported_publish(const struct reported *work);

/* A thread of the program's, in a call of HIP that is about to return. */
void reported_help(void);
/* The same of a call that has waited for the thread's stream, or all: until what had begun there is published. HIP's
 * own thread may report it a little later. */
void reported_await(bool all);

/* Before something is destroyed: waits until what had begun in the thread's stream, or in all, and in no known stream,
 * is published; not where HIP reports nothing for that long, and never twice for the same work. */
void reported_settle(bool all, uint64_t patience_ns);

/* Whatever waits for the thread is published within that time, or is counted as missed. */
void reported_stop(uint32_t timeout_ms);
/* What had begun has not ended: it is counted by that cause, one for copies, not as under way. */
void reported_abandon(const char *cause, const char *copies);
/* In the child of a fork, where there is no such thread. */
void reported_forked(void);
