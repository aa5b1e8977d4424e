/* SPDX-License-Identifier: MIT */
/* A folder of the target's own, in memory if there is one, removed at its end; and quiet. */
#pragma once

/* Its path, from scratch_init on. */
extern char scratch[200];

/* As often as one likes. */
void scratch_init(void);
/* Removes a folder with all in it. */
void scratch_remove(const char *path);
