/* SPDX-License-Identifier: MIT */
#include "code_object.h"

#include <elf.h>
#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_METADATA 32 /* NT_AMDGPU_METADATA */
#define KERNELS_MOST  (1u << 20)

#define KEY(name, key, note)      key,
#define NOTE_KEY(name, key, note) note,
const char *const code_object_keys[CODE_OBJECT_NUMBERS] = {CODE_OBJECT_EACH(KEY)};
/* The same in the note. */
static const char *const note_keys[CODE_OBJECT_NUMBERS] = {CODE_OBJECT_EACH(NOTE_KEY)};

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

/* ---- MessagePack (its specification: msgpack/msgpack, spec.md), as much of it as notes need: no recursion, no memory */

struct reader {
	const unsigned char *at; /* NULL: stopped, as the bytes are not what they should be */
	const unsigned char *end;
};

/* Points into the bytes that are read. */
struct text {
	const char *bytes;
	size_t length;
};

enum kind { NONE, NUMBER, TEXT, ARRAY, MAP, OTHER };

static size_t left(const struct reader *reader)
{
	return reader->at ? (size_t)(reader->end - reader->at) : 0;
}

/* Types from 0xc0 to 0xdf: what they are, how many bytes a big-endian number behind the first byte has (a number itself,
 * a length or a count), and how many bytes follow beside those that it says. */
static const struct {
	unsigned char kind, bytes, more;
} types[32] =
	{
		/* clang-format off */
	{OTHER, 0, 0}, {NONE, 0, 0}, {OTHER, 0, 0}, {OTHER, 0, 0}, /* nil, not used, false, true */
	{OTHER, 1, 0}, {OTHER, 2, 0}, {OTHER, 4, 0}, /* bin */
	{OTHER, 1, 1}, {OTHER, 2, 1}, {OTHER, 4, 1}, /* ext */
	{OTHER, 0, 4}, {OTHER, 0, 8}, /* float */
	{NUMBER, 1, 0}, {NUMBER, 2, 0}, {NUMBER, 4, 0}, {NUMBER, 8, 0}, /* unsigned */
	{OTHER, 0, 1}, {OTHER, 0, 2}, {OTHER, 0, 4}, {OTHER, 0, 8}, /* signed */
	{OTHER, 0, 2}, {OTHER, 0, 3}, {OTHER, 0, 5}, {OTHER, 0, 9}, {OTHER, 0, 17}, /* fixext */
	{TEXT, 1, 0}, {TEXT, 2, 0}, {TEXT, 4, 0}, {ARRAY, 2, 0}, {ARRAY, 4, 0}, {MAP, 2, 0}, {MAP, 4, 0},
		/* clang-format on */
};

/* What the next object is: its number; bytes of a text and others; objects of an array, pairs of a map. And how many
 * bytes its head has. NONE if there is none that is whole. */
static enum kind next(const struct reader *reader, uint64_t *value, uint32_t *head)
{
	const unsigned char first = left(reader) ? reader->at[0] : 0xc1;
	enum kind kind;

	*head = 1;
	*value = first;
	if (first < 0x80)
		return NUMBER;
	if (first < 0xc0) {
		kind = first < 0x90 ? MAP : first < 0xa0 ? ARRAY : TEXT;
		*value = first & (kind == TEXT ? 0x1f : 0x0f);
	} else if (first >= 0xe0) { /* a small negative number */
		kind = OTHER;
		*value = 0;
	} else {
		kind = types[first - 0xc0].kind;
		*head += types[first - 0xc0].bytes;
		*value = 0;
		if (*head > left(reader))
			return NONE;
		for (uint32_t b = 1; b < *head; b++)
			*value = *value << 8 | reader->at[b];
		*value += types[first - 0xc0].more;
	}
	/* An object in a map or an array has a byte at least. */
	return kind == NUMBER || *value <= left(reader) - *head ? kind : NONE;
}

