/* SPDX-License-Identifier: MIT */
/*
 * dlsym in the program's place, when this library is preloaded: what the program finds by name in a
 * library of HIP or roctx that it has loaded itself (Triton, ctypes) is replaced by our function
 * for it. Everything else goes to the loader's dlsym as it came, by a jump: for RTLD_NEXT that
 * looks at where it is called from. On x86-64 with glibc only; elsewhere there is no such dlsym.
 *
 * Threads: any; no locks of ours. Not from a signal handler, as dlsym.
 */
#ifndef STREAMS_COMMON_LOOKUP_H
#define STREAMS_COMMON_LOOKUP_H

/* What replaces what the loader finds; NULL: nothing does. Called by dlsym. */
void *lookup_replacement(void *handle, const char *name);

/* The loader's dlsym with a handle of dlopen. For this library itself: its own would call us. */
void *lookup_symbol(void *handle, const char *name);

/* The loader's dlsym: set by the first lookup_replacement. */
extern void *(*lookup_next)(void *handle, const char *name);

#endif
