/* SPDX-License-Identifier: MIT */
/* The demangler, with a name that is the input behind "_Z". */
#include <stdlib.h>
#include <string.h>

#include "../../subscribers/demangle/demangle.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 3), *text;

	if (!name)
		return 0;
	memcpy(name, "_Z", 2);
	if (size)
		memcpy(name + 2, data, size);
	name[size + 2] = '\0';
	text = demangle(name);
	if (text && strlen(text) > DEMANGLED_MAX)
		abort();
	free(text);
	free(name);
	return 0;
}
