/* SPDX-License-Identifier: MIT */
/* Names of kernels: see demangle.h. */
#include "demangle.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Never in the middle of a character (UTF-8). */
static void cut(char *text)
{
	size_t end = DEMANGLED_MAX - 3;

	if (strnlen(text, DEMANGLED_MAX + 1) <= DEMANGLED_MAX)
		return;
	while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, "...", 4);
}

/* HIP programs have the C++ runtime in the process: its demangler can be used, and need not be
 * linked to. */
char *demangle(const char *name)
{
	typedef char *demangle_fn(const char *mangled, char *buffer, size_t *length, int *status);
	demangle_fn *function;
	int status = 0;
	char *text;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	*(void **)&function = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	text = function ? function(name, NULL, NULL, &status) : NULL;
	if (text)
		cut(text);
	return text;
}
