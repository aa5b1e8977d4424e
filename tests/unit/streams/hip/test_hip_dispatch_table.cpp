/* SPDX-License-Identifier: MIT */
/* streams/hip/table.def against the header of HIP 7's dispatch table: checked by the compiler. */
#include <cstddef>

#include <hip/hip_runtime_api.h>

/* What the header needs of others, which are not here or in other places. */
typedef struct hipDeviceProp_tR0000 hipDeviceProp_tR0000;
typedef unsigned GLuint, GLenum;
typedef int hipGLDeviceList;

#include <hip/amd_detail/hip_api_trace.hpp>

enum place {
#define HIP_TABLE(name) PLACE_##name,
#include "../../streams/hip/table.def"
#undef HIP_TABLE
	PLACES
};

#define HIP_TABLE(name)                                                                            \
	static_assert(offsetof(HipDispatchTable, name##_fn) ==                                     \
			      sizeof(size_t) + PLACE_##name * sizeof(void *),                      \
		      #name);
#include "../../streams/hip/table.def"
static_assert(sizeof(HipDispatchTable) == sizeof(size_t) + PLACES * sizeof(void *), "all of it");

int main()
{
	return 0;
}
