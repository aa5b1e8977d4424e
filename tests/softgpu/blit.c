/* SPDX-License-Identifier: MIT */
#include "blit.h"
#include "space.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>


/* Argument layouts are those of ROCm 5.2, and of 6.4 and 7.2 where they differ. */

#define KERNEL(name)                                                                               \
	static void name(const void *kernarg,                                                      \
			 const hsa_kernel_dispatch_packet_t *packet __attribute__((unused)),       \
			 void *(*host)(uint64_t))

/* ---- ROCr */

KERNEL(rocr_copy_aligned)
{
	const uint64_t *phase = kernarg; /* four source/destination pairs, then the end */

	memmove(host(phase[1]), host(phase[0]), phase[8] - phase[0]);
}

KERNEL(rocr_copy_misaligned)
{
	const uint64_t *phase = kernarg;

	memmove(host(phase[1]), host(phase[0]), phase[4] - phase[0]);
}

KERNEL(rocr_fill)
{
	const struct {
		uint64_t phase1, phase2, end;
		uint32_t value;
	} *a = kernarg;
	uint32_t *p = host(a->phase1);

	for (uint64_t n = (a->end - a->phase1) / sizeof(*p); n; n--)
		*p++ = a->value;
}

/* ---- HIP */

/* One of the four destinations is set; it says the element's size, 1 to 8 bytes. */
struct hip_fill {
	uint64_t destination[4];
	uint64_t pattern;
	uint32_t pattern_elements, pad;
	uint64_t offset;
};

static char *fill_destination(const struct hip_fill *a, void *(*host)(uint64_t), unsigned int *log2)
{
	for (unsigned int i = 0; i < 4; i++)
		if (a->destination[i]) {
			*log2 = i;
			return (char *)host(a->destination[i]) + (a->offset << i);
		}
	return NULL;
}

static void fill_row(char *to, const void *pattern, size_t pattern_bytes, uint64_t times)
{
	for (; times; times--, to += pattern_bytes)
		memcpy(to, pattern, pattern_bytes);
}

KERNEL(hip_fill_aligned)
{
	const struct {
		struct hip_fill fill;
		uint64_t times;
	} *a = kernarg;
	unsigned int log2;
	char *to = fill_destination(&a->fill, host, &log2);

	if (to)
		fill_row(to, host(a->fill.pattern), (size_t)a->fill.pattern_elements << log2,
			 a->times);
}

KERNEL(hip_fill_aligned_2d)
{
	const struct {
		struct hip_fill fill;
		uint64_t width, height, pitch;
	} *a = kernarg;
	unsigned int log2;
	char *to = fill_destination(&a->fill, host, &log2);

	for (uint64_t y = 0; to && y < a->height; y++)
		fill_row(to + (y * a->pitch << log2), host(a->fill.pattern),
			 (size_t)a->fill.pattern_elements << log2, a->width);
}

KERNEL(hip6_fill_aligned)
{
	const struct {
		uint64_t destination, pattern;
		uint32_t pattern_elements, element_bytes;
		uint64_t end;
	} *a = kernarg;
	size_t pattern_bytes = (size_t)a->pattern_elements * a->element_bytes;

	if (pattern_bytes)
		fill_row(host(a->destination), host(a->pattern), pattern_bytes,
			 (a->end - a->destination + pattern_bytes - 1) / pattern_bytes);
}

KERNEL(hip6_copy_buffer)
{
	const struct {
		uint64_t source, destination, bytes;
	} *a = kernarg;

	memmove(host(a->destination), host(a->source), a->bytes);
}

KERNEL(hip_copy_buffer)
{
	const struct {
		uint64_t source, destination, source_offset, destination_offset, dwords;
		uint32_t last_bytes;
	} *a = kernarg;

	if (a->dwords)
		memmove((char *)host(a->destination) + a->destination_offset,
			(char *)host(a->source) + a->source_offset,
			(a->dwords - 1) * 4 + a->last_bytes);
}

KERNEL(hip_copy_buffer_aligned)
{
	const struct {
		uint64_t source, destination, source_offset, destination_offset, elements;
		uint32_t element_bytes;
	} *a = kernarg;

	memmove((char *)host(a->destination) + a->destination_offset * a->element_bytes,
		(char *)host(a->source) + a->source_offset * a->element_bytes,
		a->elements * a->element_bytes);
}

/* Rectangles are {row pitch, slice pitch, offset}, in elements. */
struct hip_rect {
	uint64_t source, destination;
	uint64_t pad[2];
	uint64_t source_rect[4], destination_rect[4], size[4];
};

