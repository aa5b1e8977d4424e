/* SPDX-License-Identifier: MIT */
#include "copy_kernels.h"

#include <rtl/events.h>
#include <string.h>

/* Arguments are words of 64 bits. */

/* Whether its grid has a work-item for each, in whole workgroups. */
static bool covers(const hsa_kernel_dispatch_packet_t *packet, uint64_t items)
{
	const uint64_t workgroup = packet->workgroup_size_x;

	return items && workgroup &&
	       (items + workgroup - 1) / workgroup * workgroup == packet->grid_size_x;
}

/* parts: how many bytes remain behind whole units, and the size of these; end: where these end. */
static bool fits(const struct copy_facts *facts, uint64_t parts, uint64_t end)
{
	const uint64_t rest = (uint32_t)parts, unit = parts >> 32;

	return (unit == 4 || unit == 16) && rest == facts->bytes % unit &&
	       end == facts->dst + facts->bytes - rest;
}

/* Source, destination, bytes, parts, end. In 6.1 offsets of source and destination are before the bytes; before that,
 * instead of the bytes: units of 4 bytes, also begun ones, and bytes of the last. */
static bool read_linear(const hsa_kernel_dispatch_packet_t *packet, const uint64_t *words,
			struct copy_facts *facts)
{
	facts->src = words[0];
	facts->dst = words[1];
	facts->bytes = words[2];
	if (fits(facts, words[3], words[4]))
		return true;
	facts->src += words[2];
	facts->dst += words[3];
	facts->bytes = words[4];
	if (fits(facts, words[5], words[6]))
		return true;
	facts->bytes = (words[4] - 1) * 4 + (uint32_t)words[5];
	return (uint32_t)words[5] < 4 && covers(packet, words[4]);
}

/* Source and destination, padded to 4 words; of both 4 words each, the third an offset; units, rows, slices, and bytes
 * of a unit. */
static bool read_rect(const hsa_kernel_dispatch_packet_t *packet, const uint64_t *words,
		      struct copy_facts *facts)
{
	const uint64_t *size = &words[12], unit = size[3];

	facts->src = words[0] + words[6] * unit;
	facts->dst = words[1] + words[10] * unit;
	facts->bytes = size[0] * unit * size[1] * size[2];
	facts->extent[0] = (uint32_t)(size[0] * unit);
	facts->extent[1] = (uint32_t)size[1];
	facts->extent[2] = (uint32_t)size[2];
	return (unit == 1 || unit == 4 || unit == 16) && covers(packet, size[0]);
}

/* Destination, pattern, units of the pattern and bytes of one, end. Before 6.1: four destinations, of which the one is
 * set whose unit has 1 << n bytes, pattern, units of it, offset, how often it is repeated. */
static bool read_fill(const hsa_kernel_dispatch_packet_t *packet, const uint64_t *words,
		      struct copy_facts *facts)
{
	const uint64_t unit = words[2] >> 32, units = (uint32_t)words[2];
	unsigned n = 0;

	facts->dst = words[0];
	facts->bytes = words[3] - words[0];
	if (words[0] && words[1])
		return unit && unit <= 16 && units && words[3] > words[0] &&
		       facts->bytes % (units * unit) == 0;
	while (n < 3 && !words[n])
		n++;
	facts->dst = words[n] + (words[6] << n);
	facts->bytes = words[7] * (uint32_t)words[5] << n;
	return words[n] && words[4] && covers(packet, words[7]);
}

/* The same four, pattern, units of it, offset, width, rows. Only of single bytes is it known what the width is. */
static bool read_fill_rows(const hsa_kernel_dispatch_packet_t *packet, const uint64_t *words,
			   struct copy_facts *facts)
{
	facts->dst = words[0] + words[6];
	facts->bytes = words[7] * words[8];
	return words[0] && (uint32_t)words[5] == 1 && covers(packet, words[7]);
}

static const struct {
	const char *name;
	bool (*read)(const hsa_kernel_dispatch_packet_t *packet, const uint64_t *words,
		     struct copy_facts *facts);
	uint8_t kind;
} kernels[] = {
	{"__amd_rocclr_copyBuffer", read_linear, RTL_HSA_COPY_LINEAR},
	{"__amd_rocclr_copyBufferRect", read_rect, RTL_HSA_COPY_RECT},
	{"__amd_rocclr_copyBufferRectAligned", read_rect, RTL_HSA_COPY_RECT},
	{"__amd_rocclr_fillBufferAligned", read_fill, RTL_HSA_COPY_FILL},
	{"__amd_rocclr_fillBufferAligned2D", read_fill_rows, RTL_HSA_COPY_FILL},
};

uint8_t copy_kernel_find(const char *name)
{
	uint8_t n = sizeof(kernels) / sizeof(*kernels);

	while (n && strcmp(kernels[n - 1].name, name) != 0)
		n--;
	return n;
}

bool copy_kernel_read(uint8_t kernel, uint32_t bytes, const hsa_kernel_dispatch_packet_t *packet,
		      struct copy_facts *facts)
{
	uint64_t words[16] = {0}; /* none reads more */

	*facts = (struct copy_facts){.kind = kernels[kernel - 1].kind};
	if (!packet->kernarg_address)
		return false;
	memcpy(words, packet->kernarg_address, bytes < sizeof(words) ? bytes : sizeof(words));
	return kernels[kernel - 1].read(packet, words, facts);
}
