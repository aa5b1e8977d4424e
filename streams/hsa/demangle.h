/* SPDX-License-Identifier: MIT */
/*
 * Names of kernels as their author wrote them.
 *
 * Threads: any. No locks.
 */
#ifndef STREAMS_HSA_DEMANGLE_H
#define STREAMS_HSA_DEMANGLE_H

/* Longest text, bytes: a mangled name of a few lines can stand for many megabytes. */
#define DEMANGLED_MAX 16384

/* The demangled name, to be freed; NULL if it is not mangled or nobody here can demangle. What
 * is longer than DEMANGLED_MAX is cut and ends in "...". */
char *demangle(const char *name);

#endif
