/* SPDX-License-Identifier: MIT */
/* What of a command is recorded: kernels, periods, ranges. From options, or from the variables that mean the same to a
 * process which is traced without `rtl trace`. All that can be wrong with them is found before the command starts. One
 * thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

struct selection {
	const char *verb; /**< for lines */
	/* As the user gave them; NULL: not given. Of options that may come again: lines. */
	char *kernels, *excluded, *ranges;
	const char *delay, *duration;
	unsigned repeat; /**< CLI_NOT_GIVEN */
	const char *last, *limit, *snapshot_signal;
	/* The result. */
	uint64_t delay_ns, duration_ns, last_ns, limit_bytes;
	int snapshot_signal_number; /**< 0: none */
};

/** For an option: one more regular expression, or name of a range. An exit status after a line. */
int selection_add_pattern(void *list, const char *pattern);
int selection_add_range(void *list, const char *name);

/** Members of a command's table of options. */
#define SELECTION_OPTIONS(at)                                                                      \
	CLI_TAKES(0, "kernel", "REGEX", at(kernels), selection_add_pattern,                        \
		  "record only dispatches of kernels whose name matches; may be\n"                 \
		  "given several times"),                                                          \
		CLI_TAKES(0, "exclude", "REGEX", at(excluded), selection_add_pattern,              \
			  "leave out kernels whose name matches; may be repeated"),                \
		CLI_VALUE(0, "delay", "SECONDS", at(delay), "wait that long before recording"),    \
		CLI_VALUE(0, "duration", "SECONDS", at(duration), "record for that long"),         \
		CLI_NUMBER(0, "repeat", "N", at(repeat), "a number of periods, 0 without end",     \
			   "repeat delay and duration N times, 0: without end\n"                   \
			   "(default: 1)"),                                                        \
		CLI_TAKES(0, "range", "NAME", at(ranges), selection_add_range,                     \
			  "record only while a roctx range of that name is open; may\n"            \
			  "be given several times"),                                               \
		CLI_VALUE(0, "last", "SECONDS", at(last),                                          \
			  "flight recorder: keep the last SECONDS in memory; write\n"              \
			  "them at the end, or when `rtl snapshot` asks"),                         \
		CLI_VALUE(0, "snapshot-signal", "NAME", at(snapshot_signal),                       \
			  "with --last: the signal that makes rtl write a snapshot, or\n"          \
			  "none (default: USR2)")

/** Completes it by the variables, checks all, and sets the variables for the command.
 * @param in_process  the command's processes follow the periods themselves
 * @return an exit status; it has said why */
int selection_prepare(struct selection *selection, struct session *session, bool in_process);
/** Of that, what concerns the flight recorder: --last, --limit. */
int selection_prepare_last(struct selection *selection, bool in_process);
/** How the user would write it, for a line: "--kernel, --range"; "": all is recorded. */
const char *selection_words(const struct selection *selection);
void selection_fini(struct selection *selection);

/** A number of seconds, with a fraction or not, in ns. */
bool selection_seconds(const char *text, uint64_t *ns);
