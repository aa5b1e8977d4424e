/* SPDX-License-Identifier: MIT */
/* Memory that is only used where it is touched. Threads: any. */
#pragma once

#include <stddef.h>
#include <sys/mman.h>

/* Zeroes; NULL: there is none. munmap gives it back. */
static inline void *memory_reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}
