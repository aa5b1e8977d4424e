/* SPDX-License-Identifier: MIT */
/*
 * What has become of a collector that is not there any more. Where somebody may still read what is
 * written, recording goes on as far as there is room.
 *
 * Threads: any; no lock needed.
 */
#ifndef RTL_CORE_FATE_H
#define RTL_CORE_FATE_H

#include <stdbool.h>

/* The collector is not there: finds out why, says so once, and ends recording where nobody will
 * read it. System calls. */
void fate_look(void);
/* Whether fate_look has found it dead: nobody makes room any more. A look at memory, as the rest.
 */
bool fate_collector_died(void);
/* Whether it is lost and did not end in order: then it is not asked for again. */
bool fate_is_lost(void);
/* In a child after fork. */
void fate_forget(void);

#endif
