/* SPDX-License-Identifier: MIT */
/* The running rtl that the user means: `rtl start`, `rtl stop`, `rtl snapshot`. One thread. */
#ifndef RTL_CLI_RUNNING_H
#define RTL_CLI_RUNNING_H

#include <stdbool.h>

#include "cli.h"

struct running {
	char *folder; /**< to be freed */
	int pid;      /**< 0: the user has named the folder */
	bool found;   /**< the user has not named it */
};

/**
 * Finds it: by the number of its process, by its folder (with a slash in it), or, without a name, the only
 * one of the user's. CLI_OK, or an exit status after a line that begins with the verb.
 */
int running_find(const char *verb, const char *name, struct running *running);

/** What commands that do so say of it. */
#define RUNNING_DETAILS                                                                            \
	"SESSION is the process of `rtl trace`, or its folder; if only one of yours runs, it\n"    \
	"need not be named."

#endif
