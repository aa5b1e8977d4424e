/* SPDX-License-Identifier: MIT */
/* See text.h: a system call that fails where reading would crash. */
#include "text.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u

void text_read(struct text *text, uint64_t address)
{
	const size_t to_page_end = PAGE - (address & (PAGE - 1));
	const size_t first = to_page_end < sizeof(text->bytes) ? to_page_end : sizeof(text->bytes);
	const struct iovec local = {text->bytes, sizeof(text->bytes)};
	const struct iovec remote[2] = {
		{(void *)(uintptr_t)address, first},
		{(void *)(uintptr_t)(address + first), sizeof(text->bytes) - first},
	};
	const int kept = errno;
	const ssize_t size = address ? process_vm_readv(getpid(), &local, 1, remote, 2, 0) : -1;

	errno = kept;
	text->there = size > 0;
	text->length = text->there ? (uint32_t)strnlen(text->bytes, (size_t)size) : 0;
	text->cut = text->length > TEXT_BYTES;
	if (text->cut)
		text->length = TEXT_BYTES;
}

bool text_read_bytes(void *to, uint64_t address, size_t size)
{
	const struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};
	const int kept = errno;
	const ssize_t got = address ? process_vm_readv(getpid(), &local, 1, &remote, 1, 0) : -1;

	errno = kept;
	return got == (ssize_t)size;
}
