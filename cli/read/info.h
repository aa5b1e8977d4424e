/* SPDX-License-Identifier: MIT */
/* What `rtl info` prints: of a database, of a folder. Exit statuses; they have said what is wrong.
 * One thread. */
#ifndef RTL_CLI_INFO_H
#define RTL_CLI_INFO_H

#include <stdbool.h>

int info_database(const char *path, bool json);
int info_folder(const char *path, bool json);

#endif