/* Takes the head of the next object, if it is of that kind: its number, length, or how many objects (of a map: pairs)
 * follow. One of another kind is left where it is; where there is none, the reader stops for good. */
static bool take(struct reader *reader, enum kind kind, uint64_t *value)
{
	uint64_t found_value;
	uint32_t head;
	const enum kind found = next(reader, &found_value, &head);

	if (found == NONE)
		reader->at = NULL;
	if (found == NONE || found != kind)
		return false;
	reader->at += head;
	*value = found_value;
	return true;
}

static bool take_text(struct reader *reader, struct text *text)
{
	uint64_t length;

	if (!take(reader, TEXT, &length))
		return false;
	*text = (struct text){(const char *)reader->at, length};
	reader->at += length;
	return true;
}

/* Goes behind the next object and all that is in it. */
static void skip(struct reader *reader)
{
	/* Objects still to come, no more than bytes: each step takes one at least. */
	for (uint64_t open = 1; open; open--) {
		uint64_t value;
		uint32_t head;
		const enum kind kind = next(reader, &value, &head);

		if (kind == NONE) {
			reader->at = NULL;
			return;
		}
		reader->at += head;
		if (kind == MAP || kind == ARRAY)
			open += kind == MAP ? 2 * value : value;
		else if (kind != NUMBER)
			reader->at += value;
	}
}

static bool is(const struct text *text, const char *constant)
{
	const size_t length = strlen(constant);

	return text->length == length && !memcmp(text->bytes, constant, length);
}

/* ---- the note */

/* Remembers what a kernel's map says, if it says its symbol. */
static void read_kernel(struct reader *at, struct code_object_kernel *kernel)
{
	struct text key, symbol;
	uint64_t pairs, number;

	if (!take(at, MAP, &pairs)) {
		skip(at);
		return;
	}
	for (uint64_t i = 0; i < pairs; i++) {
		int n = 0;

		if (!take_text(at, &key)) {
			at->at = NULL;
			return;
		}
		while (n < CODE_OBJECT_NUMBERS && !is(&key, note_keys[n]))
			n++;
		if (n < CODE_OBJECT_NUMBERS && take(at, NUMBER, &number)) {
			kernel->known |= 1u << n;
			kernel->numbers[n] = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
		} else if (is(&key, ".symbol") && take_text(at, &symbol)) {
			if (symbol.length > 3 &&
			    !memcmp(symbol.bytes + symbol.length - 3, ".kd", 3))
				symbol.length -= 3;
			kernel->symbol = code_object_hash(symbol.bytes, symbol.length);
		} else {
			skip(at);
		}
	}
}

static void read_kernels(struct reader *at, struct code_object *object)
{
	uint64_t count;

	/* Each takes a byte at least, which bounds the memory. */
	if (object->kernels || !take(at, ARRAY, &count) || !count || count > KERNELS_MOST)
		return;
	object->kernels = calloc(count, sizeof(*object->kernels));
	if (!object->kernels)
		return;
	for (uint64_t i = 0; i < count && at->at; i++) {
		struct code_object_kernel *kernel = &object->kernels[object->kernel_count];

		*kernel = (struct code_object_kernel){0};
		read_kernel(at, kernel);
		object->kernel_count += kernel->symbol != 0;
	}
}

static void read_metadata(struct code_object *object, const unsigned char *bytes, size_t size)
{
	struct reader at = {bytes, bytes + size};
	struct text key, text;
	uint64_t pairs;

	if (!take(&at, MAP, &pairs))
		return;
	for (uint64_t i = 0; i < pairs && take_text(&at, &key); i++) {
		if (is(&key, "amdhsa.kernels")) {
			read_kernels(&at, object);
		} else if (is(&key, "amdhsa.target") && take_text(&at, &text)) {
			if (text.length >= sizeof(object->target))
				text.length = sizeof(object->target) - 1;
			memcpy(object->target, text.bytes, text.length);
			object->target[text.length] = 0;
		} else {
			skip(&at);
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
}
