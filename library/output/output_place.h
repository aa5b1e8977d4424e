/* SPDX-License-Identifier: MIT */
/*
 * output_place.h: where an output goes if several processes want the same file, and how it is opened.
 * Threads: any.
 */
#ifndef RTL_OUTPUT_PLACE_H
#define RTL_OUTPUT_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** NAME-PID.EXT, or NAME-PID-N.EXT from the second try on; to be freed. NULL: out of memory. */
char *output_other_name(const char *path, int32_t pid, int attempt);
/**
 * Locks the folder of a path against others who choose an output there; close(2) ends that. File
 * systems that know no flock go without.
 * @return a descriptor, or -1
 */
int output_lock_folder(const char *path);
/**
 * Whether somebody else may have put there what is at that path, to reach by it what is the caller's: in
 * a folder that all may write to it belongs neither to the caller nor to the folder's owner, or is a
 * further name of another file. Others cannot put anything in the place of what is the caller's in a
 * folder with the sticky bit, such as /tmp.
 * @param[out] owner whose it is, if so
 */
bool output_is_foreign(const char *path, uid_t *owner);
/**
 * Opens an output that is to be written: not what somebody else has put there, even between the look and
 * the opening.
 * @param flags      as open(2) has them; O_CLOEXEC is set
 * @param[out] owner whose it is, if it is OUTPUT_NOT_OURS
 * @return a descriptor, OUTPUT_NOT_OURS, or -1 with errno
 */
int output_open(const char *path, int flags, uid_t *owner);
/** Moves a descriptor off the numbers 0 to 2: a program that has closed its stdout prints all the same. */
int output_move_fd(int fd);
#define OUTPUT_NOT_OURS (-2)
/** What output_is_foreign says, of the files that SQLite has beside a database of the caller's; `which`: the suffix of the
 *  first such one. */
bool output_has_foreign_companion(const char *path, const char **which, uid_t *owner);
/** What is wrong then: a format with the owner (unsigned). */
#define OUTPUT_FOREIGN                                                                             \
	"user %u may have put it there, in a folder that all may write to; remove it, or choose "  \
	"another place"

#endif
