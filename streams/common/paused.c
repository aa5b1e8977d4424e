/* SPDX-License-Identifier: MIT */
/* See paused.h. */
#include "paused.h"

bool program_paused;
uint32_t program_pause_changes;
