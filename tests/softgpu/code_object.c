/* SPDX-License-Identifier: MIT */
#include "code_object.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "region.h"
#include "space.h"

#define PAGE_BYTES     4096u
#define MACHINE_AMDGPU 0xe0
#define DESCRIPTOR     ".kd"

struct symbols {
	const Elf64_Sym *table;
	const char *names;
	uint32_t count;
};

static bool is_code_object(const char *p)
{
	Elf64_Ehdr eh;

	memcpy(&eh, p, sizeof(eh));
	return memcmp(eh.e_ident, ELFMAG, SELFMAG) == 0 && eh.e_machine == MACHINE_AMDGPU;
}

/* The address of the ELF header, 0 if there is none. Small allocations share blocks, so it
 * is the nearest one below the kernel. */
static uint64_t find_header(uint64_t kernel)
{
	struct sg_region block = sg_region_bounds(kernel);
	uint64_t page = kernel & ~(uint64_t)(PAGE_BYTES - 1);

	for (; block.size_bytes && page >= block.base; page -= PAGE_BYTES)
		if (is_code_object(sg_host(page)))
			return page;
	return 0;
}

static struct symbols find_symbols(const char *base)
{
	const Elf64_Ehdr *eh = (const void *)base;
	const Elf64_Phdr *ph = (const void *)(base + eh->e_phoff);
	const Elf64_Dyn *dyn = NULL;
	struct symbols s = {0};

	for (unsigned int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(base + ph[i].p_vaddr);
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		const void *p = base + dyn->d_un.d_ptr;

		if (dyn->d_tag == DT_SYMTAB)
			s.table = p;
		else if (dyn->d_tag == DT_STRTAB)
			s.names = p;
		else if (dyn->d_tag == DT_HASH)
			s.count = ((const uint32_t *)p)[1];
	}
	if (!s.table || !s.names)
		s.count = 0;
	return s;
}

static char *without_suffix(const char *name)
{
	size_t len = strlen(name), suffix = sizeof(DESCRIPTOR) - 1;

	if (len > suffix && strcmp(name + len - suffix, DESCRIPTOR) == 0)
		len -= suffix;
	return strndup(name, len);
}

char *sg_code_object_kernel_name(uint64_t kernel_object)
{
	uint64_t header = find_header(kernel_object);
	struct symbols s;

	if (!header)
		return NULL;
	s = find_symbols(sg_host(header));
	for (uint32_t i = 0; i < s.count; i++)
		if (s.table[i].st_name && s.table[i].st_value == kernel_object - header)
			return without_suffix(s.names + s.table[i].st_name);
	return NULL;
}
