/* SPDX-License-Identifier: MIT */
/* What a code object says of itself: of one that is written here, byte by byte. */
#include <elf.h>

#include "../../streams/hsa/objects/code_object.h"
#include "unit.h"

struct image {
	unsigned char bytes[4096];
	size_t size;
};

static void put(struct image *image, const void *bytes, size_t size)
{
	assert_true(image->size + size <= sizeof(image->bytes));
	memcpy(image->bytes + image->size, bytes, size);
	image->size += size;
}

static void put_byte(struct image *image, unsigned byte)
{
	const unsigned char b = (unsigned char)byte;

	put(image, &b, 1);
}

/* MessagePack: short texts, and one with a length of its own. */
static void put_text(struct image *image, const char *text)
{
	const size_t length = strlen(text);

	if (length < 32) {
		put_byte(image, 0xa0 | (unsigned)length);
	} else {
		put_byte(image, 0xd9);
		put_byte(image, (unsigned)length);
	}
	put(image, text, length);
}

static void put_kernel(struct image *image, const char *symbol)
{
	put_byte(image, 0x87); /* pairs */
	put_text(image, ".name");
	put_text(image, "a name that nobody asks for");
	put_text(image, ".args"); /* [{".size": 8}, nil, -1, 1.0f, 32-bit array of nothing] */
	put_byte(image, 0x95);
	put_byte(image, 0x81);
	put_text(image, ".size");
	put_byte(image, 8);
	put_byte(image, 0xc0);
	put_byte(image, 0xff);
	put(image, "\xca\x3f\x80\0\0", 5);
	put(image, "\xdd\0\0\0\0", 5);
	put_text(image, ".vgpr_count");
	put_byte(image, 37);
	put_text(image, ".sgpr_count");
	put(image, "\xcd\x01\x02", 3); /* 258 */
	put_text(image, ".symbol");
	put_text(image, symbol);
	put_text(image, ".wavefront_size");
	put(image, "\xce\0\0\0\x40", 5);
	put_text(image, ".vgpr_spill_count");
	put(image, "\xcf\0\0\x10\0\0\0\0\0", 9); /* more than 32 bits */
}

/* The header of an ELF file, a segment of notes with one before ours. */
static void make(struct image *image)
{
	const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	const Elf64_Nhdr other = {.n_namesz = 4, .n_descsz = 5, .n_type = 3};
	Elf64_Nhdr note = {.n_namesz = 7, .n_type = 32};
	Elf64_Phdr segment = {.p_type = PT_NOTE, .p_offset = sizeof(header) + sizeof(segment)};

	image->size = 0;
	put(image, &header, sizeof(header));
	put(image, &segment, sizeof(segment));
	put(image, &other, sizeof(other));
	put(image, "GNU\0hello\0\0", 12);

	const size_t note_at = image->size;

	put(image, &note, sizeof(note));
	put(image, "AMDGPU\0", 8);

	const size_t text_at = image->size;

	put_byte(image, 0x83);
	put_text(image, "amdhsa.version");
	put(image, "\x92\x01\x01", 3);
	put_text(image, "amdhsa.kernels");
	put(image, "\xdc\0\x02", 3);
	put_kernel(image, "first.kd");
	put_kernel(image, "_Z6secondILi3EEvPiS0_this_name_is_longer_than_31.kd");
	put_text(image, "amdhsa.target");
	put_text(image, "amdgcn-amd-amdhsa--gfx906");
	note.n_descsz = (uint32_t)(image->size - text_at);
	while (image->size % 4)
		put_byte(image, 0);
	memcpy(image->bytes + note_at, &note, sizeof(note));
	segment.p_filesz = image->size - segment.p_offset;
	memcpy(image->bytes + sizeof(header), &segment, sizeof(segment));
}

TEST(test_read__note__tells_registers)
{
	const struct code_object_kernel *kernel;
	struct code_object object;
	struct image image;

	make(&image);
	code_object_read(&object, image.bytes, image.size);
	assert_string_equal(object.target, "amdgcn-amd-amdhsa--gfx906");
	assert_int_equal(object.kernel_count, 2);
	kernel = code_object_find(&object, "_Z6secondILi3EEvPiS0_this_name_is_longer_than_31");
	assert_non_null(kernel);
	assert_int_equal(kernel->known, 1 << CODE_OBJECT_VGPRS | 1 << CODE_OBJECT_SGPRS |
						1 << CODE_OBJECT_WAVEFRONT_SIZE |
						1 << CODE_OBJECT_VGPR_SPILLS);
	assert_int_equal(kernel->numbers[CODE_OBJECT_VGPRS], 37);
	assert_int_equal(kernel->numbers[CODE_OBJECT_SGPRS], 258);
	assert_int_equal(kernel->numbers[CODE_OBJECT_WAVEFRONT_SIZE], 64);
	assert_int_equal(kernel->numbers[CODE_OBJECT_VGPR_SPILLS], UINT32_MAX);
	assert_non_null(code_object_find(&object, "first"));
	assert_null(code_object_find(&object, "third"));
	code_object_fini(&object);
}

TEST(test_read__no_elf__has_its_hash_only)
{
	struct code_object object;

	code_object_read(&object, "no ELF file", 11);
	assert_int_equal(object.hash, code_object_hash("no ELF file", 11));
	assert_int_equal(object.kernel_count, 0);
	assert_string_equal(object.target, "");
	assert_null(code_object_find(&object, "first"));
	code_object_fini(&object);
}

/* Under the address sanitizer: nothing is read beyond the end. */
TEST(test_read__cut_off_anywhere__reads_what_is_there)
{
	struct code_object object;
	struct image image;

	make(&image);
	for (size_t size = 0; size < image.size; size++) {
		void *copy = malloc(size ? size : 1);

		assert_non_null(copy);
		memcpy(copy, image.bytes, size);
		code_object_read(&object, copy, size);
		assert_true(object.kernel_count <= 2);
		code_object_fini(&object);
		free(copy);
	}
}

TEST(test_read__any_byte_changed__ends)
{
	struct code_object object;
	struct image image;

	make(&image);
	for (size_t i = 0; i < image.size; i++) {
		const unsigned char was = image.bytes[i];

		for (unsigned value = 0; value < 256; value += 3) {
			image.bytes[i] = (unsigned char)value;
			code_object_read(&object, image.bytes, image.size);
			(void)code_object_find(&object, "first");
			code_object_fini(&object);
		}
		image.bytes[i] = was;
	}
}

/* The ids of kernels are made of it: it must never change. */
TEST(test_hash__is_the_same_for_ever)
{
	unsigned char bytes[100];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	assert_int_equal(code_object_hash("", 0), 0x84009a13b6293b9au);
	assert_int_equal(code_object_hash("abc", 3), 0x9bf6c47ee3b5a9b7u);
	assert_int_equal(code_object_hash(bytes, 100), 0xd793ca259592d15bu);
	bytes[99]++;
	assert_true(code_object_hash(bytes, 100) != 0xd793ca259592d15bu);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
