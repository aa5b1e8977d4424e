/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include "cli.h"

char *library_rtl(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, "rtl_version");
	Dl_info info = {0};
	const char *file = symbol && dladdr(symbol, &info) ? info.dli_fname : NULL;
	char *path = file ? realpath(file, NULL) : NULL;

	return path ? path : cli_format("%s", file ? file : "librtl.so");
}

char *library_beside_rtl(const char *name)
{
	char *rtl = library_rtl(), *slash = strrchr(rtl, '/');
	char *path = cli_format("%.*s%s", slash ? (int)(slash - rtl) + 1 : 0, rtl, name);

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
