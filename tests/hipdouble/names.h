/* SPDX-License-Identifier: MIT */
/*
 * Mangled names of kernels. HIP's callback reports kernels of graphs by what their names demangle to;
 * the profiler has the mangled name.
 *
 * Threads: any; one lock. Names stay.
 */
#pragma once

/* A launch of, or a node for, the kernel of that mangled name. */
void names_saw(const char *mangled);
/* The kernel's mangled name as far as it was seen, else `name`. It stays. */
const char *names_mangled(const char *name);
