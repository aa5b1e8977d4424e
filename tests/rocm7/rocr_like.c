/* SPDX-License-Identifier: MIT */
/*
 * What ROCr's model mode allocates at its start, for a length that it has not initialised. preset.c goes
 * by the name of the library, libhsa-runtime64.
 */
#include "rocr_like.h"

#include <stdlib.h>
#include <string.h>

bool rocr_like_allocate(size_t length)
{
	char *first = malloc(length);

	if (!first)
		return false;
	memset(first, 0, length);
	(void)!calloc(length, sizeof(void *)); /* it goes on without */
	first[length - 1] = first[0];
	return true;
}
