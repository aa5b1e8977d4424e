/* SPDX-License-Identifier: MIT */
/*
 * output_place.h: where an output goes if several processes want the same file. Threads: any.
 */
#ifndef RTL_OUTPUT_PLACE_H
#define RTL_OUTPUT_PLACE_H

#include <stdint.h>

/** NAME-PID.EXT, or NAME-PID-N.EXT from the second try on; to be freed. NULL: out of memory. */
char *output_other_name(const char *path, int32_t pid, int attempt);
/**
 * Locks the folder of a path against others who choose an output there; close(2) ends that. File
 * systems that know no flock go without.
 * @return a descriptor, or -1
 */
int output_lock_folder(const char *path);

#endif
