/* SPDX-License-Identifier: MIT */
/* What a verb shows: JSON, which it writes once, or text, which is a query of that JSON. One thread. */
#pragma once

#include "json.h"

struct view {
	struct json json; /**< to be written between view_begin and view_end */
	char *text;
	size_t size;
};

void view_begin(struct view *view, bool as_json);
/** Ends what is open, and prints it: as it is, or what a query makes of it (?1), a line for each row. A second column says at which column
 * what does not fit into a line goes on in the next one; NULL: the line is printed as it is.
 * @return CLI_OK, or CLI_FAILED after a line */
int view_end(struct view *view, const char *sql);
