/* SPDX-License-Identifier: MIT */
/* Publishers and the host in one process: each is given what it needs of the other. */
#ifndef RTL_CORE_OWN_PROCESS_H
#define RTL_CORE_OWN_PROCESS_H

#include "host.h"

/* This process as a source of events: adds it to the host. */
int own_process_add(struct host *host);

#endif
