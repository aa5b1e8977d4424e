/* SPDX-License-Identifier: MIT */
/* See text.h: a system call that fails where reading would crash. */
#include "text.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u

size_t text_read_bytes(void *to, uint64_t address, size_t size)
{
	const size_t to_page_end = PAGE - (address & (PAGE - 1));
	const size_t first = to_page_end < size ? to_page_end : size;
	const struct iovec local = {to, size};
	const struct iovec remote[2] = {
		{(void *)(uintptr_t)address, first},
		{(void *)(uintptr_t)(address + first), size - first},
	};
	const int kept = errno;
	const ssize_t got = address ? process_vm_readv(getpid(), &local, 1, remote, 2, 0) : 0;

	errno = kept;
	return got > 0 ? (size_t)got : 0;
}

void text_read(struct text *text, uint64_t address)
{
	const size_t size = text_read_bytes(text->bytes, address, sizeof(text->bytes));

	text->there = size > 0;
	text->length = text->there ? (uint32_t)strnlen(text->bytes, size) : 0;
	text->cut = text->length > TEXT_BYTES;
	if (text->cut)
		text->length = TEXT_BYTES;
}
