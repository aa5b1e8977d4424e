/* SPDX-License-Identifier: MIT */
/* What a code object says of itself: see code_object.h. */
#include "code_object.h"

#include <elf.h>
#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "msgpack.h"

#define NOTE_METADATA 32 /* NT_AMDGPU_METADATA */
#define KERNELS_MOST  (1u << 20)

const char *const code_object_keys[CODE_OBJECT_NUMBERS] = {
	"vgprs",
	"agprs",
	"sgprs",
	"vgpr_spills",
	"sgpr_spills",
	"wavefront_size",
	"max_workgroup_size",
};

/* The same in the note. */
static const char *const note_keys[CODE_OBJECT_NUMBERS] = {
	".vgpr_count",
	".agpr_count",
	".sgpr_count",
	".vgpr_spill_count",
	".sgpr_spill_count",
	".wavefront_size",
	".max_flat_workgroup_size",
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

/* Little endian, up to 8 bytes. */
static uint64_t load(const unsigned char *bytes, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, bytes, size);
	return le64toh(word);
}

/* Four lanes, so that multiplications do not wait for each other: code objects may have 100 MB. */
uint64_t code_object_hash(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint64_t lanes[4] = {1, 2, 3, 4}, hash = size;

	for (; size >= 32; size -= 32, bytes += 32) {
		for (int i = 0; i < 4; i++)
			lanes[i] = mix(lanes[i], load(bytes + 8 * i, 8));
	}
	for (; size; size -= size < 8 ? size : 8, bytes += 8)
		hash = mix(hash, load(bytes, size < 8 ? size : 8));
	for (int i = 0; i < 4; i++)
		hash = mix(hash, lanes[i]);
	return hash ? hash : 1;
}

/* ---- the note */

/* Remembers what a kernel's map says, if it says its symbol. */
static void read_kernel(struct msgpack *at, struct code_object_kernel *kernel)
{
	struct msgpack_text key, symbol;
	uint32_t pairs;
	uint64_t number;

	if (!msgpack_map(at, &pairs)) {
		msgpack_skip(at);
		return;
	}
	for (uint32_t i = 0; i < pairs; i++) {
		int n = 0;

		if (!msgpack_text(at, &key)) {
			msgpack_stop(at);
			return;
		}
		while (n < CODE_OBJECT_NUMBERS && !msgpack_is(&key, note_keys[n]))
			n++;
		if (n < CODE_OBJECT_NUMBERS && msgpack_number(at, &number)) {
			kernel->known |= 1u << n;
			kernel->numbers[n] = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
		} else if (msgpack_is(&key, ".symbol") && msgpack_text(at, &symbol)) {
			if (symbol.length > 3 &&
			    !memcmp(symbol.bytes + symbol.length - 3, ".kd", 3))
				symbol.length -= 3;
			kernel->symbol = code_object_hash(symbol.bytes, symbol.length);
		} else {
			msgpack_skip(at);
		}
	}
}

static void read_kernels(struct msgpack *at, struct code_object *object)
{
	uint32_t count;

	/* Each takes a byte at least, which bounds the memory. */
	if (object->kernels || !msgpack_array(at, &count) || !count || count > KERNELS_MOST)
		return;
	object->kernels = calloc(count, sizeof(*object->kernels));
	if (!object->kernels)
		return;
	for (uint32_t i = 0; i < count && msgpack_good(at); i++) {
		struct code_object_kernel *kernel = &object->kernels[object->kernel_count];

		*kernel = (struct code_object_kernel){0};
		read_kernel(at, kernel);
		object->kernel_count += kernel->symbol != 0;
	}
}

static void read_metadata(struct code_object *object, const unsigned char *bytes, size_t size)
{
	struct msgpack at = msgpack_at(bytes, size);
	struct msgpack_text key, text;
	uint32_t pairs;

	if (!msgpack_map(&at, &pairs))
		return;
	for (uint32_t i = 0; i < pairs && msgpack_text(&at, &key); i++) {
		if (msgpack_is(&key, "amdhsa.kernels")) {
			read_kernels(&at, object);
		} else if (msgpack_is(&key, "amdhsa.target") && msgpack_text(&at, &text)) {
			if (text.length >= sizeof(object->target))
				text.length = sizeof(object->target) - 1;
			memcpy(object->target, text.bytes, text.length);
			object->target[text.length] = 0;
		} else {
			msgpack_skip(&at);
		}
	}
}

/* ---- ELF */

static size_t aligned(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* Goes through a segment of notes. */
static void read_notes(struct code_object *object, const unsigned char *bytes, size_t size)
{
	Elf64_Nhdr note;

	while (size >= sizeof(note)) {
		memcpy(&note, bytes, sizeof(note));
		bytes += sizeof(note);
		size -= sizeof(note);
		/* Each at most 2^32, so that their sum does not overflow. */
		const size_t name = aligned(note.n_namesz), text = note.n_descsz;

		if (name > size || text > size - name)
			return;
		if (note.n_type == NOTE_METADATA && note.n_namesz == sizeof("AMDGPU") &&
		    !memcmp(bytes, "AMDGPU", sizeof("AMDGPU")))
			read_metadata(object, bytes + name, text);
		if (aligned(text) > size - name)
			return;
		bytes += name + aligned(text);
		size -= name + aligned(text);
	}
}

static void read_elf(struct code_object *object, const unsigned char *bytes, size_t size)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (size < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_phentsize != sizeof(segment) || header.e_phoff > size)
		return;
	for (uint32_t i = 0; i < header.e_phnum; i++) {
		const size_t at = header.e_phoff + i * sizeof(segment);

		if (at > size || sizeof(segment) > size - at)
			return;
		memcpy(&segment, bytes + at, sizeof(segment));
		if (segment.p_type == PT_NOTE && segment.p_offset <= size &&
		    segment.p_filesz <= size - segment.p_offset)
			read_notes(object, bytes + segment.p_offset, segment.p_filesz);
	}
}

/* ---- the whole */

static int by_symbol(const void *a, const void *b)
{
	const struct code_object_kernel *x = a, *y = b;

	return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

void code_object_read(struct code_object *object, const void *bytes, size_t size)
{
	*object = (struct code_object){.hash = code_object_hash(bytes, size)};
	read_elf(object, bytes, size);
	if (object->kernels)
		qsort(object->kernels, object->kernel_count, sizeof(*object->kernels), by_symbol);
}

const struct code_object_kernel *code_object_find(const struct code_object *object,
						  const char *name)
{
	const struct code_object_kernel key = {.symbol = code_object_hash(name, strlen(name))};

	return object->kernels ? bsearch(&key, object->kernels, object->kernel_count, sizeof(key),
					 by_symbol)
			       : NULL;
}

void code_object_fini(struct code_object *object)
{
	free(object->kernels);
	object->kernels = NULL;
	object->kernel_count = 0;
}
