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

void rtl_slots_describe(void *memory, const struct rtl_stream *stream,
			const struct rtl_slots_info *info)
{
}

void rtl_slots_destroy(void *memory, size_t bytes)
{
	free(memory);
}
