/* SPDX-License-Identifier: MIT */
/*
 * names.h: the texts of rocpd_string and rocpd_ustring. Each text has one id, the same in both
 * tables; ids are given here, the database is asked at the beginning only. One thread.
 */
#ifndef RTL_SQLITE_NAMES_H
#define RTL_SQLITE_NAMES_H

#include "hash.h"
#include "rows.h"

struct name;

struct names {
	struct rows strings;  /* of rocpd_string */
	struct rows ustrings; /* of rocpd_ustring */
	struct hash known;    /* pointers to them, by text */
	int64_t next_id;
	struct arena arena;
	/* Names that each output has. */
	int64_t kernel_execution, kernel_dispatch, hsa, hip, roctx, user_marker, rtl, process,
		process_end;
	int64_t launch; /* the category of HIP's functions that launch a kernel */
};

/* Id of the empty text in both tables: the format wants it. */
#define NAMES_EMPTY 1

/* Texts that names_argument keeps. */
#define NAMES_KEPT 65536u

bool names_init(struct names *names, struct writer *writer);
/* The id of a text in rocpd_string; what readers cannot stand in it is replaced. NULL is the
 * empty text. After a failure some id. */
int64_t names_string(struct names *names, const char *text);
/* The id of a text in rocpd_ustring: arguments, markers. */
int64_t names_ustring(struct names *names, const char *text);
/* As names_ustring, for texts of which there may be very many: what is beyond NAMES_KEPT is not
 * kept in memory, and has an id for each time it appears. */
int64_t names_argument(struct names *names, const char *text, size_t length);
/* The rows belong to the writer; this frees the rest. */
void names_fini(struct names *names);

#endif
