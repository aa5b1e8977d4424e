/* SPDX-License-Identifier: MIT */
/*
 * Traces of several processes, ranks or hosts in one database: their sources feed one subscriber that writes
 * it. Of another host a copy is read, in which pids and numbers of GPUs got the stride that rocpd_metadata names,
 * by which RPD's views napi and nop tell nodes apart, and times were moved by what the clocks of the hosts
 * differ. GPUs are the same if their UUIDs are.
 *
 * One thread.
 */
#ifndef RTL_CLI_MERGE_H
#define RTL_CLI_MERGE_H

#include <stdbool.h>
#include <stddef.h>

/** Writes `output` from `count` traces, two or more; one that is being written is refused, or with
 *  `unfinished` taken as it is. An exit status, after a line; unless CLI_OK there is no output. */
int merge_traces(const char *output, char *const *inputs, size_t count, bool unfinished);

#endif
