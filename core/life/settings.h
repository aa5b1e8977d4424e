/* SPDX-License-Identifier: MIT */
/* The RTL_ variables of the environment that concern the bus. */
#ifndef RTL_CORE_SETTINGS_H
#define RTL_CORE_SETTINGS_H

#include "bus.h"

/* Reads them; one that makes no sense is a line in the log, and its default is taken, or with
 * RTL_STRICT the process ends. */
void settings_read(struct bus_settings *settings);

#endif
