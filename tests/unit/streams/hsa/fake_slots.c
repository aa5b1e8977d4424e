/* SPDX-License-Identifier: MIT */
/* Slots of librtl's, without files. */
#include <rtl/stream.h>
#include <stdlib.h>
#include <string.h>

void *rtl_slots_create(size_t bytes)
{
	void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

	return memory ? memset(memory, 0, bytes) : NULL;
}

void rtl_slots_ready(void *memory, size_t bytes)
{
}

void rtl_slots_destroy(void *memory, size_t bytes)
{
	free(memory);
}
