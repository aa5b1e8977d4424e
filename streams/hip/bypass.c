/* SPDX-License-Identifier: MIT */
/* Libraries that call HIP past what is preloaded: RTLD_DEEPBIND lets a library find its own dependencies before
 * anything else. x86-64 and others with RELA relocations; elsewhere nothing is found. */
#include <elf.h>
#include <link.h>
#include <rtl/rtl.h>
#include <string.h>

#include "../common/call_context.h"
#include "preload.h"
#include "real.h"

struct search {
	uintptr_t begin, end; /* of HIP's code */
	const char *name;     /* found */
};

/* A loaded object's dynamic section, as far as it matters. */
struct object {
	ElfW(Addr) base;
	const char *strings;
	const ElfW(Sym) * symbols;
	const ElfW(Rela) * jumps, *others;
	size_t jumps_bytes, others_bytes, relative; /* that many of the others come first */
	bool needs_hip;
};

static const void *address_in(const struct dl_phdr_info *info, ElfW(Addr) address)
{
	/* the C library has made them addresses, but for objects that it cannot write to */
	return (const void *)(address < info->dlpi_addr ? info->dlpi_addr + address : address);
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static bool read_object(const struct dl_phdr_info *info, struct object *object)
{
	const ElfW(Dyn) *dynamic = dynamic_of(info);

	*object = (struct object){.base = info->dlpi_addr};
	for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_STRTAB:
			object->strings = address_in(info, d->d_un.d_ptr);
			break;
		case DT_SYMTAB:
			object->symbols = address_in(info, d->d_un.d_ptr);
			break;
		case DT_JMPREL:
			object->jumps = address_in(info, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			object->jumps_bytes = d->d_un.d_val;
			break;
		case DT_RELA:
			object->others = address_in(info, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			object->others_bytes = d->d_un.d_val;
			break;
		case DT_RELACOUNT:
			object->relative = d->d_un.d_val;
			break;
		case DT_PLTREL:
			if (d->d_un.d_val != DT_RELA)
				return false;
			break;
		default:
			break;
		}
	}
	if (!object->strings || !object->symbols)
		return false;
	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED)
			object->needs_hip |= !strncmp(object->strings + d->d_un.d_val,
						      "libamdhip64.so", strlen("libamdhip64.so"));
	return object->needs_hip;
}

/* Whether one of the places that the loader has filled leads to HIP's own function. */
static bool leads_past(const struct search *search, const struct object *object,
		       const ElfW(Rela) * list, size_t bytes, size_t skip)
{
	for (size_t i = skip; list && i < bytes / sizeof(*list); i++) {
		const ElfW(Sym) *symbol = &object->symbols[list[i].r_info >> 32];
		const char *name = object->strings + symbol->st_name;
		uintptr_t target;

		if (!(list[i].r_info >> 32) || symbol->st_shndx != SHN_UNDEF ||
		    strncmp(name, "hip", 3) != 0)
			continue;
		memcpy(&target, (const void *)(object->base + list[i].r_offset), sizeof(target));
		if (target - search->begin < search->end - search->begin &&
		    hip_find_function(name) != HIP_FUNCTIONS)
			return true;
	}
	return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *user)
{
	struct search *search = user;
	struct object object;

	(void)size;
	if (sizeof(ElfW(Addr)) != 8 || !read_object(info, &object) ||
	    !(leads_past(search, &object, object.jumps, object.jumps_bytes, 0) ||
	      leads_past(search, &object, object.others, object.others_bytes, object.relative)))
		return 0;
	search->name = info->dlpi_name;
	return 1;
}

void hip_report_bypass(void)
{
	struct search search = {.name = NULL};

	if (!call_context_is_missing() || !hip_mode_has_calls() || !hip_is_preloaded() ||
	    !hip_find_range(&search.begin, &search.end) || !dl_iterate_phdr(look, &search))
		return;
	rtl_log(RTL_LEVEL_WARNING, "hip",
		"%s calls HIP past rtl, as it was loaded with RTLD_DEEPBIND: these calls are not "
		"in "
		"the trace, and what they made the GPU do is linked to no call",
		*search.name ? search.name : "the program");
}
