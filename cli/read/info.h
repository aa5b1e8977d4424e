/* SPDX-License-Identifier: MIT */
/* What `rtl info` shows, for other commands. One thread. */
#pragma once

#include <rtl/collector.h>

#include "json.h"

struct database;

/* Of a trace. An exit status. */
int info_database(const char *path, bool json);
/* Of a folder of spools, as an object. CLI_OK, or an exit status after a line. */
int info_write(struct json *json, const char *path, const struct rtl_folder *is);
/* Of a trace what queries say, "-- @NAME" before each: an array of each; json NULL: lines. period_ns: their parameters,
 * or NULL. 0, or -1 after a line. */
int info_parts(struct database *database, const char *parts, const int64_t period_ns[2],
	       struct json *json);
