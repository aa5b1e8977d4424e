/* SPDX-License-Identifier: MIT */
/* check.h: whether a database holds each event that a publisher has counted, once. */
#pragma once

#include "counts.h"

#include <stdbool.h>

/* Says on stderr what is not so. Counts rows in *events. */
bool check_database(const char *file, const struct recover_counts *counts, uint64_t *events);
