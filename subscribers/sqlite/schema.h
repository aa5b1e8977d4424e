/* SPDX-License-Identifier: MIT */
/*
 * schema.h: the SQL of an output: tables.sql, and the views that people query. Those named rocpd_ and
 * those without a prefix are the rocpd schema of RPD, schema_version 3, which its tools read. Facts of it:
 * the repository ROCm/rocmProfileData.
 */
#ifndef RTL_SQLITE_SCHEMA_H
#define RTL_SQLITE_SCHEMA_H

/* Version of the tables named rtl_, in rtl_meta: raised when a column changes its meaning, comes
 * or goes. */
#define SCHEMA_RTL_VERSION "2"

extern const char schema_tables[];
/* Over tables of events: those of rtl's own streams are there by then. */
extern const char schema_views[];
/* Over those of XPTI (pieces.c). */
extern const char schema_views_xpti[];

#endif
