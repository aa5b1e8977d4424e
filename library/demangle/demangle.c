/* SPDX-License-Identifier: MIT */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Longest mangled name, bytes. libiberty's parser recurses: each byte takes up to 220 of the stack. */
#define MANGLED_MAX (16u << 10)

struct output {
	jmp_buf full;
	char *text;
	size_t used;
};

/* libiberty goes on for as long as there is something to say: only a jump stops it. It holds nothing meanwhile. */
static void append(const char *piece, size_t length, void *user)
{
	struct output *output = user;

	if (length > DEMANGLED_MAX - output->used)
		longjmp(output->full, 1);
	memcpy(output->text + output->used, piece, length);
	output->used += length;
}

/* Without libiberty's own limit, which refuses names of more than 1024 bytes. */
static bool print(struct output *output, const char *name)
{
	return !setjmp(output->full) &&
	       cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT,
					  append, output);
}

char *demangle(const char *name)
{
	struct output output = {.used = 0};
	char *text;

	if (strncmp(name, "_Z", 2) != 0 || strnlen(name, MANGLED_MAX + 1) > MANGLED_MAX)
		return NULL;
	output.text = malloc(DEMANGLED_MAX + 1);
	if (!output.text)
		return NULL;
	if (!print(&output, name)) {
		free(output.text);
		return NULL;
	}
	output.text[output.used] = '\0';
	text = realloc(output.text, output.used + 1);
	return text ? text : output.text;
}
