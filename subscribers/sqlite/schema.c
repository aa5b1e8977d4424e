/* SPDX-License-Identifier: MIT */
/* schema.c: see schema.h. */
#include "schema.h"

#include "embed.h"

EMBED(schema_tables, RTL_SQLITE_FOLDER "/tables.sql");
EMBED(schema_views, RTL_SQLITE_FOLDER "/views.sql");
EMBED(schema_views_xpti, RTL_SQLITE_FOLDER "/views_xpti.sql");
