/* SPDX-License-Identifier: MIT */
/*
 * What has become of a collector that is gone. Recording goes on, as far as there is room, if
 * somebody may still read what is written.
 *
 * Threads: any; no lock needed.
 */
#ifndef RTL_CORE_FATE_H
#define RTL_CORE_FATE_H

#include <stdbool.h>

/* Finds out why the collector is gone and says so once. Ends recording if nobody will read it.
 * Makes system calls. */
void fate_look(void);
/* Whether fate_look has found it dead, so that nobody makes room any more. A look at memory, as
 * below. */
bool fate_collector_died(void);
/* Whether it is lost and did not end in order. Then nobody looks for it again. */
bool fate_is_lost(void);
/* In a child after fork. */
void fate_forget(void);

#endif
