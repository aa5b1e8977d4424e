/* SPDX-License-Identifier: MIT */
/*
 * convert_args.h: the arguments of a call as a trace has them, a line such as
 * "size=4096, *ptr=0x7f2a", taken apart by what its function declares:
 * "void **ptr, size_t size". Any thread.
 */
#ifndef RTL_CLI_CONVERT_ARGS_H
#define RTL_CLI_CONVERT_ARGS_H

#include <stddef.h>

#define CONVERT_ARGS_MOST 64u

/** A part of a text. */
struct convert_text {
	const char *text;
	size_t length;
};

struct convert_arg {
	struct convert_text type, name, value; /* of "*ptr=..." the name is "*ptr" */
	size_t position;                       /* among those that are declared, from 0 */
	unsigned pointed; /* how many pointers its value lies behind: that many * of its type */
};

/** Those of a line; their number. What is not declared has no type. */
size_t convert_args(const char *declared, const char *line,
		    struct convert_arg args[CONVERT_ARGS_MOST]);

#endif
