/* SPDX-License-Identifier: MIT */
/* What `rtl info` prints: of a database, of a folder. Exit statuses; they have said what is wrong.
 * One thread. */
#ifndef RTL_CLI_INFO_H
#define RTL_CLI_INFO_H

#include <stdbool.h>
#include <stdint.h>

int info_database(const char *path, bool json);
int info_folder(const char *path, bool json);

/** A member of a JSON object with a text; `before` is what comes before it: "{" or ",". */
void info_json_text(const char *before, const char *key, const char *text);
/** The same with a number. */
void info_json_number(const char *before, const char *key, uint64_t number);

#endif
