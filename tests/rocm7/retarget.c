/* SPDX-License-Identifier: MIT
 *
 * retarget FILE: relabel the gfx940 code objects in FILE, in place, as gfx942.
 *
 * The label stands in three places: the name of the entry in the offload bundle, the metadata note of the code object,
 * and the machine field of its ELF header's e_flags. A file without code objects, or with those of gfx906, is left
 * alone. Prints an error and exits with 1 when there is one for another machine.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MACHINE_AMDGPU 0xe0
#define MACH_MASK      0xffu
#define MACH_GFX906    0x2fu
#define MACH_GFX940    0x40u
#define MACH_GFX942    0x4cu

static const char from[] = "gfx940";
static const char to[] = "gfx942";

/* Changes the machine of the code object at p, if there is one. false: it is another one. */
static bool relabel_header(char *p, const char *end)
{
	Elf64_Ehdr eh;

	if ((size_t)(end - p) < sizeof(eh))
		return true;
	memcpy(&eh, p, sizeof(eh));
	if (eh.e_machine != MACHINE_AMDGPU)
		return true;
	if ((eh.e_flags & MACH_MASK) == MACH_GFX906)
		return true;
	if ((eh.e_flags & MACH_MASK) != MACH_GFX940)
		return false;
	eh.e_flags = (eh.e_flags & ~MACH_MASK) | MACH_GFX942;
	memcpy(p, &eh, sizeof(eh));
	return true;
}

static bool relabel(char *base, size_t size)
{
	const char *end = base + size;
	char *p;

	for (p = base; (p = memmem(p, (size_t)(end - p), ELFMAG, SELFMAG)); p += SELFMAG)
		if (!relabel_header(p, end))
			return false;
	for (p = base; (p = memmem(p, (size_t)(end - p), from, sizeof(from) - 1));)
		memcpy(p, to, sizeof(to) - 1);
	return true;
}

int main(int argc, char **argv)
{
	struct stat st;
	char *base;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: retarget FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		perror(argv[1]);
		return 1;
	}
	base = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (base == MAP_FAILED) {
		perror(argv[1]);
		return 1;
	}
	if (!relabel(base, (size_t)st.st_size)) {
		fprintf(stderr, "retarget: %s has code objects that are not %s\n", argv[1], from);
		return 1;
	}
	return munmap(base, (size_t)st.st_size) != 0;
}
