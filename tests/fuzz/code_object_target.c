/* SPDX-License-Identifier: MIT */
/* A code object for a GPU, as a program loads it. */
#include <stdlib.h>
#include <string.h>

#include "../../streams/hsa/objects/code_object.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_object object;

	code_object_read(&object, data, size);
	if (!memchr(object.target, 0, sizeof(object.target)) || object.kernel_count > size)
		abort();
	for (uint32_t i = 1; i < object.kernel_count; i++) {
		if (object.kernels[i].symbol < object.kernels[i - 1].symbol)
			abort();
	}
	(void)code_object_find(&object, "_Z10module_addPjjj");
	code_object_fini(&object);
	return 0;
}
