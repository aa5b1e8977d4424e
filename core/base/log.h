/* SPDX-License-Identifier: MIT */
/* The one place where librtl prints: lines "rtl: WHO: text" on stderr or in the file that RTL_LOG names. RTL_LOG is
 * a level (error, warning, info, debug), a file name, or LEVEL:FILE. Control characters are escaped; a line
 * that is cut ends with "...". Any thread; a line is one write(2). */
#pragma once

#include <rtl/publish.h>

#define LOG_TEXT 2048 /* bytes of a line's text, more are cut */

/* Reads RTL_LOG; before the first line, or again in a child. */
void log_init(void);

void log_line(enum rtl_level level, const char *who, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* From now on fn is told of each line of rtl_log. */
void log_tell(void (*fn)(enum rtl_level level, const char *who, const char *text));
