/* SPDX-License-Identifier: MIT */
/* Texts read from anywhere: what the program gave to a function, whatever it is. */
#include <errno.h>
#include <sys/mman.h>

#include "../../streams/common/text.h"
#include "unit.h"

static struct text read_text(const void *from)
{
	struct text text;

	errno = 42;
	text_read(&text, (uint64_t)(uintptr_t)from);
	assert_int_equal(errno, 42);
	return text;
}

TEST(test_read__a_text)
{
	const struct text text = read_text("a text");

	assert_true(text.there);
	assert_false(text.cut);
	assert_int_equal(text.length, 6);
	assert_memory_equal(text.bytes, "a text", 6);
}

TEST(test_read__none__not_there)
{
	assert_false(read_text(NULL).there);
	assert_false(read_text((void *)16).there);
	assert_int_equal(read_text((void *)16).length, 0);
}

TEST(test_read__long__cut)
{
	char *long_text = calloc(1, 2000);

	memset(long_text, 'x', 1999);
	assert_true(read_text(long_text).cut);
	assert_int_equal(read_text(long_text).length, TEXT_BYTES);
	long_text[TEXT_BYTES] = '\0';
	assert_false(read_text(long_text).cut);
	assert_int_equal(read_text(long_text).length, TEXT_BYTES);
	free(long_text);
}

/* Not terminated, and nothing behind it. */
TEST(test_read__to_the_end_of_memory)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct text text;
	char eight[8];

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	memset(pages, 'y', 4096);
	text = read_text(pages + 4096 - 5);
	assert_true(text.there);
	assert_int_equal(text.length, 5);
	assert_false(read_text(pages + 4096).there);
	assert_int_equal(text_read_bytes(eight, (uint64_t)(uintptr_t)pages + 4088, 8), 8);
	assert_int_equal(text_read_bytes(eight, (uint64_t)(uintptr_t)pages + 4092, 8), 4);
	munmap(pages, 8192);
}

TEST(test_load__sizes_and_signs)
{
	const int64_t number = -2;
	const int32_t small = -3;
	const uint8_t byte = 0xfe;

	assert_int_equal(value_load((uint64_t)(uintptr_t)&number, 8, true), (uint64_t)-2);
	assert_int_equal(value_load((uint64_t)(uintptr_t)&small, 4, true), (uint64_t)-3);
	assert_int_equal(value_load((uint64_t)(uintptr_t)&small, 4, false), 0xfffffffdu);
	assert_int_equal(value_load((uint64_t)(uintptr_t)&byte, 1, true), (uint64_t)-2);
	assert_int_equal(value_load((uint64_t)(uintptr_t)&byte, 1, false), 0xfe);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
