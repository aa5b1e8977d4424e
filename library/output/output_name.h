/* SPDX-License-Identifier: MIT */
/* The name of a subscriber's output file from the pattern that its setting `output` is: %p stands
 * for the number of the process, %e for the base name of its program, %h for the host, %r for the
 * rank that a launcher (Open MPI, PMI, Slurm, torchrun) has given this process, %q{NAME} for a
 * variable of the environment, %% for a percent sign. A slash in these becomes an underscore.
 * Threads: any that may call getenv. */
#pragma once

#include <limits.h>

#include <rtl/subscriber.h>

/** What stands for %p, %e and %h. */
struct output_names {
	int32_t pid;
	const char *program; /**< a path */
	const char *host_name;
};

/** Room for the texts of output_names_here. */
struct output_names_room {
	char program[PATH_MAX];
	char host_name[256];
};

/** What a pattern has in it that is not known, for a line. */
#define OUTPUT_NAME_KNOWN                                                                          \
	"only %p (pid), %e (program), %h (host), %r (rank), %q{NAME} (a variable that is set) "    \
	"and %% are known"

/** Those of the process that this code runs in. */
struct output_names output_names_here(struct output_names_room *room);
/** Those of a process that events come from. */
struct output_names output_names_of(const struct rtl_process *process);

/** Whether a path ends in a suffix, with a name before it. */
bool output_ends_in(const char *path, const char *suffix);
/** Whether a pattern contains %p or %e, so that the process must be known. */
bool output_needs_process(const char *pattern);
/** The names that hold for a pattern already when an instance is created: the first process's. They are our own if we
 * are that process, or if it does not matter. False: they are not known yet. */
bool output_names_known(const struct rtl_host *host, const char *pattern,
			struct output_names_room *room, struct output_names *names);
/** The pattern as one for glob(3) that matches whatever process it is: the host is that of `names`. NULL: out of
 * memory. To be freed. */
char *output_glob(const char *pattern, const struct output_names *names);
/** The pattern with its names.
 * @param[out] path  to be freed
 * @return 0; RTL_EINVAL: an unknown letter, or a variable that is not set; RTL_ENOMEM */
int output_expand(const char *pattern, const struct output_names *names, char **path);
/** The name that a user gives as such a pattern: what is the same for all processes is put in, any other percent
 *  sign stands for itself. As output_expand; RTL_EINVAL: a variable is not set, and *pattern is what names it. */
int output_pattern(const char *name, const struct output_names *names, char **pattern);
