/* SPDX-License-Identifier: MIT */
/* Functions of HIP itself, past whoever stands in for them, and however the program has loaded it. */
#pragma once

/* NULL: HIP is not there, or has none. */
void *hip_find(const char *name);
/* The same of what HIP is built on: a library by its SONAME. */
void *library_find(const char *library, const char *name);
#define HSA_FIND(name) library_find("libhsa-runtime64.so.1", name)
