/* SPDX-License-Identifier: MIT */
/* The description of rtl.hsa.mem: payloads as in rtl/rocm.h. Constant. */
#include <rtl/rocm.h>

#include "../common/describe.h"
#include "memory.h"

_Static_assert(sizeof(struct rtl_hsa_mem) == 88, "rtl_hsa_mem");
_Static_assert(offsetof(struct rtl_hsa_mem, in_use_bytes) == 32, "rtl_hsa_mem");
_Static_assert(offsetof(struct rtl_hsa_mem, node) == 72, "rtl_hsa_mem");

#define M(member, kind, unit, text) FIELD(struct rtl_hsa_mem, member, kind, unit, text)
static const struct rtl_field fields[] = {
	M(begin_ns, RTL_KIND_TIME, "ns", "when the function was called; none in a begin"),
	M(end_ns, RTL_KIND_TIME, "ns", "when it returned; none in a begin"),
	M(address, RTL_KIND_ADDRESS, "", "of the memory, or handle of it; 0 before it is known"),
	M(bytes, RTL_KIND_UINT, "bytes", "as asked for; 0: not known"),
	M(in_use_bytes, RTL_KIND_UINT, "bytes",
	  "in use after it on that agent; without an agent, of that kind"),
	M(pool, RTL_KIND_ADDRESS, "", "pool or region; 0: none, or not known"),
	M(function, RTL_KIND_STRING, "", "that was called"),
	M(segment, RTL_KIND_STRING, "", "what memory the pool has"),
	M(status, RTL_KIND_STRING, "", "the hsa_status_t that it returned; none in a begin"),
	M(node, RTL_KIND_UINT, "", "KFD node id of the pool's agent"),
	M(kind, RTL_KIND_UINT, "",
	  "1: region, 2: pool, 3: virtual memory handle, 4: addresses, 5: locked, 6: attached"),
	M(flags, RTL_KIND_UINT, "", "1: memory of a GPU, 2: allocation not seen, 4: failed"),
};

static const struct rtl_type_info types[] = {
	TYPE(RTL_MEM_ALLOC_BEGIN, "mem_alloc_begin", struct rtl_hsa_mem, fields,
	     "memory is about to be allocated"),
	TYPE(RTL_MEM_ALLOC_END, "mem_alloc_end", struct rtl_hsa_mem, fields,
	     "memory was allocated, or could not be"),
	TYPE(RTL_MEM_RELEASE_BEGIN, "mem_release_begin", struct rtl_hsa_mem, fields,
	     "memory is about to be released"),
	TYPE(RTL_MEM_RELEASE_END, "mem_release_end", struct rtl_hsa_mem, fields,
	     "memory was released, or could not be"),
};

const struct rtl_stream_info memory_stream_info = {
	.struct_size = sizeof(struct rtl_stream_info),
	.version_major = RTL_STREAM_HSA_MEM_VERSION,
	.name = RTL_STREAM_HSA_MEM,
	.description = "Memory of the HSA runtime: pools, regions, virtual memory (mode full)",
	.types = types,
	.type_count = COUNT(types),
};
