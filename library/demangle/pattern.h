/* SPDX-License-Identifier: MIT */
/* pattern.h: patterns that choose kernels by their readable names. Threads: any. */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/** Compiles an extended regular expression, of which only whether it fits is asked. One that is longer,
 * nested deeper or repeated more often than anybody writes is refused: regcomp(3) would use up the stack or
 * the memory.
 * @param[out] why what is wrong with it, if false */
bool pattern_compile(regex_t *regex, const char *pattern, char *why, size_t size);
