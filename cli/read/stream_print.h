/* SPDX-License-Identifier: MIT */
/* Prints descriptions of streams, for people or as JSON. One thread. */
#ifndef RTL_CLI_STREAM_PRINT_H
#define RTL_CLI_STREAM_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include <rtl/types.h>

#include "json.h"

/** What is being printed, to stdout; all zeros but for `as_json` at the beginning. */
struct stream_print {
	bool as_json;
	struct json json;
	size_t streams; /**< so far */
};

void stream_print_begin(struct stream_print *print);
/** One stream. @param from  what it comes from, for the user */
void stream_print(struct stream_print *print, const struct rtl_stream_info *stream,
		  const char *from);
void stream_print_end(struct stream_print *print);

#endif
