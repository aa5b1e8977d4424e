/* SPDX-License-Identifier: MIT */
/* Names as their author wrote them, of symbols that are mangled as the Itanium C++ ABI says
 * (itanium-cxx-abi.github.io/cxx-abi/abi.html), in the spelling of GNU's c++filt.
 *
 * GNU's libiberty makes them, linked statically: subscribers run in programs, which must not get a C++ runtime
 * for it, and that runtime refuses names of more than 1024 characters, which kernels have. A name of a line can
 * stand for gigabytes: here time and memory are bounded.
 *
 * Threads: any. No locks, no state. */
#pragma once

/* Longest text, bytes. */
#define DEMANGLED_MAX (64u << 10)

/* The readable name, to be freed. NULL: it is not mangled, not understood, longer than
 * DEMANGLED_MAX, or out of memory: then the mangled name stands for itself. */
char *demangle(const char *name);
