/* SPDX-License-Identifier: MIT */
/* plan.h: how the fields of a type become columns of its table. The rules stand in docs/sqlite.md; reader.c reads by
 * them. Made once for a table; one thread. */
#pragma once

#include "dictionary.h"
#include "rows.h"

#include <rtl/subscriber.h>

#define PLAN_MAX_NAME 120

/* Columns that each table of events has: id, origin, time_ns, instance, correlation. */
#define PLAN_BASE 5u

enum plan_how {
	PLAN_NUMBER, /* unsigned, of up to 4 bytes; BOOL */
	PLAN_WORD,   /* unsigned, of 8 bytes */
	PLAN_INT,
	PLAN_FLOAT,
	PLAN_TIME,
	PLAN_UID,
	PLAN_STRING,
	PLAN_TEXT,
	PLAN_ARGS,
	PLAN_BYTES,
};

struct plan_column {
	const struct rtl_field *field;
	enum plan_how how;
	uint32_t group; /* number in the type, 0: none */
	uint32_t cell;  /* of the row, or of the group's row */
	char name[PLAN_MAX_NAME + 16];
};

/* Fields that repeat together: rows of a table of their own. */
struct plan_group {
	uint32_t number;
	uint32_t cell;    /* of the row */
	uint32_t columns; /* with the id */
	struct rows rows;
	struct dictionary known;
};

struct plan {
	const struct rtl_type_info *info;
	uint32_t columns; /* of the row */
	uint32_t count;
	struct plan_column *list;
	uint32_t group_count;
	struct plan_group *groups;
};

struct sub;
struct process;

/* What is left of a name in those of tables and columns: [A-Za-z0-9_]. */
void plan_name(char out[PLAN_MAX_NAME], const char *name, const char *fallback);
/* false: out of memory. */
bool plan_init(struct plan *plan, const struct rtl_type_info *info);
void plan_fini(struct plan *plan);
/* Fills the cells of a row behind the base. */
void plan_fill(struct sub *sub, struct process *process, struct plan *plan, struct rows *rows,
	       struct cell *cells, const struct rtl_event *event);
