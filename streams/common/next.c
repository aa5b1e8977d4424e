/* SPDX-License-Identifier: MIT */
/* See next.h. */
#include "next.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "loaded.h"
#include "lookup.h"

struct search {
	const char *library;
	char path[PATH_MAX];
};

static int find_loaded(struct dl_phdr_info *info, size_t size, void *user)
{
	struct search *search = user;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (!slash || strncmp(slash + 1, search->library, strlen(search->library)) != 0 ||
	    strlen(info->dlpi_name) >= sizeof(search->path))
		return 0;
	strcpy(search->path, info->dlpi_name);
	return 1;
}

/* Python and others load libraries for a few modules only: then they are not behind us. */
static void *find_in_loaded(const char *symbol, const char *library)
{
	struct search search = {.library = library};
	void *handle, *found;

	if (!loaded_iterate(find_loaded, &search))
		return NULL;
	handle = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
	found = handle ? lookup_symbol(handle, symbol) : NULL;
	if (handle && !found)
		dlclose(handle);
	return found; /* and the library stays: its address is kept */
}

void *next_function(const char *symbol, const char *const *libraries)
{
	void *found = dlsym(RTLD_NEXT, symbol);

	for (; !found && *libraries; libraries++)
		found = find_in_loaded(symbol, *libraries);
	return found;
}
