/* SPDX-License-Identifier: MIT */
/*
 * schema.h: the tables and views of an output.
 *
 * Those named rocpd_ and the views without a prefix are the rocpd schema of RPD, schema_version
 * 3: the format that its tools read (names, order and meaning of columns, what a view shows).
 * Those named rtl_ are ours; docs/sqlite.md describes them.
 */
#ifndef RTL_SQLITE_SCHEMA_H
#define RTL_SQLITE_SCHEMA_H

#include "index_build.h"

/* Version of the tables named rtl_, in rtl_meta: raised when a column changes its meaning. Where
 * columns come or go is seen by themselves (compat.h). */
#define SCHEMA_RTL_VERSION "1"
/* Version of the rocpd schema, in rocpd_metadata. */
#define SCHEMA_ROCPD_VERSION "3"

extern const char schema_rocpd_tables[];
extern const char schema_rocpd_views[];
extern const char schema_rtl_tables[];
/* Part of the latter, made where it is missing. */
extern const char schema_copy_tables[];
extern const char schema_call_tables[];
extern const char schema_marker_tables[];
extern const char schema_span_tables[];
extern const char schema_xpti_tables[];
extern const char schema_memory_tables[];
extern const char schema_counter_tables[];
extern const char schema_wait_tables[];
extern const char schema_left_out_tables[];
/* At the end of writing: rocpd_counter, of what has become of rtl_counter. */
extern const char schema_counter_settle[];
/* The same: rocpd_monitor, of what has become of rtl_counter_interval, with GPUs as in rocpd_op. */
extern const char schema_monitor_by_node[], schema_monitor_by_index[];
/* When all tables are there. */
extern const char schema_link_views[];
/* At the end of writing: what makes RPD's tools and joins quick. Ends with NULL. */
extern const char schema_sequences[];
extern const char *const schema_indexes[];
/* The same, of numbers that nearly ascend; the last one is for calls alone. */
#define SCHEMA_LINK_INDEXES 3u
extern const struct index_spec schema_link_indexes[SCHEMA_LINK_INDEXES];

#endif
