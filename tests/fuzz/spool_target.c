/* SPDX-License-Identifier: MIT */
/* A whole spool: the input (image.h) becomes the files of a folder, which is replayed, recovered or recorded and
 * replayed, with a subscriber that reads all there is. Its size decides which. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rtl/collector.h>

#include "dict.h"
#include "fuzz.h"
#include "image.h"
#include "ring.h"
#include "scratch.h"
#include "spool.h"

static char spool[256], recorded[256];
static int dir_fd = -1;

static void start(void)
{
	if (dir_fd >= 0)
		return;
	scratch_init();
	dlopen(READ_ALL_SUB, RTLD_NOW); /* it stays: loading it anew each time takes long */
	snprintf(spool, sizeof(spool), "%s/rtl-spool-1", scratch);
	snprintf(recorded, sizeof(recorded), "%s/recorded", scratch);
}

static void collect(enum rtl_collector_kind kind, const char *folder)
{
	const bool record = kind == RTL_RECORD_RECOVER;
	const struct rtl_collector_options options = {
		.struct_size = sizeof(options),
		.kind = kind,
		.subscribers = record ? NULL : READ_ALL_SUB "?twice=1",
		.output = record ? recorded : NULL,
		.folder = folder};
	struct rtl_collector *collector;
	char message[256] = "";
	uint32_t left;

	if (rtl_collector_create(&options, &collector, message, sizeof(message))) {
		if (!*message) /* refused, e.g. as the process seems to live: it says why */
			abort();
		return;
	}
	rtl_collector_poll(collector, 0);
	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	start();
	mkdir(spool, 0700);
	dir_fd = open(spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		abort();
	image_unpack(data, size, dir_fd);
	if (size % 8 == 7) {
		collect(RTL_RECORD_RECOVER, spool);
		collect(RTL_REPLAY, recorded);
		scratch_remove(recorded);
	} else {
		collect(size & 1 ? RTL_RECOVER : RTL_REPLAY, spool);
	}
	image_remove(dir_fd);
	close(dir_fd);
	return 0;
}

#ifdef RTL_LIBFUZZER
/* ---- mutations that keep enough sound to come far */

static uint64_t random_state;

static uint64_t bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t interesting(void)
{
	static const uint64_t values[] = {
		0,     1,      7,          8,     40,    47,       48,         56,   4095, 4096,
		65536, 0xffff, 0xffffffff, ~7ull, ~0ull, 1u << 31, 1ull << 63, 8192, 8240, 8248};

	return bits() % 3 ? values[bits() % (sizeof(values) / sizeof(*values))] : bits() % 512 * 8;
}

/* Adds a piece that writes `length` bytes of a value somewhere. */
static size_t add_piece(uint8_t *data, size_t size, size_t max_size, unsigned file, uint32_t offset,
			uint64_t value, uint16_t length)
{
	const struct image_piece piece = {(uint16_t)file, length, offset};

	if (size + sizeof(piece) + length > max_size)
		return size;
	memcpy(data + size, &piece, sizeof(piece));
	memcpy(data + size + sizeof(piece), &value, length);
	return size + sizeof(piece) + length;
}

/* A word of a header, or of what the first records look like. */
static size_t change_word(uint8_t *data, size_t size, size_t max_size)
{
	static const uint32_t control[] = {
		offsetof(struct spool_control, ring_count),
		offsetof(struct spool_control, dict_length),
		offsetof(struct spool_control, loss_count),
		offsetof(struct spool_control, finished),
		offsetof(struct spool_control, start_ticks),
		offsetof(struct spool_control, start_ns),
		offsetof(struct spool_control, segment_count),
		offsetof(struct spool_control, clock_count),
		offsetof(struct spool_control, clock),
		offsetof(struct spool_control, losses),
		offsetof(struct spool_control, streams),
		offsetof(struct spool_control, pending),
	};
	static const uint32_t ring[] = {
		offsetof(struct ring_header, capacity),  offsetof(struct ring_header, head),
		offsetof(struct ring_header, tail),      offsetof(struct ring_header, state),
		offsetof(struct ring_header, ready),     offsetof(struct ring_header, index),
		offsetof(struct ring_header, published),
	};
	unsigned file = IMAGE_RING + (unsigned)(bits() % 4);
	uint32_t at;

	switch (bits() % 4) {
	case 0:
		at = control[bits() % (sizeof(control) / sizeof(*control))];
		return add_piece(data, size, max_size, IMAGE_CONTROL, at, interesting(),
				 bits() & 1 ? 8 : 4);
	case 1:
		at = ring[bits() % (sizeof(ring) / sizeof(*ring))];
		return add_piece(data, size, max_size, file, at, interesting(), bits() & 1 ? 8 : 4);
	case 2:
		at = RING_HEADER_SIZE + (uint32_t)(bits() % 64) * 8;
		return add_piece(data, size, max_size, file, at, interesting(), bits() & 1 ? 4 : 2);
	default:
		return add_piece(data, size, max_size, IMAGE_DICT, (uint32_t)(bits() % 128) * 8,
				 interesting(), bits() & 1 ? 4 : 2);
	}
}

static size_t cut_file(uint8_t *data, size_t size, size_t max_size)
{
	const struct image_piece piece = {
		(uint16_t)(bits() % 5), IMAGE_CUT,
		(uint32_t)(bits() % 3 ? bits() % 8192 : bits() % IMAGE_FILE_MAX)};

	if (size + sizeof(piece) > max_size)
		return size;
	memcpy(data + size, &piece, sizeof(piece));
	return size + sizeof(piece);
}

/* Changes the bytes of one piece. */
static size_t change_piece(uint8_t *data, size_t size)
{
	struct image_piece piece;
	size_t at = 0, n = 0, chosen;

	while (image_next(data, size, &at, &piece)) {
		at += piece.length == IMAGE_CUT ? 0 : piece.length;
		n++;
	}
	if (!n)
		return size;
	chosen = bits() % n;
	for (at = 0, n = 0; image_next(data, size, &at, &piece); n++) {
		if (piece.length == IMAGE_CUT)
			continue;
		if (n >= chosen && piece.length) {
			LLVMFuzzerMutate(data + at, piece.length, piece.length);
			break;
		}
		at += piece.length;
	}
	return size;
}

/* What is checked before anything else is looked at. */
static size_t mend(uint8_t *data, size_t size, size_t max_size)
{
	uint64_t magic, head = SPOOL_VERSION | (uint64_t)sizeof(struct spool_control) << 32;

	memcpy(&magic, SPOOL_MAGIC, sizeof(magic));
	size = add_piece(data, size, max_size, IMAGE_CONTROL, 0, magic, 8);
	size = add_piece(data, size, max_size, IMAGE_CONTROL, 8, head, 8);
	return add_piece(data, size, max_size, IMAGE_RING + (unsigned)(bits() % 3), 0,
			 RING_MAGIC | (uint64_t)RING_HEADER_SIZE << 32, 8);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	switch (bits() % 8) {
	case 0:
		size = LLVMFuzzerMutate(data, size, max_size);
		break;
	case 1:
	case 2:
	case 3:
		size = change_piece(data, size);
		break;
	case 4:
		size = cut_file(data, size, max_size);
		break;
	default:
		size = change_word(data, size, max_size);
		break;
	}
	if (bits() % 16 == 0)
		size = mend(data, size, max_size);
	if (bits() % 4 == 0 && size < max_size) /* the other way to read it */
		for (uint64_t at = bits() % 8; at-- && size < max_size;)
			data[size++] = 0;
	return size;
}
#endif
