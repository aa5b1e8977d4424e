/* SPDX-License-Identifier: MIT */
/* A file that is made in one go: it is FILE.part until it is whole, and has its own name from then on. Whatever stops
 * its making, no part of it is under that name. One thread.
 *
 *     struct part part;
 *
 *     if (part_begin(&part, "run.json"))
 *             return CLI_FAILED;
 *     status = write(part.path);
 *     return part_end(&part, status);
 */
#pragma once

struct part {
	const char *output; /* its name */
	char *path;         /* where it is made; an empty file of ours after part_begin */
};

/** Whether an output may have that name: CLI_FAILED, after a line, if somebody else has put something there. */
int part_check_place(const char *output);
/** Says that what is there is none of that kind, and so is not written over; CLI_FAILED. */
int part_refuse(const char *output, const char *kind);
/** Begins one. CLI_OK, or CLI_FAILED after a line. */
int part_begin(struct part *part, const char *output);
/** Gives the file its name if `status` is CLI_OK, else removes it. The status, or CLI_FAILED after a
 *  line if it cannot have that name. */
int part_end(struct part *part, int status);
/** Says that it cannot be written, and why (an errno); CLI_FAILED. */
int part_failed(const struct part *part, int error);
