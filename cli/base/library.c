/* SPDX-License-Identifier: MIT */
/* See library.h. */
#include "library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *library_rtl(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, "rtl_version");
	Dl_info info;

	if (!symbol || !dladdr(symbol, &info) || !info.dli_fname)
		return NULL;
	char *path = realpath(info.dli_fname, NULL);
	return path ? path : strdup(info.dli_fname);
}

char *library_beside_rtl(const char *name)
{
	char *rtl = library_rtl(), *path = NULL;
	char *slash = rtl ? strrchr(rtl, '/') : NULL;

	if (slash && asprintf(&path, "%.*s/%s", (int)(slash - rtl), rtl, name) < 0)
		path = NULL;
	free(rtl);
	return path;
}

rtl_publisher_streams_fn library_publisher(void *handle)
{
	void *symbol = dlsym(handle, RTL_PUBLISHER_SYMBOL);
	struct link_map *own;
	void *found;
	Dl_info info;

	if (!symbol || dlinfo(handle, RTLD_DI_LINKMAP, &own) ||
	    !dladdr1(symbol, &info, &found, RTLD_DL_LINKMAP) || found != own)
		return NULL;
	return (rtl_publisher_streams_fn)symbol;
}