static void copy_rect(const struct hip_rect *a, void *(*host)(uint64_t), uint64_t element_bytes)
{
	const uint64_t *s = a->source_rect, *d = a->destination_rect;

	for (uint64_t z = 0; z < a->size[2]; z++)
		for (uint64_t y = 0; y < a->size[1]; y++)
			memmove((char *)host(a->destination) +
					(d[2] + y * d[0] + z * d[1]) * element_bytes,
				(char *)host(a->source) +
					(s[2] + y * s[0] + z * s[1]) * element_bytes,
				a->size[0] * element_bytes);
}

KERNEL(hip_copy_rect)
{
	copy_rect(kernarg, host, 1);
}

KERNEL(hip_copy_rect_aligned)
{
	const struct hip_rect *a = kernarg;

	copy_rect(a, host, a->size[3]);
}

/* One of the destinations is set. */
KERNEL(hip_stream_write)
{
	const struct {
		uint64_t word32, word64, value;
	} *a = kernarg;

	if (a->word32)
		__atomic_store_n((uint32_t *)host(a->word32), (uint32_t)a->value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint64_t *)host(a->word64), a->value, __ATOMIC_RELEASE);
}

static bool is_loaded(const char *library)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle;
}

softgpu_host_kernel *sg_blit_by_name(const char *kernel_name)
{
	static const char prefix[] = "__amd_rocclr_";
	static const struct {
		unsigned int hip; /* 5, or 6 and above; 0: any */
		struct sg_blit blit;
	} blits[] = {
		{5, {"fillBufferAligned", hip_fill_aligned}},
		{6, {"fillBufferAligned", hip6_fill_aligned}},
		{0, {"fillBufferAligned2D", hip_fill_aligned_2d}},
		{5, {"copyBuffer", hip_copy_buffer}},
		{6, {"copyBuffer", hip6_copy_buffer}},
		{0, {"copyBufferAligned", hip_copy_buffer_aligned}},
		{0, {"copyBufferRect", hip_copy_rect}},
		{0, {"copyBufferRectAligned", hip_copy_rect_aligned}},
		{0, {"streamOpsWrite", hip_stream_write}},
	};
	unsigned int hip;

	if (strncmp(kernel_name, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	kernel_name += sizeof(prefix) - 1;
	hip = is_loaded("libamdhip64.so.5") ? 5 : 6;
	for (size_t i = 0; i < sizeof(blits) / sizeof(*blits); i++)
		if (strcmp(kernel_name, blits[i].blit.name) == 0 &&
		    (!blits[i].hip || blits[i].hip == hip))
			return blits[i].blit.run;
	return NULL;
}

/* Instructions follow the 256 bytes of the kernel's descriptor; words 4 to 7 differ. */
#define CODE_OFFSET (256 + 4 * sizeof(uint32_t))

const struct sg_blit *sg_blit_by_code(uint64_t kernel_object)
{
	static const struct {
		uint32_t words[4];
		struct sg_blit blit;
	} blits[] = {
		/* gfx8, gfx9 */
		{{0xC00A0300, 0x20, 0xC00A0400, 0x30}, {"rocr_copy_aligned", rocr_copy_aligned}},
		{{0xC00A0300, 0x20, 0xC0020400, 0x30},
		 {"rocr_copy_misaligned", rocr_copy_misaligned}},
		{{0xBF8C007F, 0x8E028602, 0x32000002, 0x7E08020A}, {"rocr_fill", rocr_fill}},
		/* gfx942 */
		{{0xBF8CC07F, 0x8E028602, 0x32000002, 0x7E08020A}, {"rocr_fill", rocr_fill}},
		/* gfx10 */
		{{0xF4080300, 0xFA000020, 0xF4080400, 0xFA000030},
		 {"rocr_copy_aligned", rocr_copy_aligned}},
		{{0xF4080300, 0xFA000020, 0xF4000400, 0xFA000030},
		 {"rocr_copy_misaligned", rocr_copy_misaligned}},
		{{0xBF8CC07F, 0x8F028602, 0xD70F6A00, 0x00020002}, {"rocr_fill", rocr_fill}},
	};
	const char *code = (const char *)sg_host(kernel_object) + CODE_OFFSET;

	for (size_t i = 0; i < sizeof(blits) / sizeof(*blits); i++)
		if (memcmp(code, blits[i].words, sizeof(blits[i].words)) == 0)
			return &blits[i].blit;
	return NULL;
}
