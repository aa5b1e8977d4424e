/* SPDX-License-Identifier: MIT */
/*
 * Names as their author wrote them, of symbols that are mangled as the Itanium C++ ABI says
 * (itanium-cxx-abi.github.io/cxx-abi/abi.html), in the spelling of GNU's c++filt.
 *
 * This is own code, in C: subscribers run in programs, which must not get a C++ runtime for it. That
 * runtime also refuses names of more than 1024 characters, which kernels have. For others its time
 * and memory grow exponentially. Here both are bounded.
 *
 * Threads: any. No locks, no state.
 */
#ifndef RTL_DEMANGLE_H
#define RTL_DEMANGLE_H

/* Longest text, bytes: a mangled name of a line can stand for gigabytes. */
#define DEMANGLED_MAX 16384

/* The readable name, to be freed. NULL: it is not mangled, not understood, longer than
 * DEMANGLED_MAX, or out of memory: then the mangled name stands for itself. */
char *demangle(const char *name);

#endif
