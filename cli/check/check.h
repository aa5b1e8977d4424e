/* SPDX-License-Identifier: MIT */
/*
 * What `rtl check-subscriber` does to a subscriber: scenarios, each in a process of its own. One thread.
 */
#ifndef RTL_CLI_CHECK_H
#define RTL_CLI_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/** Registers streams with fields of all kinds, and publishes that many events; half of them on a stream
 *  that comes late. For a child process. */
void check_publish(unsigned count);

/** The exit status of a scenario that came to its end. */
#define CHECK_DONE 77
/** With what stands behind it on standard error, a scenario says what the subscriber does wrong. */
#define CHECK_SAYS "rtl: check: "

struct check_scenario {
	const char *name, *what; /* for the user */
	bool may_fail;           /* the subscriber may say that it cannot go on */
	/* In a child, in a folder of its own. `recording`: of two processes, one of them killed. */
	void (*run)(const char *recording, const char *list);
	bool twice; /* the list has the subscriber twice, with an output each */
};

extern const struct check_scenario check_scenarios[];
extern const size_t check_scenario_count;

/** In a child: makes the recording there. False: it could not; that has been said. */
bool check_record(const char *recording);

#endif
