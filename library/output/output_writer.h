/* SPDX-License-Identifier: MIT */
/* output_writer.h: who writes an output, as a text that stands in it while it is being written.
 * Threads: any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** This process as text, told from one with the same pid at another time or place. */
void output_writer(char *text, size_t size);
/** Whether that process lives. In doubt (another host, another namespace) it does: then nothing is replaced. */
bool output_writer_lives(const char *writer);
