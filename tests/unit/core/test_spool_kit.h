/* SPDX-License-Identifier: MIT */
/* For tests of damaged spools: real ones are made, copied, damaged and replayed, each in a process of its own, with the
 * subscriber that reads all there is (tests/fuzz/read_all_sub.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <rtl/collector.h>

#include "dict.h"
#include "ring.h"
#include "spool.h"

/* What came out of a replay. */
struct outcome {
	int status;      /* of the process: 0 = as it should */
	uint32_t events; /* of the tests' stream */
	uint32_t processes;
	uint32_t damaged;         /* lines that call a spool damaged, or not readable */
	uint32_t lines;           /* of the log, in all */
	struct rtl_ledger ledger; /* of the tests' stream */
	char log[4096];
};

extern char kit_base[256]; /* scratch folder of the test program */

int kit_setup(void **state);
int kit_teardown(void **state);
/* A spool with 3 threads of 400 events: kit_base/real/rtl-spool-..., its files are not touched. */
extern char kit_real[512];
/* A copy of it (or of any) as kit_base/NAME/rtl-spool-1; returns the folder kit_base/NAME. */
const char *kit_copy(const char *from, const char *name);
/* Removes it again. */
void kit_remove(const char *folder);
/* The path of a file of a folder's spool. */
const char *kit_file(const char *folder, const char *file);
void kit_patch(const char *folder, const char *file, size_t offset, const void *data, size_t size);
void kit_truncate(const char *folder, const char *file, size_t size);
size_t kit_size(const char *folder, const char *file);
/* Reads a whole file; to be freed. */
uint8_t *kit_read(const char *folder, const char *file, size_t *size);
/* In a child: a crash is one, and not a failure of cmocka's test; and it does not hang. */
void kit_child(void);
/* Reads what a subscriber with output=kit_base/out and a log in kit_base/err have left. */
void kit_outcome(struct outcome *outcome);
/* Collects what is in a folder; RTL_RECORD_RECOVER: to kit_base/recorded. */
void kit_run(const char *folder, enum rtl_collector_kind kind, struct outcome *outcome);
