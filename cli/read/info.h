/* SPDX-License-Identifier: MIT */
/* What `rtl info` shows, for other commands. One thread. */
#pragma once

#include <rtl/collector.h>

#include "json.h"

/* Of a trace. An exit status. */
int info_database(const char *path, bool json);
/* Of a folder of spools, as an object. CLI_OK, or an exit status after a line. */
int info_write(struct json *json, const char *path, const struct rtl_folder *is);
