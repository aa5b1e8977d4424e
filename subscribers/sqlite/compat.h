/* SPDX-License-Identifier: MIT */
/*
 * compat.h: whether an output that some version of rtl has written can be continued by this one.
 * Rows are inserted by the places of their columns, so the tables must have the same ones.
 */
#ifndef RTL_SQLITE_COMPAT_H
#define RTL_SQLITE_COMPAT_H

#include <sqlite3.h>

/* Room for the name of a table. */
#define COMPAT_NAME_SIZE 64

/* 0; RTL_EFORMAT: `table` is the name of one that is missing, or has other columns; RTL_ENOMEM.
 * Tables that this version makes where they are missing may be missing. */
int compat_check(sqlite3 *file, char table[COMPAT_NAME_SIZE]);

#endif
